"""Finding open slots that a worker may take, by order of preference, and lending them.

The statements are built once, with named parameters: building them takes longer than running them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Connection,
    FromClause,
    Integer,
    Select,
    String,
    and_,
    bindparam,
    cast,
    exists,
    func,
    literal_column,
    not_,
    select,
    tuple_,
    update,
)
from sqlalchemy.sql.dml import ReturningUpdate
from sqlalchemy.sql.elements import ColumnElement

from askfew.campaigns.db.database import RawTransaction
from askfew.campaigns.db.queries.slots import LEASED, VACANT, any_leased, becomes, may
from askfew.campaigns.db.schema import refusals, slots, workers
from askfew.campaigns.slots.lease import LeaseId
from askfew.campaigns.slots.states import SlotEvent, SlotState

__all__ = [
    "ANY",
    "ITEMS_AT_ONCE",
    "LEND_FIRST",
    "NEW",
    "OVERDUE",
    "STAGES",
    "Lease",
    "OpenSlot",
    "Taker",
    "expire",
    "give_up_unanswerable",
    "lend",
    "lend_first",
    "open_slots",
    "open_slots_of",
    "overdue_slots",
    "rank_and_size",
    "remember_role",
]

_CAMPAIGN = bindparam("this_campaign", type_=slots.c.campaign.type)
_STEP = bindparam("this_step", type_=slots.c.step.type)
_WORKER = bindparam("this_worker", type_=slots.c.worker.type)
_PER_CELL = bindparam("per_cell", type_=slots.c.number.type)
_NOW = bindparam("now", type_=slots.c.expires.type)
_FROM = bindparam("from_number", type_=slots.c.number.type)
_BELOW = bindparam("below_number", type_=slots.c.number.type)
_BEYOND = 2**31 - 1
"""Larger than the number of any slot: it is the largest INTEGER."""
_OPEN_HERE = and_(slots.c.campaign == _CAMPAIGN, slots.c.step == _STEP, may(SlotEvent.LENT))
_HELD = slots.alias("held")
"""Slots that a worker has leased or answered, or may still answer although the lease ran out."""
_LENT: dict[str, Any] = {
    "state": becomes(SlotEvent.LENT),
    "worker": _WORKER,
    "expires": bindparam("until"),
}


@dataclass(frozen=True, slots=True)
class Taker:
    """Who takes slots of which step, how often they may have a cell, and when the leases end."""

    campaign: int
    step: int
    worker: str
    per_cell: int
    until: float
    place: int
    """The number of the slot from which they search; after the last comes the first."""


@dataclass(frozen=True, slots=True)
class OpenSlot:
    """A slot that may be lent."""

    number: int
    item: int
    question: int
    reference: bool
    times: int
    """How many slots of this cell the worker has already."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A slot lent to a worker until ``expires``; ``id`` is what its answer is told by."""

    id: str
    item: int
    question: int
    expires: float


def _held_by(worker: ColumnElement[str]) -> ColumnElement[bool]:
    return and_(
        _HELD.c.campaign == _CAMPAIGN,
        _HELD.c.worker == worker,
        _HELD.c.item == slots.c.item,
        _HELD.c.state < SlotState.EMPTY.value,
        # A worker whose lease ran out may get the very same slot again.
        not_(and_(_HELD.c.step == slots.c.step, _HELD.c.number == slots.c.number)),
    )


def _count(table: FromClause, *conditions: ColumnElement[bool]) -> ColumnElement[int]:
    """The number of matching rows, looked up by index for each slot.

    Not EXISTS, which PostgreSQL turns into a join with all that the worker has ever held.
    """
    return select(func.count()).select_from(table).where(*conditions).scalar_subquery()


def _times(worker: ColumnElement[str]) -> ColumnElement[int]:
    """How many slots of this cell the worker has already."""
    return _count(_HELD, _held_by(worker), _HELD.c.question == slots.c.question)


def _unrefused(worker: ColumnElement[str]) -> ColumnElement[bool]:
    """The condition: this worker has not refused the slot."""
    refused = _count(
        refusals,
        refusals.c.campaign == _CAMPAIGN,
        refusals.c.step == slots.c.step,
        refusals.c.slot == slots.c.number,
        refusals.c.worker == worker,
    )
    return refused == 0


def _open_to_worker(*wishes: ColumnElement[bool]) -> Select[Any]:
    """Open slots that the worker has not refused, in their order, locked.

    Slots that another transaction is about to lend are skipped, so that nobody waits for it.
    """
    return (
        select(slots.c.number, slots.c.item, slots.c.question, slots.c.reference)
        .where(_OPEN_HERE, slots.c.number >= _FROM, slots.c.number < _BELOW)
        .where(_unrefused(_WORKER), *wishes)
        # Campaign and step are fixed; they are named so that the index ``slots_open`` fits.
        .order_by(slots.c.campaign, slots.c.step, slots.c.number)
        .with_for_update(skip_locked=True, of=slots)
    )


