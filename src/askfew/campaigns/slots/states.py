"""A slot is one answer to be had. What may happen to it, written down once.

=========  ========================  =======================================================
from       event                     to
=========  ========================  =======================================================
OPEN       leased to a worker        LEASED
LEASED     answered                  ANSWERED
LEASED     lease ran out, released   OPEN (who was late may still answer until it is leased again)
LEASED     skipped, failed           OPEN; EMPTY after the third time
OPEN       answered late             ANSWERED
OPEN       skipped late              OPEN; EMPTY after the third time
OPEN       renewed late              LEASED
OPEN       nobody may take it        EMPTY, once the step has waited long enough
ANSWERED   taken back by its worker  LEASED to the same worker, as long as the step has not closed;
                                     then answered again: ANSWERED; skipped: EMPTY; lease ran out,
                                     released: ANSWERED as before (``undoing`` says why)
EMPTY      --                        (for good)
=========  ========================  =======================================================

A worker who is revoked releases what they hold.
An answer that its kind would refuse today (impossible.py) is none: its slot becomes EMPTY.
A step closes when none of its slots is OPEN or LEASED. Nothing here looks at answers' values: a
rule that did could choose when to stop, and void the certificate.
"""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import ColumnElement, Integer, literal_column, or_, select

from askfew.campaigns.db.schema import SlotState, slots

__all__ = [
    "FAILURES_TO_EMPTY",
    "LEASED",
    "OPEN",
    "TRANSITIONS",
    "UNSETTLED",
    "SlotEvent",
    "any_leased",
    "any_open",
]

FAILURES_TO_EMPTY = 3


# Conditions for queries, with the number in the text: a partial index serves no parameter.
OPEN = slots.c.state == literal_column(str(SlotState.OPEN.value))
LEASED = slots.c.state == literal_column(str(SlotState.LEASED.value))
UNSETTLED = slots.c.state <= literal_column(str(SlotState.LEASED.value))


# Not EXISTS: as long as most slots are open, PostgreSQL finds one fastest by looking at them in any
# order, and keeps that plan when those it looks at first have been answered. The first in the order
# of an index is looked up there, always.
def any_open(
    campaign: ColumnElement[int],
    but: tuple[ColumnElement[int], ColumnElement[int]] | None = None,
) -> ColumnElement[bool]:
    """Whether a campaign has open slots, ``but`` for one by its step and number; by another name,
    for statements about slots.
    """
    other = slots.alias("any_open")
    here = other.c.state == literal_column(str(SlotState.OPEN.value))
    first = select(other.c.number).where(other.c.campaign == campaign, here)
    if but is not None:
        first = first.where(or_(other.c.step != but[0], other.c.number != but[1]))
    in_order = first.order_by(other.c.campaign, other.c.step, other.c.number)
    return in_order.limit(literal_column("1", Integer)).scalar_subquery().is_not(None)


def any_leased(
    campaign: ColumnElement[int], *conditions: ColumnElement[bool]
) -> ColumnElement[bool]:
    """Whether a campaign has leased slots, under conditions; for other statements."""
    first = select(slots.c.number).where(slots.c.campaign == campaign, LEASED, *conditions)
    in_order = first.order_by(slots.c.campaign, slots.c.expires)
    return in_order.limit(literal_column("1", Integer)).scalar_subquery().is_not(None)


class SlotEvent(StrEnum):
    """What can happen to a slot."""

    LEASED = "leased"
    ANSWERED = "answered"
    RETURNED = "returned"
    REFUSED = "refused"
    GIVEN_UP = "given up"
    RETRACTED = "retracted"


TRANSITIONS: dict[tuple[SlotState, SlotEvent], tuple[SlotState, ...]] = {
    (SlotState.OPEN, SlotEvent.LEASED): (SlotState.LEASED,),
    (SlotState.LEASED, SlotEvent.ANSWERED): (SlotState.ANSWERED,),
    (SlotState.LEASED, SlotEvent.RETURNED): (SlotState.OPEN, SlotState.ANSWERED),
    (SlotState.LEASED, SlotEvent.REFUSED): (SlotState.OPEN, SlotState.EMPTY),
    (SlotState.OPEN, SlotEvent.ANSWERED): (SlotState.ANSWERED,),
    (SlotState.OPEN, SlotEvent.REFUSED): (SlotState.OPEN, SlotState.EMPTY),
    (SlotState.OPEN, SlotEvent.RETURNED): (SlotState.OPEN,),
    (SlotState.OPEN, SlotEvent.GIVEN_UP): (SlotState.EMPTY,),
    (SlotState.ANSWERED, SlotEvent.RETRACTED): (SlotState.LEASED,),
}
