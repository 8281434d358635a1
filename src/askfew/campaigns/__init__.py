"""Campaigns: durable runs in a database, answered by many workers over days."""

from importlib.util import find_spec

from askfew.errors import MissingExtra

# Checked here, once: commands, pages and workers all import this package.
_MISSING = [name for name in ("sqlalchemy", "alembic", "jinja2") if find_spec(name) is None]
if _MISSING:
    raise MissingExtra(
        f"campaigns need {', '.join(_MISSING)}", "none", "pip install 'askfew[campaigns]'"
    )