def _lend_first(*wishes: ColumnElement[bool]) -> ReturningUpdate[Any]:
    """Pick and lend a slot in one statement, which is how most questions are handed out."""
    first = _open_to_worker(*wishes).limit(literal_column("1", Integer)).cte("first")
    lease = (
        bindparam("lease_begins", type_=String)
        + cast(slots.c.number, String)
        + bindparam("lease_ends", type_=String)
    )
    return (
        update(slots)
        .where(slots.c.campaign == _CAMPAIGN, slots.c.step == _STEP)
        # Not a join: until PostgreSQL has analysed the table, it would scan all slots for one.
        .where(slots.c.number == select(first.c.number).scalar_subquery())
        .values(**_LENT, lease=lease)
        .returning(slots.c.lease, slots.c.item, slots.c.question, slots.c.reference)
    )


_NEW_TO_WORKER = _count(_HELD, _held_by(_WORKER)) == 0
_WISHES: tuple[tuple[ColumnElement[bool], ...], ...] = (
    (_NEW_TO_WORKER, slots.c.reference == bindparam("role")),
    (_NEW_TO_WORKER,),
    (_times(_WORKER) < _PER_CELL,),
)
"""By stage: slots of items the worker has not met, in the role (reference or not) that they have in
this step; then of items they have not met; then any they may take. So, with enough workers, nobody
appears twice in one item's evidence."""
NEW, ANY = 1, 2
"""The second and the third stage."""
STAGES = tuple(
    _open_to_worker(*wishes).add_columns(_times(_WORKER)).limit(bindparam("most"))
    for wishes in _WISHES
)
"""By stage: up to ``most`` slots, each with how often the worker has its cell already."""
ITEMS_AT_ONCE = 40
"""Items whose other slots one statement searches. A round number; the statement has a parameter
for each, so that it is compiled only once."""
_OF_ITEMS = (
    _open_to_worker(
        slots.c.item.in_([bindparam(f"item_{n}") for n in range(ITEMS_AT_ONCE)]),
        _times(_WORKER) < _PER_CELL,
    )
    .add_columns(_times(_WORKER))
    .limit(bindparam("most"))
)
LEND_FIRST = tuple(_lend_first(*wishes) for wishes in _WISHES)
"""By stage: lease its first slot to the worker; returns no row if there is none."""
_LEND = (
    update(slots)
    .where(slots.c.campaign == _CAMPAIGN, slots.c.step == _STEP)
    .where(slots.c.number == bindparam("at_number"))
    .values(**_LENT, lease=bindparam("new_lease"))
)
_REMEMBER_ROLE = (
    update(workers)
    .where(workers.c.campaign == _CAMPAIGN, workers.c.name == _WORKER)
    .values(step=_STEP, reference=bindparam("role"))
)
OVERDUE = any_leased(_CAMPAIGN, slots.c.expires < _NOW)
"""For queries: whether some lease of ``this_campaign`` has run out by ``now``."""
_OVERDUE_SLOTS = (
    select(slots.c.step, slots.c.number, slots.c.value)
    .where(slots.c.campaign == _CAMPAIGN, LEASED, slots.c.expires < _NOW)
    .with_for_update(skip_locked=True)
)
_EXPIRE = (
    update(slots)
    .where(slots.c.campaign == _CAMPAIGN, slots.c.step == _STEP)
    .where(slots.c.number == bindparam("at_number"))
    .values(state=becomes(SlotEvent.RETURNED))
)
_CANDIDATE = workers.alias("candidate")
_RANK = (
    select(func.count())
    .select_from(_CANDIDATE)
    .where(_CANDIDATE.c.campaign == _CAMPAIGN)
    # Ties by name: two workers may join at the same moment.
    .where(tuple_(_CANDIDATE.c.joined, _CANDIDATE.c.name) < tuple_(workers.c.joined, _WORKER))
    .scalar_subquery()
)
_SIZE = (
    select(func.max(slots.c.number))
    .where(slots.c.campaign == _CAMPAIGN, slots.c.step == _STEP)
    .scalar_subquery()
)
_RANK_AND_SIZE = select(_RANK, _SIZE).where(
    workers.c.campaign == _CAMPAIGN, workers.c.name == _WORKER
)
_TAKERS = exists().where(
    _CANDIDATE.c.campaign == _CAMPAIGN,
    _CANDIDATE.c.revoked.is_(None),
    _times(_CANDIDATE.c.name) < _PER_CELL,
    _unrefused(_CANDIDATE.c.name),
)
_GIVE_UP = (
    update(slots)
    .where(slots.c.campaign == _CAMPAIGN, slots.c.step == _STEP, may(SlotEvent.GIVEN_UP))
    .where(not_(_TAKERS))
    .values(state=becomes(SlotEvent.GIVEN_UP), **VACANT)
)


