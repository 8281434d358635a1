"""Handing out slots: who gets which question next, in one short transaction."""

from __future__ import annotations

import secrets
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from askfew.campaigns.db.raw import RawTransaction
from askfew.campaigns.db.schema import SlotState, slots, workers
from askfew.campaigns.slots.slot_queries import (
    ANY,
    CAMPAIGN,
    GIVE_UP,
    LEND,
    LEND_FIRST,
    NEW,
    STAGES,
    STEP,
    WORKER,
)
from askfew.campaigns.slots.states import LEASED, any_leased
from askfew.campaigns.slots.undoing import let_stand

__all__ = ["OVERDUE", "HandOut", "Lease", "expire_leases", "give_up_unanswerable"]

_NOW = bindparam("now", type_=slots.c.expires.type)
_REMEMBERED = 60.0
"""Seconds for which it is remembered that a worker's wish could not be met."""

OVERDUE = any_leased(CAMPAIGN, slots.c.expires < _NOW)
"""The condition, for queries: some lease of ``this_campaign`` has run out by ``now``."""
_OVERDUE_SLOTS = (
    select(slots.c.step, slots.c.number, slots.c.value)
    .where(slots.c.campaign == CAMPAIGN, LEASED, slots.c.expires < _NOW)
    .with_for_update(skip_locked=True)
)
_EXPIRE = (
    update(slots)
    .where(slots.c.campaign == CAMPAIGN, slots.c.step == STEP)
    .where(slots.c.number == bindparam("at_number"))
    .values(state=SlotState.OPEN.value)
)
_REMEMBER_ROLE = (
    update(workers)
    .where(workers.c.campaign == CAMPAIGN, workers.c.name == WORKER)
    .values(step=STEP, reference=bindparam("role"))
)


@dataclass(frozen=True)
class Lease:
    """A slot lent to a worker until ``expires``; ``id`` is what its answer is told by."""

    id: str
    step: int
    slot: int
    item: int
    question: int
    expires: float


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
        self, raw: RawTransaction, step: int, worker: str, n: int, role: bool | None, now: float
    ) -> list[Lease]:
        """Lease up to n open slots of the step to the worker, who may have a ``role`` in it.

        The caller holds the worker's row: of two requests by one worker, one waits.
        """
        who = {"this_campaign": self.campaign, "this_step": step, "this_worker": worker}
        wanted = {**who, "per_cell": self.per_cell, "until": now + self.lease_seconds}
        lend = self._lend_first if n == 1 else self._lend_several
        leases, reference = lend(raw, wanted, n, role, now)
        if leases and role is None:
            raw.run(_REMEMBER_ROLE, {**who, "role": reference})
        return leases

    def _lend_first(
        self, raw: RawTransaction, wanted: dict[str, Any], _n: int, role: bool | None, now: float
    ) -> tuple[list[Lease], bool]:
        """One slot, and whether it is about a reference."""
        begins, ends = self._lease_id(wanted)
        parameters = {**wanted, "role": role, "lease_begins": begins, "lease_ends": ends}
        begin = self._first_stage(wanted, now)
        for stage in range(begin if role is not None else max(begin, NEW), ANY + 1):
            found = raw.first(LEND_FIRST[stage], parameters)
            if found is not None:
                number, item, question, reference = found
                place = (wanted["this_step"], number, item, question, wanted["until"])
                return [Lease(f"{begins}{number}{ends}", *place)], bool(reference)
            self._note_fruitless(wanted, stage, now)
        return [], False

    def _lend_several(
        self, raw: RawTransaction, wanted: dict[str, Any], n: int, role: bool | None, now: float
    ) -> tuple[list[Lease], bool]:
        """Up to n slots, and whether the first is about a reference."""
        picked = self._pick(raw, wanted, n, role, now)
        leases = []
        for each in picked:
            begins, ends = self._lease_id(wanted)
            place = (wanted["this_step"], each.number, each.item, each.question, wanted["until"])
            leases.append(Lease(f"{begins}{each.number}{ends}", *place))
        if leases:
            lent = ({"at_number": each.slot, "new_lease": each.id} for each in leases)
            raw.run(LEND, *({**wanted, **each} for each in lent))
        return leases, bool(picked and picked[0].reference)

    def _lease_id(self, wanted: dict[str, Any]) -> tuple[str, str]:
        """What stands around the slot's number: a late answer can be told from an unknown one."""
        return f"{self.campaign}-{wanted['this_step']}-", f"-{secrets.token_hex(8)}"

    def _pick(
        self, raw: RawTransaction, wanted: dict[str, Any], n: int, role: bool | None, now: float
    ) -> list[_Open]:
        begin = self._first_stage(wanted, now)
        if role is None and begin < ANY:
            first = raw.first(STAGES[NEW], {**wanted, "most": 1})
            role = None if first is None else bool(_Open(*first).reference)
        picked: list[_Open] = []
        for stage in range(begin if role is not None else ANY, ANY + 1):
            # Several may be of one item; and those picked before are seen again.
            most = 2 * n + len(picked)
            rows = raw.all(STAGES[stage], {**wanted, "most": most, "role": role})
            if not rows:
                self._note_fruitless(wanted, stage, now)
            self._add(picked, [_Open(*row) for row in rows], new_items=stage < ANY)
            if len(picked) >= n:
                break
        return picked[:n]

    def _first_stage(self, who: dict[str, Any], now: float) -> int:
        step, stage, until = self._fruitless.get(who["this_worker"], (-1, 0, now))
        return stage if step == who["this_step"] and now < until else 0

    def _note_fruitless(self, who: dict[str, Any], stage: int, now: float) -> None:
        if stage < ANY:
            until = now + _REMEMBERED
            self._fruitless[who["this_worker"]] = (who["this_step"], stage + 1, until)

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


def expire_leases(raw: RawTransaction, campaign: int, now: float) -> None:
    """Return to the queue what nobody answered in time; the late holder keeps their lease's id.

    Where an answer was taken back and none came instead, it stands.
    """
    back = []
    for step, number, value in raw.all(_OVERDUE_SLOTS, {"this_campaign": campaign, "now": now}):
        place = {"this_campaign": campaign, "at_number": number}
        if value is None:
            back.append({**place, "this_step": step})
        else:
            let_stand(raw, {**place, "at_step": step})
    if back:
        raw.run(_EXPIRE, *back)


def give_up_unanswerable(connection: Connection, campaign: int, step: int, per_cell: int) -> None:
    """Close as empty the open slots that no admitted worker may take."""
    where = {"this_campaign": campaign, "this_step": step, "per_cell": per_cell}
    connection.execute(GIVE_UP, where)
