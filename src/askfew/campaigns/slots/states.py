"""A slot is one answer to be had. What may happen to it, written down once: the statements that
change slots (``db/queries``) take their states from here.

==========  =====================================================================================
event       when
==========  =====================================================================================
LENT        a worker gets it
RENEWED     its worker asks for more time, also late, as long as nobody else has it
ANSWERED    its worker answers, also late, as long as nobody else has it
RETURNED    its lease ran out, it was handed back, or its worker was revoked
REFUSED     its worker skips it, or fails
EMPTIED     the same for the third time, or after an undo: nobody else is asked
GIVEN_UP    nobody may take it, and the step has waited long enough
RETRACTED   its worker takes the answer back, as long as its step is open: it is lent to them again
STANDS      it comes back with nothing after that: the answer stands (see ``redo``)
VOIDED      an older askfew took an answer that its kind would refuse today: it is none
==========  =====================================================================================

A step closes when none of its slots is OPEN or LEASED. Nothing here looks at answers' values: a
rule that did could choose when to stop, and void the certificate.
"""

from __future__ import annotations

from enum import Enum, IntEnum, auto

__all__ = ["FAILURES_TO_EMPTY", "TRANSITIONS", "SlotEvent", "SlotState"]

FAILURES_TO_EMPTY = 3


class SlotState(IntEnum):
    """Where a slot stands."""

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
"""The states in which an event may happen, and the one it leads to. EMPTY is for good."""
