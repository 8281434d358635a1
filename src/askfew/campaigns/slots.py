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
ANSWERED   taken back by its worker  OPEN, as long as the step has not closed
EMPTY      --                        (for good)
=========  ========================  =======================================================

A worker who is revoked releases what they hold and takes back what has not been used.
A step closes when none of its slots is OPEN or LEASED. Nothing here looks at answers' values: a
rule that did could choose when to stop, and void the certificate.
"""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import ColumnElement, FromClause, literal_column

from askfew.campaigns.schema import SlotState, slots

__all__ = [
    "FAILURES_TO_EMPTY",
    "LEASED",
    "OPEN",
    "TRANSITIONS",
    "UNSETTLED",
    "SlotEvent",
    "open_in",
]

FAILURES_TO_EMPTY = 3


def open_in(table: FromClause) -> ColumnElement[bool]:
    """The condition OPEN for another name of the slots table."""
    return table.c.state == literal_column(str(SlotState.OPEN.value))


# Conditions for queries, with the number in the text: a partial index serves no parameter.
OPEN = open_in(slots)
LEASED = slots.c.state == literal_column(str(SlotState.LEASED.value))
UNSETTLED = slots.c.state <= literal_column(str(SlotState.LEASED.value))


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
    (SlotState.LEASED, SlotEvent.RETURNED): (SlotState.OPEN,),
    (SlotState.LEASED, SlotEvent.REFUSED): (SlotState.OPEN, SlotState.EMPTY),
    (SlotState.OPEN, SlotEvent.ANSWERED): (SlotState.ANSWERED,),
    (SlotState.OPEN, SlotEvent.REFUSED): (SlotState.OPEN, SlotState.EMPTY),
    (SlotState.OPEN, SlotEvent.RETURNED): (SlotState.OPEN,),
    (SlotState.OPEN, SlotEvent.GIVEN_UP): (SlotState.EMPTY,),
    (SlotState.ANSWERED, SlotEvent.RETRACTED): (SlotState.OPEN,),
}
