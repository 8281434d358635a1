"""Changes to one slot by its lease: answer, refuse, release, renew, take back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, bindparam, case, exists, func, insert, select, union_all, update

from askfew.campaigns.db.database import Database, RawTransaction
from askfew.campaigns.db.queries.slots import LEASED, VACANT, any_open, becomes, may
from askfew.campaigns.db.schema import answers, campaigns, refusals, slots, steps
from askfew.campaigns.slots.lease import LeaseId
from askfew.campaigns.slots.states import FAILURES_TO_EMPTY, SlotEvent

__all__ = [
    "BEING_REDONE",
    "TAKE_AND_KEEP",
    "Given",
    "Holding",
    "answerer",
    "extend",
    "holder_of",
    "holding",
    "in_hand",
    "let_stand",
    "lock_step",
    "redo",
    "redone_by",
    "refuse",
    "release",
    "release_all",
    "slot_campaign_state",
    "take",
]

_CAMPAIGN = bindparam("this_campaign", type_=slots.c.campaign.type)
_STEP = bindparam("at_step", type_=slots.c.step.type)
_NUMBER = bindparam("at_number", type_=slots.c.number.type)
_LEASE = bindparam("this_lease", type_=slots.c.lease.type)
_WORKER = bindparam("this_worker", type_=slots.c.worker.type)
_SLOT = and_(slots.c.campaign == _CAMPAIGN, slots.c.step == _STEP, slots.c.number == _NUMBER)
_HELD = and_(_SLOT, slots.c.lease == _LEASE, may(SlotEvent.ANSWERED))
"""The slot still waits for this lease: it is leased, or it ran out and nobody else has the slot."""
_ANSWERS = and_(answers.c.campaign == _CAMPAIGN, answers.c.step == _STEP, answers.c.slot == _NUMBER)
_ANSWER = and_(_ANSWERS, answers.c.id == _LEASE)
# A paused campaign still takes answers to what was handed out; a closed one takes none.
_ALIVE = exists().where(campaigns.c.id == _CAMPAIGN, campaigns.c.state != "closed")
BEING_REDONE = and_(LEASED, slots.c.value.is_not(None))
"""For queries: the answer was taken back, and the worker has not answered again."""

_TAKE = (
    update(slots)
    .where(_HELD, _ALIVE)
    .values(state=becomes(SlotEvent.ANSWERED), value=bindparam("answer"), expires=None)
    .returning(
        slots.c.worker,
        slots.c.item,
        slots.c.question,
        # Without the slot itself: PostgreSQL's RETURNING sees the table as it was before, where a
        # slot that is answered late is still open.
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
# One statement is one round trip, and by itself a transaction: the slot is settled and the answer
# is kept, or neither.
TAKE_AND_KEEP = select(_TAKEN.c.worker, _TAKEN.c.others_open).add_cte(
    insert(answers)
    .from_select(list(_KEPT), select(*_KEPT.values()))
    .returning(answers.c.id)
    .cte("kept")
)
_HOLDING = select(slots.c.worker, slots.c.value).where(_HELD, _ALIVE).with_for_update(of=slots)
_REFUSE = (
    update(slots)
    .where(_SLOT, may(SlotEvent.REFUSED))
    .values(
        failures=slots.c.failures + 1,
        state=case(
            (slots.c.failures + 1 >= FAILURES_TO_EMPTY, becomes(SlotEvent.EMPTIED)),
            # After an undo nobody else is asked (see ``redo``).
            (slots.c.value.is_not(None), becomes(SlotEvent.EMPTIED)),
            else_=becomes(SlotEvent.REFUSED),
        ),
        value=None,
        **VACANT,
    )
)
_KEEP_REFUSAL = insert(refusals)
_IN_HAND = select(func.count()).where(
    slots.c.campaign == _CAMPAIGN, slots.c.worker == _WORKER, LEASED
)
_RETURNED: dict[str, Any] = {"state": becomes(SlotEvent.RETURNED), **VACANT}
_RELEASE = update(slots).where(_SLOT, may(SlotEvent.RETURNED)).values(**_RETURNED)
_RENEW = (
    update(slots)
    .where(_SLOT, may(SlotEvent.RENEWED))
    .values(state=becomes(SlotEvent.RENEWED), expires=bindparam("until"))
)
_TOLD = select(answers.c.worker, answers.c.retracted).where(_ANSWER)
_REACHED = select(campaigns.c.state).join(slots, campaigns.c.id == slots.c.campaign).where(_SLOT)
_LOCK_STEP = (
    select(steps.c.closed)
    .where(steps.c.campaign == _CAMPAIGN, steps.c.number == _STEP)
    .with_for_update()
)
_REDONE_BY = select(slots.c.lease).where(_SLOT, BEING_REDONE, slots.c.worker == _WORKER)
_LEND_AGAIN = (
    update(slots)
    .where(_SLOT, may(SlotEvent.RETRACTED))
    .values(
        state=becomes(SlotEvent.RETRACTED),
        lease=bindparam("new_lease"),
        expires=bindparam("until"),
    )
)
_MARK = (
    update(answers)
    .where(_ANSWERS, answers.c.id == bindparam("this_answer", type_=answers.c.id.type))
    .values(retracted=bindparam("is_retracted"))
)
_LAST_SAID = (
    select(answers.c.id, answers.c.value)
    .join(slots, and_(_SLOT, slots.c.worker == answers.c.worker))
    .where(_ANSWERS, answers.c.retracted.is_(True))
    .order_by(answers.c.time.desc(), answers.c.id)
)
_STAND = (
    update(slots)
    .where(_SLOT, may(SlotEvent.STANDS))
    .values(
        state=becomes(SlotEvent.STANDS),
        lease=bindparam("new_lease"),
        value=bindparam("answer"),
        expires=None,
    )
)
_HOLDER = union_all(
    select(slots.c.worker).where(_SLOT, slots.c.lease == _LEASE),
    select(answers.c.worker).where(_ANSWER),
)
_THEIR_SLOTS = and_(slots.c.campaign == _CAMPAIGN, slots.c.worker == _WORKER)
_RELEASE_ALL = update(slots).where(_THEIR_SLOTS, may(SlotEvent.RETURNED)).values(**_RETURNED)
_REDOING = select(slots.c.step, slots.c.number).where(_THEIR_SLOTS, BEING_REDONE).with_for_update()


@dataclass(frozen=True, slots=True)
class Given:
    """An answer as it was told: its value, and what is kept beside it."""

    value: float
    raw: str
    time: float
    seconds: float | None
    cost: float | None


@dataclass(frozen=True, slots=True)
class Holding:
    """Who holds a slot, and whether they answer it again after an undo."""

    worker: str
    redoing: bool


def _place(campaign: int, step: int, slot: int) -> dict[str, Any]:
    return {"this_campaign": campaign, "at_step": step, "at_number": slot}


def _at(lease: LeaseId) -> dict[str, Any]:
    return {**_place(lease.campaign, lease.step, lease.slot), "this_lease": str(lease)}


def take(raw: RawTransaction, lease: LeaseId, given: Given) -> tuple[str, bool] | None:
    """Count the answer if its slot still waits for it.

    Returns the worker, and whether other slots are open; None if the slot does not wait. On
    PostgreSQL it is one statement.
    """
    at = {**_at(lease), "answer": given.value}
    kept: dict[str, Any] = {
        "id": str(lease),
        "campaign": lease.campaign,
        "step": lease.step,
        "slot": lease.slot,
        "value": given.value,
        "raw": given.raw,
        "seconds": given.seconds,
        "cost": given.cost,
        "time": given.time,
        "retracted": False,
    }
    if raw.at_once:
        found = raw.first(TAKE_AND_KEEP, {**at, **{f"keep_{k}": v for k, v in kept.items()}})
        return None if found is None else (found[0], bool(found[1]))
    found = raw.first(_TAKE, at)
    if found is None:
        return None
    worker, item, question, others_open = found
    raw.run(_KEEP, {**kept, "worker": worker, "item": item, "question": question})
    return worker, bool(others_open)


def holding(raw: RawTransaction, lease: LeaseId) -> Holding | None:
    """Who holds the slot by this lease, or None; the slot is locked until the transaction ends."""
    found = raw.first(_HOLDING, _at(lease))
    return None if found is None else Holding(found[0], found[1] is not None)


def refuse(raw: RawTransaction, lease: LeaseId, worker: str, reason: str, now: float) -> None:
    """Record a skip or a failure: the slot opens to others or closes empty. The caller locks it."""
    raw.run(_REFUSE, _at(lease))
    place = {"campaign": lease.campaign, "step": lease.step, "slot": lease.slot}
    raw.run(_KEEP_REFUSAL, {**place, "worker": worker, "reason": reason, "time": now})


def release(raw: RawTransaction, lease: LeaseId) -> None:
    """Open the slot to others. The caller has locked it."""
    raw.run(_RELEASE, _at(lease))


def in_hand(raw: RawTransaction, campaign: int, worker: str) -> int:
    """How many slots are leased to the worker."""
    return int(raw.first(_IN_HAND, {"this_campaign": campaign, "this_worker": worker})[0])


def extend(raw: RawTransaction, lease: LeaseId, until: float) -> None:
    """Extend the lease. The caller has locked the slot."""
    raw.run(_RENEW, {**_at(lease), "until": until})


def release_all(raw: RawTransaction, campaign: int, worker: str) -> None:
    """Open all slots of a worker to others; answers that they had taken back stand."""
    who = {"this_campaign": campaign, "this_worker": worker}
    # These first: releasing them would clear the worker, by whom the old answer is found.
    for step, number in raw.all(_REDOING, who):
        let_stand(raw, campaign, step, number)
    raw.run(_RELEASE_ALL, who)


def answerer(raw: RawTransaction, lease: LeaseId) -> tuple[str, bool] | None:
    """Who answered by this lease, and whether they took it back; None if nobody answered."""
    found = raw.first(_TOLD, _at(lease))
    return None if found is None else (found[0], bool(found[1]))


def slot_campaign_state(raw: RawTransaction, lease: LeaseId) -> str | None:
    """The state of the campaign that has the lease's slot; None if there is no such slot."""
    found = raw.first(_REACHED, _at(lease))
    state: str | None = None if found is None else found[0]
    return state


