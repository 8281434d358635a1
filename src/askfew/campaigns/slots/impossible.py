"""Answers that the door would refuse today, but that a store of an older askfew may hold.

A number such as 1e200 was once accepted and cannot be squared: the step that holds it could never
be used. It is treated as the door would have treated it: it is no answer, and its slot is empty. It
is kept, marked retracted.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, not_, select, update

from askfew.answers import LARGEST, AnswerKind
from askfew.campaigns.db.schema import SlotState, answers, slots

__all__ = ["empty_impossible", "impossible_slots", "possible"]


def possible(value: ColumnElement[float], kind: AnswerKind) -> ColumnElement[bool]:
    """The condition, for queries: an answer is within the bounds of its kind."""
    return value.between(max(kind.low, -LARGEST), min(kind.high, LARGEST))


def impossible_slots(
    connection: Connection, campaign: int, step: int, kind: AnswerKind
) -> list[int]:
    """The numbers of a step's slots that hold such an answer."""
    found = select(slots.c.number).where(
        slots.c.campaign == campaign,
        slots.c.step == step,
        slots.c.state == SlotState.ANSWERED,
        not_(possible(slots.c.value, kind)),
    )
    return list(connection.execute(found).scalars())


def empty_impossible(connection: Connection, campaign: int, step: int, kind: AnswerKind) -> int:
    """Take them out of a step that is locked; how many there were."""
    which = impossible_slots(connection, campaign, step, kind)
    if which:
        connection.execute(
            update(answers)
            .where(answers.c.campaign == campaign, answers.c.step == step)
            .where(answers.c.slot.in_(which))
            .values(retracted=True)
        )
        connection.execute(
            update(slots)
            .where(slots.c.campaign == campaign, slots.c.step == step, slots.c.number.in_(which))
            .values(state=SlotState.EMPTY, value=None, worker=None, lease=None, expires=None)
        )
    return len(which)
