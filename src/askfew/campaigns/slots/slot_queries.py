"""Which open slots a worker may take, and in which order of preference: the statements.

They are built once, with named parameters: building them takes longer than running them.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
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
    update,
)
from sqlalchemy.sql.dml import ReturningUpdate
from sqlalchemy.sql.elements import ColumnElement

from askfew.campaigns.db.schema import SlotState, refusals, slots, workers
from askfew.campaigns.slots.states import OPEN

__all__ = ["ANY", "CAMPAIGN", "GIVE_UP", "LEND", "LEND_FIRST", "NEW", "STAGES", "STEP", "WORKER"]

CAMPAIGN = bindparam("this_campaign", type_=slots.c.campaign.type)
STEP = bindparam("this_step", type_=slots.c.step.type)
WORKER = bindparam("this_worker", type_=slots.c.worker.type)
_PER_CELL = bindparam("per_cell", type_=slots.c.number.type)
_OPEN_HERE = and_(slots.c.campaign == CAMPAIGN, slots.c.step == STEP, OPEN)
_HELD = slots.alias("held")
"""Slots somebody has leased or answered, or may still answer although their lease ran out."""
_LENT: dict[str, Any] = {
    "state": SlotState.LEASED.value,
    "worker": WORKER,
    "expires": bindparam("until"),
}


def _held_by(worker: ColumnElement[str]) -> ColumnElement[bool]:
    return and_(
        _HELD.c.campaign == CAMPAIGN,
        _HELD.c.worker == worker,
        _HELD.c.item == slots.c.item,
        _HELD.c.state < SlotState.EMPTY.value,
        # Whoever was late may have the very same slot again.
        not_(and_(_HELD.c.step == slots.c.step, _HELD.c.number == slots.c.number)),
    )


def _count(table: FromClause, *conditions: ColumnElement[bool]) -> ColumnElement[int]:
    """How many there are, looked up by index for each slot.

    Not EXISTS, which PostgreSQL turns into a join with all that the worker has ever held.
    """
    return select(func.count()).select_from(table).where(*conditions).scalar_subquery()


def _times(worker: ColumnElement[str]) -> ColumnElement[int]:
    """How often the worker has this cell already."""
    return _count(_HELD, _held_by(worker), _HELD.c.question == slots.c.question)


def _unrefused(worker: ColumnElement[str]) -> ColumnElement[bool]:
    """Not a slot this worker has refused."""
    refused = _count(
        refusals,
        refusals.c.campaign == CAMPAIGN,
        refusals.c.step == slots.c.step,
        refusals.c.slot == slots.c.number,
        refusals.c.worker == worker,
    )
    return refused == 0


def _open_to_worker(*wishes: ColumnElement[bool]) -> Select[Any]:
    return (
        select(slots.c.number, slots.c.item, slots.c.question, slots.c.reference)
        .where(_OPEN_HERE, _unrefused(WORKER), *wishes)
        .order_by(slots.c.campaign, slots.c.step, slots.c.number)
        .with_for_update(skip_locked=True, of=slots)
    )


def _lend_first(*wishes: ColumnElement[bool]) -> ReturningUpdate[Any]:
    """Pick and lend in one statement, which is how most questions are handed out."""
    first = _open_to_worker(*wishes).limit(literal_column("1", Integer)).cte("first")
    lease = (
        bindparam("lease_begins", type_=String)
        + cast(slots.c.number, String)
        + bindparam("lease_ends", type_=String)
    )
    return (
        update(slots)
        .where(slots.c.campaign == CAMPAIGN, slots.c.step == STEP)
        # Not a join: PostgreSQL, as long as it has not analysed the table, would look at them all.
        .where(slots.c.number == select(first.c.number).scalar_subquery())
        .values(**_LENT, lease=lease)
        .returning(slots.c.number, slots.c.item, slots.c.question, slots.c.reference)
    )


_NEW_TO_WORKER = _count(_HELD, _held_by(WORKER)) == 0
_WISHES: tuple[tuple[ColumnElement[bool], ...], ...] = (
    (_NEW_TO_WORKER, slots.c.reference == bindparam("role")),
    (_NEW_TO_WORKER,),
    (_times(WORKER) < _PER_CELL,),
)
"""First slots of items the worker has not met, in the role (reference or not) they already have in
this step; then of items they have not met; then any they may take. So, as far as there are workers
enough, nobody appears twice in one item's evidence."""
NEW, ANY = 1, 2
STAGES = tuple(
    _open_to_worker(*wishes).add_columns(_times(WORKER)).limit(bindparam("most"))
    for wishes in _WISHES
)
"""Up to ``most`` slots, by stage, each with how often the worker has its cell already."""
LEND_FIRST = tuple(_lend_first(*wishes) for wishes in _WISHES)
"""Lease the first slot of a stage to the worker; nothing comes back if there is none."""
LEND = (
    update(slots)
    .where(slots.c.campaign == CAMPAIGN, slots.c.step == STEP)
    .where(slots.c.number == bindparam("at_number"))
    .values(**_LENT, lease=bindparam("new_lease"))
)

_CANDIDATE = workers.alias("candidate")
_TAKERS = exists().where(
    _CANDIDATE.c.campaign == CAMPAIGN,
    _CANDIDATE.c.revoked.is_(None),
    _times(_CANDIDATE.c.name) < _PER_CELL,
    _unrefused(_CANDIDATE.c.name),
)
GIVE_UP = (
    update(slots)
    .where(_OPEN_HERE, not_(_TAKERS))
    .values(state=SlotState.EMPTY.value, worker=None, lease=None, expires=None)
)
"""Close as empty the open slots that no admitted worker may take."""