def _parameters(taker: Taker) -> dict[str, Any]:
    return {
        "this_campaign": taker.campaign,
        "this_step": taker.step,
        "this_worker": taker.worker,
        "per_cell": taker.per_cell,
        "until": taker.until,
    }


def _from_place(taker: Taker) -> Iterator[dict[str, Any]]:
    """Parameters for the slots from the taker's place to the end, then for those before it."""
    wanted = _parameters(taker)
    yield {**wanted, "from_number": taker.place, "below_number": _BEYOND}
    if taker.place:
        yield {**wanted, "from_number": 0, "below_number": taker.place}


def lend_first(
    raw: RawTransaction, taker: Taker, stage: int, role: bool | None
) -> tuple[Lease, bool] | None:
    """Lend the first slot of a stage: the lease, and whether it is about a reference; or None."""
    begins, ends = LeaseId.around(taker.campaign, taker.step)
    about = {"role": role, "lease_begins": begins, "lease_ends": ends}
    for wanted in _from_place(taker):
        found = raw.first(LEND_FIRST[stage], {**wanted, **about})
        if found is not None:
            lease, item, question, reference = found
            return Lease(lease, item, question, taker.until), bool(reference)
    return None


def open_slots(
    raw: RawTransaction, taker: Taker, stage: int, role: bool | None, most: int
) -> list[OpenSlot]:
    """The first slots of a stage, locked until the transaction ends."""
    found: list[OpenSlot] = []
    for wanted in _from_place(taker):
        if len(found) < most:
            about = {**wanted, "most": most - len(found), "role": role}
            found += [OpenSlot(*row) for row in raw.all(STAGES[stage], about)]
    return found


def rank_and_size(raw: RawTransaction, campaign: int, step: int, worker: str) -> tuple[int, int]:
    """How many workers joined before this one, and how many slots the step has."""
    who = {"this_campaign": campaign, "this_step": step, "this_worker": worker}
    rank, last = raw.first(_RANK_AND_SIZE, who)
    return rank, 0 if last is None else last + 1


def open_slots_of(
    raw: RawTransaction, taker: Taker, items: Sequence[int], most: int
) -> list[OpenSlot]:
    """The first slots of these items that the worker may take; ITEMS_AT_ONCE at most."""
    none = [-1] * (ITEMS_AT_ONCE - len(items))  # no item has this number
    named = {f"item_{n}": item for n, item in enumerate([*items, *none])}
    all_numbers = {"from_number": 0, "below_number": _BEYOND}
    wanted = {**_parameters(taker), **all_numbers, **named, "most": most}
    return [OpenSlot(*row) for row in raw.all(_OF_ITEMS, wanted)]


def lend(raw: RawTransaction, taker: Taker, picked: list[OpenSlot]) -> list[Lease]:
    """Lend these slots."""
    wanted, lent, leases = _parameters(taker), [], []
    for each in picked:
        lease = str(LeaseId.new(taker.campaign, taker.step, each.number))
        lent.append({**wanted, "at_number": each.number, "new_lease": lease})
        leases.append(Lease(lease, each.item, each.question, taker.until))
    if lent:
        raw.run(_LEND, *lent)
    return leases


def remember_role(raw: RawTransaction, taker: Taker, *, reference: bool) -> None:
    """Store whether the worker answers about references in this step."""
    raw.run(_REMEMBER_ROLE, {**_parameters(taker), "role": reference})


def overdue_slots(raw: RawTransaction, campaign: int, now: float) -> list[tuple[int, int, bool]]:
    """Step and number of the slots whose lease ran out, and whether each was being redone.

    Locked until the transaction ends; those that somebody is about to answer or renew are skipped.
    """
    rows = raw.all(_OVERDUE_SLOTS, {"this_campaign": campaign, "now": now})
    return [(step, number, value is not None) for step, number, value in rows]


def expire(raw: RawTransaction, campaign: int, places: list[tuple[int, int]]) -> None:
    """Open these slots to others, by step and number.

    Worker and lease id stay in the slot, so that a late answer is still taken if nobody else has
    taken the slot.
    """
    if places:
        each = ({"this_step": step, "at_number": number} for step, number in places)
        raw.run(_EXPIRE, *({"this_campaign": campaign, **place} for place in each))


def give_up_unanswerable(connection: Connection, campaign: int, step: int, per_cell: int) -> None:
    """Close as empty the open slots that no admitted worker may take."""
    where = {"this_campaign": campaign, "this_step": step, "per_cell": per_cell}
    connection.execute(_GIVE_UP, where)
