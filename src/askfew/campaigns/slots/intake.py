"""What workers do with a lease: answer, skip, release, renew, take back; each in a transaction."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from askfew.campaigns.db.database import RawTransaction
from askfew.campaigns.db.queries import leases
from askfew.campaigns.db.queries.leases import Given
from askfew.campaigns.slots.lease import LeaseId, Paces

__all__ = [
    "UNKNOWN",
    "Receipt",
    "Received",
    "refuse",
    "release",
    "renew",
    "retract",
    "storable",
    "take",
]


class Received(StrEnum):
    """What became of something a worker sent. None of these is an error: a worker goes on."""

    ACCEPTED = "accepted"
    ALREADY = "already"
    LATE = "late"
    UNKNOWN = "unknown"
    INVALID = "invalid"
    CLOSED = "closed"


@dataclass(frozen=True)
class Receipt:
    """The status, and a sentence for the worker."""

    status: Received
    message: str
    lease: str | None = None
    """After an undo: the id of the new lease, by which the same worker answers again."""
    seconds: float | None = None
    """How long the lease lasts, after a renewal or an undo."""

    @property
    def ok(self) -> bool:
        """Whether the answer counts (a second telling of the same answer is fine)."""
        return self.status in (Received.ACCEPTED, Received.ALREADY)


@dataclass(frozen=True)
class Taken:
    """What became of an answer."""

    receipt: Receipt
    worker: str | None = None
    """Who gave it, if it was taken."""
    last: bool = False
    """Whether no other slot is open, so that the step may be about to close."""


_THANKS = Receipt(Received.ACCEPTED, "thank you")
UNKNOWN = Receipt(Received.UNKNOWN, "no such question was asked")


def storable(text: str) -> str:
    """The text cut to 1,000 characters, without what a store cannot hold."""
    # PostgreSQL refuses NUL characters in a text, and neither store can encode lone surrogates.
    return text.replace("\0", " ").encode(errors="replace").decode()[:1000]


def take(raw: RawTransaction, lease: LeaseId, given: Given) -> Taken:
    """Count the answer if its slot still waits for it; telling twice counts once."""
    taken = leases.take(raw, lease, given)
    if taken is None:
        return Taken(_why_not(raw, lease))
    worker, others_open = taken
    return Taken(_THANKS, worker, not others_open)


def refuse(raw: RawTransaction, lease: LeaseId, reason: str, now: float) -> Receipt:
    """Record a skip or a failure: the slot opens to others.

    It closes empty after the third refusal, and after an undo at once.
    """
    holding = leases.holding(raw, lease)
    if holding is None:
        return _why_not(raw, lease)
    leases.refuse(raw, lease, holding.worker, reason, now)
    return Receipt(Received.ACCEPTED, "skipped")


def release(raw: RawTransaction, lease: LeaseId) -> Receipt:
    """Hand a question back unanswered, which is no failure. After an undo the old answer stands."""
    holding = leases.holding(raw, lease)
    if holding is None:
        return _why_not(raw, lease)
    if holding.redoing:
        leases.let_stand(raw, lease.campaign, lease.step, lease.slot)
    else:
        leases.release(raw, lease)
    return Receipt(Received.ACCEPTED, "released")


def renew(raw: RawTransaction, lease: LeaseId, now: float, paces: Paces) -> Receipt:
    """Extend a lease, long enough for all that the worker holds.

    A lease that ran out is extended too, if nobody else has taken the slot.
    """
    holding = leases.holding(raw, lease)
    if holding is None:
        return _why_not(raw, lease)
    held = max(leases.in_hand(raw, lease.campaign, holding.worker), 1)
    seconds = paces.lease(holding.worker, held)
    leases.extend(raw, lease, now + seconds)
    return Receipt(Received.ACCEPTED, "renewed", seconds=seconds)


def retract(raw: RawTransaction, lease: LeaseId, worker: str, until: float) -> Receipt:
    """Take an answer back while its step is open.

    The same worker answers again, or skips, by the receipt's lease (see ``leases.redo``).
    """
    # Closing the step locks the same row. So an answer is either taken back before the step is
    # frozen, or the undo sees that the step is closed; it never changes a frozen Tally.
    closed = leases.lock_step(raw, lease)
    told = leases.answerer(raw, lease)
    if told is None or told[0] != worker:
        return Receipt(Received.UNKNOWN, "no such answer of yours")
    if told[1]:
        # The reply to the first undo may have been lost: it is given again.
        again = leases.redone_by(raw, lease, worker)
        return Receipt(Received.ALREADY, "taken back before", again)
    if closed:
        return Receipt(Received.LATE, "this answer has been used and can no longer be taken back")
    if leases.slot_campaign_state(raw, lease) == "closed":
        return Receipt(Received.CLOSED, "the campaign is closed")
    return Receipt(Received.ACCEPTED, "taken back", str(leases.redo(raw, lease, until)))


def _why_not(raw: RawTransaction, lease: LeaseId) -> Receipt:
    """The receipt for something that came for a lease that its worker no longer holds."""
    told = leases.answerer(raw, lease)
    if told is not None and not told[1]:
        return Receipt(Received.ALREADY, "the first answer to this question counts")
    state = leases.slot_campaign_state(raw, lease)
    if state is None:
        return UNKNOWN
    if state == "closed":
        return Receipt(Received.CLOSED, "thank you, but the campaign is closed")
    return Receipt(Received.LATE, "thank you, but this question is settled, or someone else's now")
