"""Calls to language models in the last minute, by all who work on campaigns of a store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import delete, insert, select, text

from askfew.campaigns.db.database import Database
from askfew.campaigns.db.schema import calls

__all__ = ["Call", "CallLimits", "add_call", "admit_call", "shared_calls"]

_MINUTE = 60.0


@dataclass
class Call:
    """One admitted call, and how many tokens are counted for it."""

    time: float
    tokens: int
    id: str = ""


@dataclass(frozen=True)
class CallLimits:
    """The most requests and tokens in any sixty seconds, as endpoints count them."""

    requests: int | None = None
    tokens: int | None = None


def add_call(known: list[Call], new: Call, most: CallLimits) -> float:
    """Add the call if the last minute has room for it, and return 0; else the seconds to wait.

    A call that was added before is corrected to the tokens that are said now.
    """
    # A clock that was set back must not keep anybody waiting for more than a minute.
    known[:] = [each for each in known if abs(new.time - each.time) < _MINUTE]
    for each in known:
        if each.id == new.id:
            each.tokens = new.tokens
            return 0.0
    full = most.requests is not None and len(known) >= most.requests
    if most.tokens is not None:
        full |= sum(each.tokens for each in known) + new.tokens > most.tokens
    if not full or not known:
        known.append(new)
        return 0.0
    # Not much longer than a moment: a correction may make room before.
    oldest = min(each.time for each in known)
    return min(max(oldest + _MINUTE - new.time, 0.0), 0.25) + 1e-3


def admit_call(database: Database, new: Call, most: CallLimits) -> float:
    """The same among the calls that the store knows of."""
    with shared_calls(database) as known:
        return add_call(known, new, most)


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
