"""Handing out slots: who gets which question next, in one short transaction.

Statements are built once, with named parameters: building them takes longer than running them.
"""

from __future__ import annotations

import secrets
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import (
    Connection,
    FromClause,
    Select,
    and_,
    bindparam,
    exists,
    func,
    not_,
    select,
    update,
)
from sqlalchemy.sql.elements import ColumnElement

from askfew.campaigns.slots.states import LEASED, OPEN, any_leased
from askfew.campaigns.tables.database import Quick
from askfew.campaigns.tables.schema import SlotState, refusals, slots, workers

__all__ = ["OVERDUE", "HandOut", "Lease", "expire_leases", "give_up_unanswerable"]

_CAMPAIGN = bindparam("this_campaign", type_=slots.c.campaign.type)
_STEP = bindparam("this_step", type_=slots.c.step.type)
_WORKER = bindparam("this_worker", type_=slots.c.worker.type)
_PER_CELL = bindparam("per_cell", type_=slots.c.number.type)
_NOW = bindparam("now", type_=slots.c.expires.type)
_OPEN_HERE = and_(slots.c.campaign == _CAMPAIGN, slots.c.step == _STEP, OPEN)
_HELD = slots.alias("held")
"""Slots somebody has leased or answered, or may still answer although their lease ran out."""


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


def _may_take(worker: ColumnElement[str]) -> ColumnElement[bool]:
    """Not the same cell too often, and not a slot this worker has refused."""
    refused = _count(
        refusals,
        refusals.c.campaign == _CAMPAIGN,
        refusals.c.step == slots.c.step,
        refusals.c.slot == slots.c.number,
        refusals.c.worker == worker,
    )
    return and_(_times(worker) < _PER_CELL, refused == 0)


def _open_to_worker(*wishes: ColumnElement[bool]) -> Select[Any]:
    return (
        select(
            slots.c.number,
            slots.c.item,
            slots.c.question,
            slots.c.reference,
            _times(_WORKER).label("times"),
        )
        .where(_OPEN_HERE, _may_take(_WORKER), *wishes)
        .order_by(slots.c.campaign, slots.c.step, slots.c.number)
        .limit(bindparam("most"))
        .with_for_update(skip_locked=True, of=slots)
    )


_NEW_TO_WORKER = _count(_HELD, _held_by(_WORKER)) == 0
_STAGES = (
    _open_to_worker(_NEW_TO_WORKER, slots.c.reference == bindparam("role")),
    _open_to_worker(_NEW_TO_WORKER),
    _open_to_worker(),
)
"""First slots of items the worker has not met, in the role (reference or not) they already have in
this step; then of items they have not met; then any they may take. So, as far as there are workers
enough, nobody appears twice in one item's evidence."""
_NEW, _ANY = 1, 2
_REMEMBERED = 60.0
"""Seconds for which it is remembered that a worker's wish could not be met."""

OVERDUE = any_leased(_CAMPAIGN, slots.c.expires < _NOW)
"""The condition, for queries: some lease of ``this_campaign`` has run out by ``now``."""
_OVERDUE_SLOTS = (
    select(slots.c.step, slots.c.number)
    .where(slots.c.campaign == _CAMPAIGN, LEASED, slots.c.expires < _NOW)
    .with_for_update(skip_locked=True)
)
_HERE = and_(
    slots.c.campaign == _CAMPAIGN, slots.c.step == _STEP, slots.c.number == bindparam("at_number")
)
_EXPIRE = update(slots).where(_HERE).values(state=SlotState.OPEN.value)
_LEND = (
    update(slots)
    .where(_HERE)
    .values(
        state=SlotState.LEASED.value,
        worker=_WORKER,
        expires=bindparam("until"),
        lease=bindparam("new_lease"),
    )
)
_REMEMBER_ROLE = (
    update(workers)
    .where(workers.c.campaign == _CAMPAIGN, workers.c.name == _WORKER)
    .values(step=_STEP, reference=bindparam("role"))
)
_CANDIDATE = workers.alias("candidate")
_TAKERS = exists().where(
    _CANDIDATE.c.campaign == _CAMPAIGN,
    _CANDIDATE.c.revoked.is_(None),
    _may_take(_CANDIDATE.c.name),
)
_GIVE_UP = (
    update(slots)
    .where(_OPEN_HERE, not_(_TAKERS))
    .values(state=SlotState.EMPTY.value, worker=None, lease=None, expires=None)
)


