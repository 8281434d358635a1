"""The states of a slot and the events that change them.

This is the only table of them: the statements that change slots (``db/queries``) read it.

==========  =====================================================================================
event       when
==========  =====================================================================================
LENT        a worker gets it
RENEWED     its worker asks for more time, even late, as long as nobody else has it
ANSWERED    its worker answers, even late, as long as nobody else has it
RETURNED    its lease ran out, it was handed back, or its worker was revoked
REFUSED     its worker skips it, or fails
EMPTIED     it is refused for the third time, or after an undo: nobody else is asked
GIVEN_UP    nobody may take it, and the step has waited long enough
RETRACTED   its worker takes the answer back while the step is open: it is lent to them again
STANDS      no new answer comes after that: the old one stands (see ``leases.redo``)
VOIDED      its answer, taken by an older askfew, is impossible for its kind: it does not count
==========  =====================================================================================

A step closes when none of its slots is OPEN or LEASED. Nothing here looks at answers' values: a
rule that did could choose when to stop, and void the certificate.
"""

from __future__ import annotations

from enum import Enum, IntEnum, auto

__all__ = ["FAILURES_TO_EMPTY", "TRANSITIONS", "SlotEvent", "SlotState"]

FAILURES_TO_EMPTY = 3
"""Refusals after which a slot closes empty, so that a step cannot wait for ever for an answer that
nobody can give. A plain choice; the count never depends on what was answered."""


class SlotState(IntEnum):
    """The state of a slot. The numbers are in the store and in partial indexes (``db/schema``)."""

    OPEN = 0
    LEASED = 1
    ANSWERED = 2
    EMPTY = 3


class SlotEvent(Enum):
    """What can happen to a slot."""

    LENT = auto()
    RENEWED = auto()
    ANSWERED = auto()
    RETURNED = auto()
    REFUSED = auto()
    EMPTIED = auto()
    GIVEN_UP = auto()
    RETRACTED = auto()
    STANDS = auto()
    VOIDED = auto()


_OPEN, _LEASED, _ANSWERED, _EMPTY = SlotState

TRANSITIONS: dict[SlotEvent, tuple[tuple[SlotState, ...], SlotState]] = {
    SlotEvent.LENT: ((_OPEN,), _LEASED),
    SlotEvent.RENEWED: ((_OPEN, _LEASED), _LEASED),
    SlotEvent.ANSWERED: ((_OPEN, _LEASED), _ANSWERED),
    SlotEvent.RETURNED: ((_OPEN, _LEASED), _OPEN),
    SlotEvent.REFUSED: ((_OPEN, _LEASED), _OPEN),
    SlotEvent.EMPTIED: ((_OPEN, _LEASED), _EMPTY),
    SlotEvent.GIVEN_UP: ((_OPEN,), _EMPTY),
    SlotEvent.RETRACTED: ((_ANSWERED,), _LEASED),
    SlotEvent.STANDS: ((_LEASED,), _ANSWERED),
    SlotEvent.VOIDED: ((_ANSWERED,), _EMPTY),
}
"""For each event: the states in which it may happen, and the state it leads to.

OPEN is among the first of RENEWED, ANSWERED and the like because a lease that ran out leaves its
slot open with the late holder's lease id. EMPTY is final.
"""
