"""The durable room: a campaign is one grouping problem in a database, answered over days."""

from importlib.util import find_spec

from askfew.errors import MissingExtra

# Said here, once, for every door to a campaign: commands, pages and workers all come through it.
_MISSING = [name for name in ("sqlalchemy", "alembic", "jinja2") if find_spec(name) is None]
if _MISSING:
    raise MissingExtra(
        f"campaigns need {', '.join(_MISSING)}", "none", "pip install 'askfew[campaigns]'"
    )