@dataclass(frozen=True)
class _Open:
    """A slot that may be lent."""

    number: int
    item: int
    question: int
    reference: bool
    times: int
    """How often the worker has this cell already."""


@dataclass
class HandOut:
    """Hands out one campaign's slots.

    It remembers for a while which wishes cannot be met for a worker: to find out again, question
    after question, that no new item is left would mean to look at every open slot each time.
    """

    campaign: int
    per_cell: int
    lease_seconds: float
    _fruitless: dict[str, tuple[int, int, float]] = field(default_factory=dict)
    """By worker: in which step, which stage to begin with, and until when."""

    def lend(
        self, quick: Quick, step: int, worker: str, n: int, role: bool | None, now: float
    ) -> list[Lease]:
        """Lease up to n open slots of the step to the worker, who may have a ``role`` in it.

        The caller holds the worker's row: of two requests by one worker, one waits.
        """
        who = {"this_campaign": self.campaign, "this_step": step, "this_worker": worker}
        picked = self._pick(quick, who, n, role, now)
        if not picked:
            return []
        if role is None:
            quick.run(_REMEMBER_ROLE, {**who, "role": bool(picked[0].reference)})
        leases = [
            Lease(
                # The id says which slot it is for: a late answer can be told from an unknown one.
                f"{self.campaign}-{step}-{each.number}-{secrets.token_hex(8)}",
                step,
                each.number,
                each.item,
                each.question,
                now + self.lease_seconds,
            )
            for each in picked
        ]
        lent = [{"at_number": each.slot, "new_lease": each.id} for each in leases]
        until = {**who, "until": now + self.lease_seconds}
        quick.run(_LEND, *({**until, **each} for each in lent))
        return leases

    def _pick(
        self, quick: Quick, who: dict[str, Any], n: int, role: bool | None, now: float
    ) -> list[_Open]:
        wanted = {**who, "per_cell": self.per_cell}
        begin = self._first_stage(who, now)
        if role is None and begin < _ANY:
            first = quick.first(_STAGES[_NEW], {**wanted, "most": 1})
            role = None if first is None else bool(_Open(*first).reference)
        picked: list[_Open] = []
        for stage in range(begin if role is not None else _ANY, _ANY + 1):
            # Several may be of one item; and those picked before are seen again.
            most = 1 if n == 1 else 2 * n + len(picked)
            rows = quick.all(_STAGES[stage], {**wanted, "most": most, "role": role})
            if not rows and stage < _ANY:
                until = now + _REMEMBERED
                self._fruitless[who["this_worker"]] = (who["this_step"], stage + 1, until)
            self._add(picked, [_Open(*row) for row in rows], new_items=stage < _ANY)
            if len(picked) >= n:
                break
        return picked[:n]

    def _first_stage(self, who: dict[str, Any], now: float) -> int:
        step, stage, until = self._fruitless.get(who["this_worker"], (-1, 0, now))
        return stage if step == who["this_step"] and now < until else 0

    def _add(self, picked: list[_Open], found: list[_Open], *, new_items: bool) -> None:
        """Without those of an item, or a cell, that the worker then would have too often."""
        numbers = {each.number for each in picked}
        items = {each.item for each in picked}
        cells = Counter((each.item, each.question) for each in picked)
        for each in found:
            cell = (each.item, each.question)
            if each.number in numbers or (new_items and each.item in items):
                continue
            if each.times + cells[cell] < self.per_cell:
                picked.append(each)
                items.add(each.item)
                cells[cell] += 1


def expire_leases(quick: Quick, campaign: int, now: float) -> None:
    """Return to the queue what nobody answered in time; the late holder keeps their lease's id."""
    overdue = quick.all(_OVERDUE_SLOTS, {"this_campaign": campaign, "now": now})
    back = [
        {"this_campaign": campaign, "this_step": row[0], "at_number": row[1]} for row in overdue
    ]
    if back:
        quick.run(_EXPIRE, *back)


def give_up_unanswerable(connection: Connection, campaign: int, step: int, per_cell: int) -> int:
    """Close as empty the open slots that no admitted worker may take."""
    where = {"this_campaign": campaign, "this_step": step, "per_cell": per_cell}
    return connection.execute(_GIVE_UP, where).rowcount
