"""A slot is one answer to be had. What may happen to it, written down once.

=========  =======================  ========================================================
from       event                    to
=========  =======================  ========================================================
OPEN       leased to a worker       LEASED
LEASED     answered                 ANSWERED
LEASED     lease ran out, released  OPEN (the late holder may still answer until it is leased again)
LEASED     skipped, failed          OPEN; EMPTY after the third time
OPEN       answered late            ANSWERED
OPEN       nobody may take it       EMPTY, once the step has waited long enough
ANSWERED   taken back by its worker OPEN, as long as the step has not closed
EMPTY      --                       (for good)
=========  =======================  ========================================================

A step closes when none of its slots is OPEN or LEASED. Nothing here looks at answers' values: a
rule that did could choose when to stop, and void the certificate.
"""

from __future__ import annotations

from enum import StrEnum

from askfew.campaigns.schema import SlotState, slots

__all__ = ["FAILURES_TO_EMPTY", "TRANSITIONS", "UNSETTLED", "SlotEvent"]

FAILURES_TO_EMPTY = 3
UNSETTLED = slots.c.state <= SlotState.LEASED
"""The condition, for queries: OPEN or LEASED."""


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
    (SlotState.OPEN, SlotEvent.GIVEN_UP): (SlotState.EMPTY,),
    (SlotState.ANSWERED, SlotEvent.RETRACTED): (SlotState.OPEN,),
}
