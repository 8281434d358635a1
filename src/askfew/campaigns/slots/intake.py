"""Taking answers in: told, skipped, released, renewed, taken back. Each is one transaction."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, and_, bindparam, case, exists, insert, or_, select, update

from askfew.campaigns.db.raw import RawTransaction
from askfew.campaigns.db.schema import SlotState, answers, campaigns, refusals, slots, steps
from askfew.campaigns.slots.states import FAILURES_TO_EMPTY, UNSETTLED, any_leased, any_open
from askfew.campaigns.slots.undoing import BEING_REDONE, let_stand, redo

__all__ = [
    "UNKNOWN",
    "Receipt",
    "Received",
    "is_lease",
    "nothing_unsettled",
    "read_lease",
    "refuse",
    "release",
    "renew",
    "retract",
    "storable",
    "take",
]


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
    lease: str | None = None
    """After an undo: the id by which the same worker answers the same question again."""

    @property
    def ok(self) -> bool:
        """Whether the answer counts (a second telling of the same answer is fine)."""
        return self.status in (Received.ACCEPTED, Received.ALREADY)


_THANKS = Receipt(Received.ACCEPTED, "thank you")
UNKNOWN = Receipt(Received.UNKNOWN, "no such question was asked")
_LEASE_ID = re.compile(r"(\d{1,9})-(\d{1,9})-(\d{1,9})-\w{1,32}", re.ASCII)
_CAMPAIGN = bindparam("this_campaign", type_=slots.c.campaign.type)
_STEP = bindparam("at_step", type_=slots.c.step.type)
_NUMBER = bindparam("at_number", type_=slots.c.number.type)
_LEASE = bindparam("this_lease", type_=slots.c.lease.type)
_SLOT = and_(slots.c.campaign == _CAMPAIGN, slots.c.step == _STEP, slots.c.number == _NUMBER)
_HELD = and_(_SLOT, slots.c.lease == _LEASE, UNSETTLED)
"""This lease's slot still waits: it is leased, or its lease ran out and nobody else has it."""
_ANSWER = and_(
    answers.c.campaign == _CAMPAIGN,
    answers.c.step == _STEP,
    answers.c.slot == _NUMBER,
    answers.c.id == _LEASE,
)
_ALIVE = exists().where(campaigns.c.id == _CAMPAIGN, campaigns.c.state != "closed")
_VACANT: dict[str, Any] = {"worker": None, "lease": None, "expires": None}

_TAKE = (
    update(slots)
    .where(_HELD, _ALIVE)
    .values(state=SlotState.ANSWERED.value, value=bindparam("answer"), expires=None)
    .returning(
        slots.c.worker,
        slots.c.item,
        slots.c.question,
        # But for itself: PostgreSQL looks at how things stood before, and an answer may come late.
        any_open(_CAMPAIGN, but=(_STEP, _NUMBER)).label("others_open"),
    )
)
_KEEP = insert(answers)
_TAKEN = _TAKE.cte("taken")
_KEPT = {
    **{name: _TAKEN.c[name] for name in ("worker", "item", "question")},
    **{
        name: bindparam(f"keep_{name}", type_=answers.c[name].type)
        for name in (column.name for column in answers.columns)
        if name not in ("worker", "item", "question")
    },
}
_TAKE_AND_KEEP = select(_TAKEN.c.others_open).add_cte(
    insert(answers)
    .from_select(list(_KEPT), select(*_KEPT.values()))
    .returning(answers.c.id)
    .cte("kept")
)
_HOLDER = select(slots.c.worker, slots.c.value).where(_HELD, _ALIVE).with_for_update(of=slots)
_REFUSE = (
    update(slots)
    .where(_SLOT)
    .values(
        failures=slots.c.failures + 1,
        state=case(
            (slots.c.failures + 1 >= FAILURES_TO_EMPTY, SlotState.EMPTY.value),
            (slots.c.value.is_not(None), SlotState.EMPTY.value),  # after an undo, nobody else
            else_=SlotState.OPEN.value,
        ),
        value=None,
        **_VACANT,
    )
)
_KEEP_REFUSAL = insert(refusals)
_RELEASE = update(slots).where(_SLOT).values(state=SlotState.OPEN.value, **_VACANT)
_RENEW = update(slots).where(_SLOT).values(state=SlotState.LEASED.value, expires=bindparam("until"))
_TOLD = select(answers.c.worker, answers.c.retracted).where(_ANSWER)
_REACHED = select(slots.c.state, campaigns.c.state).where(_SLOT, campaigns.c.id == _CAMPAIGN)
_WAITING = select(or_(any_open(_CAMPAIGN), any_leased(_CAMPAIGN)))

_LOCK_STEP = (
    select(steps.c.closed)
    .where(steps.c.campaign == _CAMPAIGN, steps.c.number == _STEP)
    .with_for_update()
)
_REDONE_BY = select(slots.c.lease).where(
    _SLOT, BEING_REDONE, slots.c.worker == bindparam("this_worker", type_=slots.c.worker.type)
)


