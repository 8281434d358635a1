"""Creating and upgrading a store's tables, version by version (Alembic).

Alembic takes long to import, so only ``upgrade`` does: most stores have their tables.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from askfew.errors import InvalidInput

__all__ = ["latest_version", "upgrade", "version_of"]


_FOLDER = Path(__file__).parent


@cache
def latest_version() -> str:
    """The version of the tables that this askfew works with."""
    return max(file.name for file in (_FOLDER / "versions").glob("[0-9]*.py")).partition("_")[0]


def version_of(connection: Connection) -> str | None:
    """The version of this store's tables; None if it has none of askfew's."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def upgrade(connection: Connection) -> None:
    """Bring the store to the latest version, within the caller's transaction."""
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    if connection.dialect.name == "postgresql":
        # Several processes may find an empty database at once; with this lock one makes the
        # tables, and the others find them. On SQLite the writers' lock does the same.
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('askfew upgrade'))"))
    config = Config()
    # Alembic reads options with configparser, for which % is special.
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise InvalidInput(
            f"the store's tables must be of a version up to {latest_version()}",
            version_of(connection),
            "use the askfew that wrote it, or a newer one",
        ) from error