def lock_step(raw: RawTransaction, lease: LeaseId) -> bool:
    """Lock the lease's step, as closing it does; True if it is closed."""
    found = raw.first(_LOCK_STEP, _at(lease))
    return found is not None and found[0] is not None


def redone_by(raw: RawTransaction, lease: LeaseId, worker: str) -> str | None:
    """The lease by which the worker answers this slot again, if they do."""
    found = raw.first(_REDONE_BY, {**_at(lease), "this_worker": worker})
    again: str | None = None if found is None else found[0]
    return again


def redo(raw: RawTransaction, lease: LeaseId, until: float) -> LeaseId:
    """An undo: mark the answer retracted, and lend the slot to the same worker again.

    The slot never goes to somebody else. A worker who undoes has seen their own answer; if the slot
    went on to others, answers would decide who is asked, until somebody gives one that is not
    undone. For the same reason the old answer *stands* (``let_stand``) if no new one comes: when
    the lease runs out, when it is handed back, when the worker is revoked. So an undo alone removes
    nothing. If it closed the slot empty, people who undo one answer more often than the other and
    leave would shift the mean. A skip after an undo closes the slot empty: like any skip it says
    that the worker cannot tell.

    Until then the slot is LEASED and still has its value, which no other leased slot has.
    """
    again = LeaseId.new(lease.campaign, lease.step, lease.slot)
    at = _at(lease)
    raw.run(_MARK, {**at, "this_answer": str(lease), "is_retracted": True})
    raw.run(_LEND_AGAIN, {**at, "new_lease": str(again), "until": until})
    return again


def let_stand(raw: RawTransaction, campaign: int, step: int, slot: int) -> None:
    """Count the worker's last answer again (see ``redo``). The caller has locked the slot."""
    at = _place(campaign, step, slot)
    answer, value = raw.first(_LAST_SAID, at)
    raw.run(_MARK, {**at, "this_answer": answer, "is_retracted": False})
    raw.run(_STAND, {**at, "new_lease": answer, "answer": value})


def holder_of(database: Database, lease: LeaseId) -> str | None:
    """Who holds a lease, or has answered by it; None if neither.

    A lease belongs to one worker for ever, so a caller may remember the answer.
    """
    found = database.fetch_one(_HOLDER, _at(lease))
    worker: str | None = None if found is None else found[0]
    return worker
