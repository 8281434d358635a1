"""Handing out slots: who is admitted, and who gets which question next, in one transaction."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from askfew.campaigns.db.database import RawTransaction
from askfew.campaigns.db.queries import workers
from askfew.campaigns.db.queries.handout import (
    ANY,
    ITEMS_AT_ONCE,
    NEW,
    Lease,
    OpenSlot,
    Taker,
    expire,
    lend,
    lend_first,
    open_slots,
    open_slots_of,
    overdue_slots,
    rank_and_size,
    remember_role,
)
from askfew.campaigns.db.queries.leases import let_stand, release_all
from askfew.campaigns.db.queries.workers import Arrival
from askfew.campaigns.slots.lease import LeaseId, Paces
from askfew.errors import NotAdmitted

__all__ = ["HandOut", "admit", "expire_leases", "revoke"]

_GOLDEN = (5**0.5 - 1) / 2
"""The golden ratio. The fractional parts of its multiples are spread evenly over 0 to 1 for any
number of them, so workers' starting places stay apart without knowing how many will come."""
_SMALL = 24
"""A step with at most this many slots is handed out from the front: it is too small for runs of
one question. A plain choice; only the order of the slots depends on it."""
_REMEMBERED = 60.0
"""Seconds for which a fruitless stage is skipped. A plain choice: slots that come back meanwhile
are still found by the later stages, only not preferred."""

_LOOKED_AT = 2000
"""The most open slots that one statement returns to fill calls with several questions about an
item. A round number."""


