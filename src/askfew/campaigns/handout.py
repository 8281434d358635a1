"""Handing out slots: who gets which question next, in one short transaction.

Statements are built once, with named parameters: building them takes longer than running them.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import (
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    exists,
    func,
    not_,
    select,
    tuple_,
    update,
)
from sqlalchemy.sql.elements import ColumnElement

from askfew.campaigns.schema import SlotState, refusals, slots, steps, workers

__all__ = ["Lease", "expire_leases", "give_up_unanswerable", "hand_out"]

OpenSlot = Row[int, int, int, int]

_CAMPAIGN = bindparam("this_campaign", type_=slots.c.campaign.type)
_WORKER = bindparam("this_worker", type_=slots.c.worker.type)
_PER_CELL = bindparam("per_cell", type_=slots.c.number.type)
_KEY = (slots.c.campaign, slots.c.step, slots.c.number)
_OPEN = and_(slots.c.campaign == _CAMPAIGN, slots.c.state == SlotState.OPEN)
_HELD = slots.alias("held")
"""Slots somebody has leased or answered."""


@dataclass(frozen=True)
class Lease:
    """A slot lent to a worker until ``expires``; ``id`` is what its answer is told by."""

    id: str
    step: int
    slot: int
    item: int
    question: int
    expires: float


def _held_by(worker: ColumnElement[str]) -> ColumnElement[bool]:
    return and_(
        _HELD.c.campaign == _CAMPAIGN,
        _HELD.c.worker == worker,
        _HELD.c.state.between(SlotState.LEASED, SlotState.ANSWERED),
        _HELD.c.item == slots.c.item,
    )


def _may_take(worker: ColumnElement[str]) -> ColumnElement[bool]:
    """Not the same cell too often, and not a slot this worker has refused."""
    same_cell = and_(_held_by(worker), _HELD.c.question == slots.c.question)
    often = select(func.count()).select_from(_HELD).where(same_cell).scalar_subquery()
    refused = exists().where(
        refusals.c.campaign == _CAMPAIGN,
        refusals.c.step == slots.c.step,
        refusals.c.slot == slots.c.number,
        refusals.c.worker == worker,
    )
    return and_(often < _PER_CELL, not_(refused))


def _open_to_worker(*wishes: ColumnElement[bool]) -> Select[int, int, int, int]:
    return (
        select(slots.c.step, slots.c.number, slots.c.item, slots.c.question)
        .where(_OPEN, _may_take(_WORKER), *wishes)
        .order_by(slots.c.step, slots.c.number)
        .limit(bindparam("most"))
        .with_for_update(skip_locked=True, of=slots)
    )


_NOT_MET = not_(exists().where(_held_by(_WORKER)))
_ROLE = slots.c.reference == bindparam("role")
_PREFERRED = _open_to_worker(_NOT_MET, _ROLE)
_NEW_TO_WORKER = _open_to_worker(_NOT_MET)
_ANY = _open_to_worker()

_NEWEST = select(func.max(steps.c.number)).where(steps.c.campaign == _CAMPAIGN).scalar_subquery()
_ROLE_OF_WORKER = (
    select(slots.c.reference)
    .where(
        slots.c.campaign == _CAMPAIGN,
        slots.c.worker == _WORKER,
        slots.c.step == _NEWEST,
        slots.c.state.between(SlotState.LEASED, SlotState.ANSWERED),
    )
    .limit(1)
)
_OVERDUE = (
    select(*_KEY)
    .where(
        slots.c.campaign == _CAMPAIGN,
        slots.c.state == SlotState.LEASED,
        slots.c.expires < bindparam("now"),
    )
    .with_for_update(skip_locked=True)
)
_EXPIRE = update(slots).where(tuple_(*_KEY).in_(_OVERDUE)).values(state=SlotState.OPEN)
_LEND = (
    update(slots)
    .where(
        slots.c.campaign == _CAMPAIGN,
        slots.c.step == bindparam("at_step"),
        slots.c.number == bindparam("at_number"),
    )
    .values(
        state=SlotState.LEASED,
        worker=_WORKER,
        expires=bindparam("until"),
        lease=bindparam("new_lease"),
    )
)
_CANDIDATE = workers.alias("candidate")
_TAKERS = exists().where(
    _CANDIDATE.c.campaign == _CAMPAIGN,
    _CANDIDATE.c.revoked.is_(None),
    _may_take(_CANDIDATE.c.name),
)
_GIVE_UP = (
    update(slots)
    .where(_OPEN, slots.c.step == bindparam("at_step"), not_(_TAKERS))
    .values(state=SlotState.EMPTY)
)


def hand_out(
    connection: Connection,
    campaign: int,
    worker: str,
    n: int,
    *,
    per_cell: int,
    now: float,
    lease_seconds: float,
) -> list[Lease]:
    """Lease up to n open slots to the worker.

    First slots of items the worker has not met, in the role (reference or not) they already have
    in this step, so that as far as possible nobody appears twice in one item's evidence; then any
    slot they may take.
    """
    expire_leases(connection, campaign, now)
    who = {"this_campaign": campaign, "this_worker": worker}
    role = connection.execute(_ROLE_OF_WORKER, who).scalar()
    # A few more than asked for: several may be of one cell.
    wanted = {**who, "per_cell": per_cell, "most": 2 * n - 1}
    queries = [_NEW_TO_WORKER, _ANY] if role is None else [_PREFERRED, _NEW_TO_WORKER, _ANY]
    for query in queries:
        own = {"role": role} if query is _PREFERRED else {}
        picked = _one_a_cell(connection.execute(query, {**wanted, **own}).all())[:n]
        if picked:
            return _lend(connection, picked, who, now + lease_seconds)
    return []


def expire_leases(connection: Connection, campaign: int, now: float) -> int:
    """Return to the queue what nobody answered in time; the late holder keeps their lease's id."""
    return connection.execute(_EXPIRE, {"this_campaign": campaign, "now": now}).rowcount


def give_up_unanswerable(connection: Connection, campaign: int, step: int, per_cell: int) -> int:
    """Close as empty the open slots that no admitted worker may take."""
    where = {"this_campaign": campaign, "at_step": step, "per_cell": per_cell}
    return connection.execute(_GIVE_UP, where).rowcount


def _one_a_cell(rows: Sequence[OpenSlot]) -> list[OpenSlot]:
    """The first slot of each cell: in one go a worker gets no cell twice."""
    first: dict[tuple[int, int], OpenSlot] = {}
    for row in rows:
        first.setdefault((row.item, row.question), row)
    return list(first.values())


def _lend(
    connection: Connection, picked: Sequence[OpenSlot], who: dict[str, object], expires: float
) -> list[Lease]:
    leases = [
        Lease(
            # The id says which slot it is for, so that late answers can be told from unknown ones.
            f"{who['this_campaign']}-{row.step}-{row.number}-{secrets.token_hex(8)}",
            row.step,
            row.number,
            row.item,
            row.question,
            expires,
        )
        for row in picked
    ]
    connection.execute(
        _LEND,
        [
            {
                **who,
                "until": expires,
                "at_step": lease.step,
                "at_number": lease.slot,
                "new_lease": lease.id,
            }
            for lease in leases
        ],
    )
    return leases