def read_lease(campaign: int, lease: str) -> dict[str, Any] | None:
    """The parameters that find a lease's slot; None for what is no lease of this campaign."""
    match = _LEASE_ID.fullmatch(lease) if isinstance(lease, str) else None
    if match is None or int(match[1]) != campaign:
        return None
    place = {"this_campaign": campaign, "at_step": int(match[2]), "at_number": int(match[3])}
    return {**place, "this_lease": lease}


def is_lease(lease: str, campaign: int, step: int, number: int) -> bool:
    """Whether it is a lease of this slot."""
    begins = lease.startswith(f"{campaign}-{step}-{number}-")
    return begins and _LEASE_ID.fullmatch(lease) is not None


def storable(text: str) -> str:
    """What every store can hold of a text that somebody sent along."""
    return text.replace("\0", " ").encode(errors="replace").decode()[:1000]


def take(
    raw: RawTransaction,
    slot: dict[str, Any],
    value: float,
    words: str,
    now: float,
    seconds: float | None,
    cost: float | None,
) -> tuple[Receipt, bool]:
    """Count the answer if its slot still waits for it; telling twice counts once.

    Also says whether no other slot is open, so that the step may be about to close.
    """
    kept: dict[str, Any] = {
        "id": slot["this_lease"],
        "campaign": slot["this_campaign"],
        "step": slot["at_step"],
        "slot": slot["at_number"],
        "value": value,
        "raw": words,
        "seconds": seconds,
        "cost": cost,
        "time": now,
        "retracted": False,
    }
    if raw.at_once:
        into = {f"keep_{name}": each for name, each in kept.items()}
        others_open = raw.first(_TAKE_AND_KEEP, {**slot, **into, "answer": value})
        if others_open is None:
            return _why_not(raw, slot), False
        return _THANKS, not others_open[0]
    taken = raw.first(_TAKE, {**slot, "answer": value})
    if taken is None:
        return _why_not(raw, slot), False
    worker, item, question, any_other = taken
    raw.run(_KEEP, {**kept, "worker": worker, "item": item, "question": question})
    return _THANKS, not any_other


def refuse(raw: RawTransaction, slot: dict[str, Any], reason: str, now: float) -> Receipt:
    """A skip or a failure: the slot goes to someone else, and closes empty after the third; after
    an undo at once.
    """
    holder = raw.first(_HOLDER, slot)
    if holder is None:
        return _why_not(raw, slot)
    raw.run(_REFUSE, slot)
    place = {"campaign": slot["this_campaign"], "step": slot["at_step"], "slot": slot["at_number"]}
    raw.run(_KEEP_REFUSAL, {**place, "worker": holder[0], "reason": reason, "time": now})
    return Receipt(Received.ACCEPTED, "skipped")


def release(raw: RawTransaction, slot: dict[str, Any]) -> Receipt:
    """Hand a question back unanswered; that is no failure. After an undo the old answer stands."""
    holder = raw.first(_HOLDER, slot)
    if holder is None:
        return _why_not(raw, slot)
    if holder[1] is None:
        raw.run(_RELEASE, slot)
    else:
        let_stand(raw, slot)
    return Receipt(Received.ACCEPTED, "released")


def renew(raw: RawTransaction, slot: dict[str, Any], expires: float) -> Receipt:
    """More time; also for a lease that ran out, if nobody else has taken the slot."""
    if raw.first(_HOLDER, slot) is None:
        return _why_not(raw, slot)
    raw.run(_RENEW, {**slot, "until": expires})
    return Receipt(Received.ACCEPTED, "renewed")


def retract(raw: RawTransaction, slot: dict[str, Any], worker: str, until: float) -> Receipt:
    """Take an answer back, as long as its step is open: the same worker answers again, or skips,
    by the receipt's lease (see ``undoing``).
    """
    # Whoever closes the step holds the same row: one of us comes first, the other sees it.
    step = raw.first(_LOCK_STEP, slot)
    told = raw.first(_TOLD, slot)
    if told is None or told[0] != worker:
        return Receipt(Received.UNKNOWN, "no such answer of yours")
    if told[1]:
        again = raw.first(_REDONE_BY, {**slot, "this_worker": worker})
        return Receipt(Received.ALREADY, "taken back before", None if again is None else again[0])
    if step[0] is not None:
        return Receipt(Received.LATE, "this answer has been used and can no longer be taken back")
    if raw.first(_REACHED, slot)[1] == "closed":
        return Receipt(Received.CLOSED, "the campaign is closed")
    return Receipt(Received.ACCEPTED, "taken back", redo(raw, slot, until))


def nothing_unsettled(connection: Connection, campaign: int) -> bool:
    """Whether no slot waits any more."""
    return not connection.execute(_WAITING, {"this_campaign": campaign}).scalar_one()


def _why_not(raw: RawTransaction, slot: dict[str, Any]) -> Receipt:
    told = raw.first(_TOLD, slot)
    if told is not None and not told[1]:
        return Receipt(Received.ALREADY, "the first answer to this question counts")
    reached = raw.first(_REACHED, slot)
    if reached is None:
        return UNKNOWN
    if reached[1] == "closed":
        return Receipt(Received.CLOSED, "thank you, but the campaign is closed")
    return Receipt(Received.LATE, "thank you, but this question is settled, or someone else's now")