@dataclass
class HandOut:
    """Hands out one campaign's slots.

    Every worker starts at a different place in a step and goes on from there. So each gets the
    same question for a run of items, while others are at other questions.

    It remembers for a while which stages found nothing for a worker. Without that, every request
    would scan all open slots to find out again that no new item is left.
    """

    campaign: int
    per_cell: int
    paces: Paces
    _fruitless: dict[str, tuple[int, int, float]] = field(default_factory=dict)
    """By worker: the step, the stage to begin with there, and until when."""
    _places: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By worker: the step, and the number of the slot that they got last."""

    def lend(
        self,
        raw: RawTransaction,
        step: int,
        worker: str,
        n: int,
        role: bool | None,
        now: float,
        *,
        per_item: int = 1,
    ) -> list[Lease]:
        """Lease up to n open slots of the step to the worker, who may have a ``role`` in it.

        With ``per_item`` above 1, up to that many questions about each item. The caller holds the
        lock on the worker's row, so two requests by one worker cannot both pass the limit per cell.
        """
        until = now + self.paces.lease(worker, n)
        place = self._place(raw, step, worker)
        taker = Taker(self.campaign, step, worker, self.per_cell, until, place)
        if n == 1:
            # People ask for one at a time: this is the frequent case, and takes one statement.
            leases, reference = self._lend_first(raw, taker, role, now)
        else:
            # Fewer items than questions, because each item gets several; rounded up.
            items = min(-(-n // per_item), ITEMS_AT_ONCE) if per_item > 1 else n
            picked = self._pick(raw, taker, items, role, now)
            if per_item > 1:
                self._add_more_of_each(raw, taker, picked, n, per_item)
            leases, reference = lend(raw, taker, picked), bool(picked and picked[0].reference)
        if leases:
            self.paces.handed(worker, now, len(leases))
            # The next request goes on from here, so that the question stays the same for a run.
            last = LeaseId.parse(leases[-1].id)
            assert last is not None
            self._places[worker] = step, last.slot
        if leases and role is None:
            remember_role(raw, taker, reference=reference)
        return leases

    def _place(self, raw: RawTransaction, step: int, worker: str) -> int:
        """The number of the slot from which the worker's search starts.

        Another process may have handed out slots to this worker before. It started at the same
        place, so the first open slot from there on is where the worker is.
        """
        at, number = self._places.get(worker, (-1, 0))
        if at == step:
            return number
        rank, size = rank_and_size(raw, self.campaign, step, worker)
        return 0 if size <= _SMALL else int(size * (rank * _GOLDEN % 1))

    def _lend_first(
        self, raw: RawTransaction, taker: Taker, role: bool | None, now: float
    ) -> tuple[list[Lease], bool]:
        """Lease one slot; also whether it is about a reference."""
        begin = self._first_stage(taker, now)
        # Without a role yet, the stage that prefers slots of the worker's role has no meaning.
        for stage in range(begin if role is not None else max(begin, NEW), ANY + 1):
            found = lend_first(raw, taker, stage, role)
            if found is not None:
                lease, reference = found
                return [lease], reference
            self._note_fruitless(taker, stage, now)
        return [], False

    def _pick(
        self, raw: RawTransaction, taker: Taker, n: int, role: bool | None, now: float
    ) -> list[OpenSlot]:
        """Up to n slots for the worker, stage by stage."""
        begin = self._first_stage(taker, now)
        if role is None and begin < ANY:
            # The first slot decides the role, and the rest of this call keeps to it.
            first = open_slots(raw, taker, NEW, None, 1)
            role = bool(first[0].reference) if first else None
        picked: list[OpenSlot] = []
        for stage in range(begin if role is not None else ANY, ANY + 1):
            # More than n: several may be about one item, and those picked before are found again.
            found = open_slots(raw, taker, stage, role, 2 * n + len(picked))
            if not found:
                self._note_fruitless(taker, stage, now)
            self._add(picked, found, new_items=stage < ANY)
            if len(picked) >= n:
                break
        return picked[:n]

    def _add_more_of_each(
        self, raw: RawTransaction, taker: Taker, picked: list[OpenSlot], n: int, per_item: int
    ) -> None:
        """Add other questions about the items that were picked."""
        items = list(dict.fromkeys(each.item for each in picked))
        found = open_slots_of(raw, taker, items, _LOOKED_AT) if items else []
        had = Counter(each.item for each in picked)
        numbers, cells = {each.number for each in picked}, {_cell(each) for each in picked}
        for each in found:
            # Not the same cell twice in one call, even where a worker may have it several times.
            new = each.number not in numbers and _cell(each) not in cells
            if new and had[each.item] < per_item and len(picked) < n:
                picked.append(each)
                cells.add(_cell(each))
                had[each.item] += 1

    def _first_stage(self, taker: Taker, now: float) -> int:
        step, stage, until = self._fruitless.get(taker.worker, (-1, 0, now))
        return stage if step == taker.step and now < until else 0

    def _note_fruitless(self, taker: Taker, stage: int, now: float) -> None:
        if stage < ANY:
            self._fruitless[taker.worker] = (taker.step, stage + 1, now + _REMEMBERED)

    def _add(self, picked: list[OpenSlot], found: list[OpenSlot], *, new_items: bool) -> None:
        """Add the found slots, but none whose item or cell the worker would then have too often.

        The statement saw only what the worker held before this call, so the slots picked in this
        call are counted here.
        """
        numbers = {each.number for each in picked}
        items = {each.item for each in picked}
        cells = Counter(_cell(each) for each in picked)
        for each in found:
            cell = _cell(each)
            if each.number in numbers or (new_items and each.item in items):
                continue
            if each.times + cells[cell] < self.per_cell:
                picked.append(each)
                items.add(each.item)
                cells[cell] += 1


def _cell(slot: OpenSlot) -> tuple[int, int]:
    return slot.item, slot.question


def expire_leases(raw: RawTransaction, campaign: int, now: float) -> None:
    """Open the slots whose lease ran out; the late holder keeps their lease's id.

    Where an answer was taken back and no new one came, the old one stands.
    """
    back = []
    for step, number, redoing in overdue_slots(raw, campaign, now):
        if redoing:
            let_stand(raw, campaign, step, number)
        else:
            back.append((step, number))
    expire(raw, campaign, back)


_SEEN_AGAIN = 30.0
"""Seconds after which ``seen`` is written again: not with every question, and well within the
two minutes (``workers.ACTIVE_SECONDS``) after which a worker counts as gone."""


def admit(raw: RawTransaction, campaign: int, worker: str, now: float) -> Arrival:
    """Let the worker in, and lock their row: of two requests by one worker, one waits."""
    arrival = workers.arrive(raw, campaign, worker, now)
    if arrival.revoked is not None:
        raise NotAdmitted(
            "a worker must be admitted", f"{worker!r}, who was revoked", "ask the owner"
        )
    if now > arrival.seen + _SEEN_AGAIN:
        workers.see(raw, campaign, worker, now)
    return arrival


def revoke(raw: RawTransaction, campaign: int, worker: str, now: float) -> None:
    """Stop asking the worker, and open the slots they hold to others.

    Their answers count, those of the open step too. If revoking took answers out, an owner who had
    seen them could choose the data.
    """
    workers.revoke(raw, campaign, worker, now)
    release_all(raw, campaign, worker)
