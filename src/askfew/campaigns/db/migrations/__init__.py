"""Creating and upgrading a store's tables, version by version (Alembic)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, text

from askfew.errors import InvalidInput

__all__ = ["latest_version", "upgrade", "version_of"]


@cache
def latest_version() -> str:
    """The version of the tables that this askfew works with."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    assert head is not None
    return head


def version_of(connection: Connection) -> str | None:
    """The version of this store's tables; None if it has none of askfew's."""
    return MigrationContext.configure(connection).get_current_revision()


def upgrade(connection: Connection) -> None:
    """Bring the store to the latest version, within the caller's transaction."""
    if connection.dialect.name == "postgresql":
        # Several processes may find an empty database at once; with this lock one makes the
        # tables, and the others find them. On SQLite the writers' lock does the same.
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('askfew upgrade'))"))
    config = _config()
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise InvalidInput(
            f"the store's tables must be of a version up to {latest_version()}",
            version_of(connection),
            "use the askfew that wrote it, or a newer one",
        ) from error


def _config() -> Config:
    config = Config()
    # Alembic reads options with configparser, for which % is special.
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    return config
