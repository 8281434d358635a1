"""A reading transaction in which nothing moves, whatever others write meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, text

from askfew.campaigns.tables.database import Database

__all__ = ["snapshot"]


@contextmanager
def snapshot(database: Database) -> Iterator[Connection]:
    """All that is read here stood in the store at one moment.

    SQLite's transactions are like this by themselves; PostgreSQL's see every new commit unless
    told otherwise.
    """
    with database.read() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"))
        yield connection
