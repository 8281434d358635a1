"""Answers that come without having been handed out one by one: reused, or from a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, insert, update

from askfew.campaigns.db.schema import SlotState, answers, slots

__all__ = ["settle"]

_SETTLE = (
    update(slots)
    .where(
        slots.c.campaign == bindparam("at_campaign"),
        slots.c.step == bindparam("at_step"),
        slots.c.number == bindparam("at_slot"),
    )
    .values(
        state=SlotState.ANSWERED,
        worker=bindparam("by_worker"),
        lease=bindparam("by_lease"),
        value=bindparam("answer"),
        expires=None,
    )
)


def settle(connection: Connection, told: Sequence[dict[str, Any]]) -> None:
    """Keep rows of the answers table, each with its slot answered by it.

    The caller has seen that the slots wait, and holds them.
    """
    if not told:
        return
    settled = [
        {
            "at_campaign": each["campaign"],
            "at_step": each["step"],
            "at_slot": each["slot"],
            "by_worker": each["worker"],
            "by_lease": each["id"],
            "answer": each["value"],
        }
        for each in told
    ]
    connection.execute(_SETTLE, settled)
    connection.execute(insert(answers), list(told))
