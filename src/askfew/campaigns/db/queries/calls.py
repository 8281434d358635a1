"""Calls to language models in the last minute, by all processes of a store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import delete, insert, select, text

from askfew.campaigns.db.database import Database
from askfew.campaigns.db.schema import calls

__all__ = ["Call", "shared_calls"]


@dataclass
class Call:
    """One admitted call, and how many tokens are counted for it."""

    time: float
    tokens: int
    id: str = ""


@contextmanager
def shared_calls(database: Database) -> Iterator[list[Call]]:
    """The calls that the store knows of, as a list to change; it is stored at the end.

    No other process gets the list in between: two that both see room for one more call would
    exceed the limit.
    """
    with database.write() as connection:
        if connection.dialect.name == "postgresql":
            # On SQLite writers wait for each other anyway.
            connection.execute(text("LOCK TABLE calls IN EXCLUSIVE MODE"))
        query = select(calls.c.time, calls.c.tokens, calls.c.id).order_by(calls.c.time)
        known = [Call(*row) for row in connection.execute(query)]
        before = [vars(each).copy() for each in known]
        yield known
        after = [vars(each) for each in known]
        gone = [each["id"] for each in before if each not in after]
        new = [each for each in after if each not in before]
        if gone:
            connection.execute(delete(calls).where(calls.c.id.in_(gone)))
        if new:
            connection.execute(insert(calls), new)
