"""Taking answers in: told, skipped, released, renewed, taken back. Each is one transaction."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import Connection, Row, bindparam, case, insert, select, update

from askfew.campaigns.schema import SlotState, answers, refusals, slots, steps
from askfew.campaigns.slots import FAILURES_TO_EMPTY, UNSETTLED

__all__ = [
    "Receipt",
    "Received",
    "few_unsettled",
    "nothing_unsettled",
    "refuse",
    "release",
    "renew",
    "retract",
    "take",
]

FEW = 200
"""With more slots unsettled than there can be answers on their way, no step is about to close."""


class Received(StrEnum):
    """What became of something a worker sent. None of them is an error that kills a worker."""

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

    @property
    def ok(self) -> bool:
        """Whether the answer counts (a second telling of the same answer is fine)."""
        return self.status in (Received.ACCEPTED, Received.ALREADY)


_LEASE = bindparam("this_lease", type_=slots.c.lease.type)
_TAKE = (
    update(slots)
    .where(slots.c.lease == _LEASE, UNSETTLED)
    .values(state=SlotState.ANSWERED, value=bindparam("answer"), expires=None)
    .returning(
        slots.c.campaign,
        slots.c.step,
        slots.c.number.label("slot"),
        slots.c.worker,
        slots.c.item,
        slots.c.question,
    )
)
_KEEP = insert(answers)
_WAITING = (
    select(slots.c.number)
    .where(slots.c.campaign == bindparam("this_campaign"), UNSETTLED)
    .limit(bindparam("most"))
)


def take(
    connection: Connection,
    lease: str,
    value: float,
    raw: str,
    now: float,
    seconds: float | None,
    cost: float | None,
) -> Receipt:
    """Count the answer if its slot still waits for it; telling twice counts once."""
    told = {"this_lease": lease, "answer": value}
    taken = connection.execute(_TAKE, told).mappings().one_or_none()
    if taken is None:
        return _why_not(connection, lease)
    particulars = {"id": lease, "value": value, "raw": raw, "time": now, "retracted": False}
    connection.execute(_KEEP, {**taken, **particulars, "seconds": seconds, "cost": cost})
    return Receipt(Received.ACCEPTED, "thank you")


def refuse(connection: Connection, lease: str, reason: str, now: float) -> Receipt:
    """A skip or a failure: the slot goes to someone else, and closes empty after the third."""
    last = slots.c.failures + 1 >= FAILURES_TO_EMPTY
    holder = _held(connection, lease)
    if holder is None:
        return _why_not(connection, lease)
    connection.execute(
        update(slots)
        .where(slots.c.lease == lease)
        .values(
            failures=slots.c.failures + 1,
            state=case((last, SlotState.EMPTY.value), else_=SlotState.OPEN.value),
            worker=None,
            lease=None,
            expires=None,
        )
    )
    connection.execute(insert(refusals).values(**holder._mapping, reason=reason, time=now))
    return Receipt(Received.ACCEPTED, "skipped")


def release(connection: Connection, lease: str) -> Receipt:
    """Hand a question back unanswered; that is no failure."""
    if _held(connection, lease) is None:
        return _why_not(connection, lease)
    back = {"state": SlotState.OPEN, "worker": None, "lease": None, "expires": None}
    connection.execute(update(slots).where(slots.c.lease == lease).values(back))
    return Receipt(Received.ACCEPTED, "released")


def renew(connection: Connection, lease: str, expires: float) -> Receipt:
    """More time; also for a lease that ran out, if nobody else has taken the slot."""
    renewed = connection.execute(
        update(slots)
        .where(slots.c.lease == lease, UNSETTLED)
        .values(state=SlotState.LEASED, expires=expires)
    )
    if renewed.rowcount == 0:
        return _why_not(connection, lease)
    return Receipt(Received.ACCEPTED, "renewed")


def retract(connection: Connection, lease: str, worker: str) -> Receipt:
    """Take an answer back, as long as its step is open; it is kept, marked retracted."""
    told = connection.execute(select(answers).where(answers.c.id == lease)).one_or_none()
    if told is None or told.worker != worker:
        return Receipt(Received.UNKNOWN, "no such answer of yours")
    if told.retracted:
        return Receipt(Received.ALREADY, "taken back before")
    closed = connection.execute(
        select(steps.c.closed)
        .where(steps.c.campaign == told.campaign, steps.c.number == told.step)
        .with_for_update()
    ).scalar()
    if closed is not None:
        return Receipt(Received.LATE, "this answer has been used and can no longer be taken back")
    back = {"state": SlotState.OPEN, "value": None, "worker": None, "lease": None}
    connection.execute(update(slots).where(slots.c.lease == lease).values(back))
    connection.execute(update(answers).where(answers.c.id == lease).values(retracted=True))
    return Receipt(Received.ACCEPTED, "taken back")


def few_unsettled(connection: Connection, campaign: int) -> bool:
    """Whether so few slots wait that the newest step may be about to close."""
    return _unsettled(connection, campaign, FEW) < FEW


def nothing_unsettled(connection: Connection, campaign: int) -> bool:
    """Whether no slot waits any more."""
    return _unsettled(connection, campaign, 1) == 0


def _unsettled(connection: Connection, campaign: int, most: int) -> int:
    return len(connection.execute(_WAITING, {"this_campaign": campaign, "most": most}).all())


def _held(connection: Connection, lease: str) -> Row[int, int, int, str] | None:
    return connection.execute(
        select(slots.c.campaign, slots.c.step, slots.c.number.label("slot"), slots.c.worker)
        .where(slots.c.lease == lease, slots.c.state == SlotState.LEASED)
        .with_for_update()
    ).one_or_none()


def _why_not(connection: Connection, lease: str) -> Receipt:
    told = connection.execute(
        select(answers.c.retracted).where(answers.c.id == lease)
    ).one_or_none()
    if told is not None and not told.retracted:
        return Receipt(Received.ALREADY, "this answer has been counted before")
    place = lease.split("-")
    if len(place) == 4 and all(part.isdecimal() for part in place[:3]):
        campaign, step, number = (int(part) for part in place[:3])
        slot = connection.execute(
            select(slots.c.state).where(
                slots.c.campaign == campaign, slots.c.step == step, slots.c.number == number
            )
        ).one_or_none()
        if slot is not None:
            return Receipt(Received.LATE, "thank you, but someone else has answered or holds this")
    return Receipt(Received.UNKNOWN, "no such question was asked")
