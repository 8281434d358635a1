"""Labels from many questions, no cell asked more often than the cap: what is claimed, and why.

A *panel* of at most twelve items is fixed before the first answer that counts. Every partition of
it into at most K blocks is a hypothesis, tested by the product over its blocks and questions of the
many-sample evidence (``askfew.evidence.samples``). Wrong is only what contradicts the true
partition, and that one is excluded with probability at most the panel's part of delta: no union is
due. What all partitions that are left agree on is certified.

Every other item is tested against the panel: for each partition T that is left and each block B of
it, "the item belongs to B" by two-sample blocks against the members in B. The item has one true
null, (true T, its own block), so ``log(items outside the panel / delta)`` is enough; an item is
excluded from a group if it is for every T that is left, the true one among them. Certified items
serve as references from the next Batch on: the first wrong one already needs its true null to have
been crossed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from askfew.errors import InvalidPlan
from askfew.evidence import log_evidence, nine_digits
from askfew.evidence.samples import samples_evidence
from askfew.plans import Plan
from askfew.records import Batch, Floats, Ints, Problem, Snapshot, Tally
from askfew.wording import counted

__all__ = ["ATTEMPTS", "MOST_GROUPS", "Ledger", "Panel", "part_of_delta", "places"]

MOST_GROUPS = 10
_MOST_PLACES = 12
_MOST_PARTITIONS = 120_000
"""Partitions of a panel at most: twelve items for two or three groups, ten from five on."""
_PANEL_PART = 0.3
"""Of delta, for the panel; the rest is for the items. Only .15 and .3 were tried, with one answer
per cell: .58 and .62 of the items certified."""
_FEW = 64
"""Partitions left at which labels are looked for: more would only take time."""
_STARTS = {0: 0.5, 2: 0.3, 5: 0.2}
"""Batches from which the panel's evidence is counted, and their weights. The average of e-processes
is one; it forgets what was lost while a member was presumed on the wrong side, for one to two nats.
"""
ATTEMPTS = 3

Mask = NDArray[np.bool_]


def part_of_delta(attempt: int) -> float:
    """The share of delta of the attempt, from 1: .9, .08, .01, .005 and so on, at most 1 in all."""
    return (0.9, 0.08)[attempt - 1] if attempt <= 2 else 0.02 / 2 ** (attempt - 2)


def places(groups: int) -> int:
    """How many items a panel may have.

    >>> [places(groups) for groups in (2, 3, 4, 5, 10)]
    [12, 12, 10, 10, 10]
    """
    most = groups
    while most < _MOST_PLACES and _how_many(most + 1, groups) <= _MOST_PARTITIONS:
        most += 1
    return most


@dataclass(eq=False)
class Ledger:
    """What was answered, cell by cell, and the cap; only the questions of the deck are asked."""

    problem: Problem
    per_cell: int
    deck: Ints
    """Questions that are considered, sorted: all, unless the problem is very large."""
    counts: Ints = field(init=False)
    sums: Floats = field(init=False)
    missed: Ints = field(init=False)
    """How many answers were asked for in vain."""

    def __post_init__(self) -> None:
        shape = self.problem.items, len(self.deck)
        self.counts = np.zeros(shape, dtype=np.int64)
        self.missed = np.zeros(shape, dtype=np.int64)
        self.sums = np.zeros(shape)

    @property
    def answers(self) -> int:
        """How many came."""
        return int(self.counts.sum())

    @property
    def room(self) -> Ints:
        """How many more answers each cell may be asked for (items x deck)."""
        return self.per_cell - self.counts

    def rows(self, plan: Plan) -> tuple[Ints, Ints, Ints]:
        """Items, columns of the deck and repeats of a plan, or InvalidPlan."""
        items, questions, repeats = (plan.ints(each) for each in ("items", "questions", "repeats"))
        if not (items.shape == questions.shape == repeats.shape) or not len(items):
            raise _bad("a plan must ask something of somebody", f"{len(items)} items")
        if items.min() < 0 or items.max() >= self.problem.items or repeats.min() < 1:
            raise _bad("a plan must ask items of the problem at least once", "others")
        if not np.isin(questions, self.deck).all():
            raise _bad("a plan must ask questions of the deck", "others")
        columns = np.searchsorted(self.deck, questions)
        if len(np.unique(items * len(self.deck) + columns)) < len(items):
            raise _bad("a plan must name a cell once", "a cell named twice")
        if (repeats > self.room[items, columns]).any():
            raise _bad(f"no cell may be asked more than {self.per_cell} times", "a plan that does")
        return items, columns, repeats

    def explore(self, plan: Plan) -> Batch:
        """The Batch of a plan whose answers will never count."""
        items, columns, repeats = self.rows(plan)
        whom = counted(len(np.unique(items)), "item")
        what = counted(len(np.unique(columns)), "question")
        known = Snapshot("explore", np.full(self.problem.items, -1))
        return Batch(items, self.deck[columns], repeats, f"explore: {whom} on {what}", known)

    def record(self, batch: Batch, tally: Tally) -> None:
        """Take the answers in."""
        columns = np.searchsorted(self.deck, batch.questions)
        self.counts[batch.items, columns] += tally.counts
        self.sums[batch.items, columns] += tally.sums
        self.missed[batch.items, columns] += batch.repeats - tally.counts


@dataclass(frozen=True, eq=False)
class _Asked:
    """What was fixed when a Batch was made."""

    batch: Batch
    columns: Ints
    """Of the deck, one a question of the Batch, sorted."""
    levels: Floats
    """Guessed means (groups x questions of the Batch)."""
    items: Ints
    chances: Floats
    """Guessed chances of each group (items x groups)."""
    labels: Ints
    """Of these items, when they were asked: outside the panel, who has one is a reference."""


class Panel:
    """Evidence and labels of all items, by one panel, from one part of delta."""

    def __init__(
        self, ledger: Ledger, groups: int, delta: float, attempt: int, members: Sequence[int]
    ) -> None:
        self.ledger, self.groups, self.attempt = ledger, groups, attempt
        self.problem = ledger.problem
        self.members = _checked_members(members, self.problem, groups)
        n = self.problem.items
        others = n - len(self.members)
        part = delta * part_of_delta(attempt)
        self.panel_delta = part * _PANEL_PART if others else part
        self.item_delta = part - self.panel_delta if others else 0.0
        self.panel_needed = math.log(1 / self.panel_delta)
        self.item_needed = math.log(others / self.item_delta) if others else 0.0
        self.partitions = _partitions(len(self.members), groups)
        self._inside = _subsets(len(self.members))
        self._blocks = np.zeros((len(_STARTS), len(self._inside)))
        """Nats against "all of this subset are alike", counted from each start, by subset."""
        self._batches = 0
        self.subsets: Ints = np.unique(self.partitions)
        """Blocks of the partitions left, as bits."""
        self._against = np.zeros((0, len(self.subsets)))
        """Nats against "alike with this subset", of the items that were asked (items x subsets)."""
        self._place: Ints = np.full(n, -1)
        """Where an item stands in there."""
        self.left = np.ones(len(self.partitions), dtype=bool)
        """Partitions that are not excluded."""
        self.excluded = np.zeros((n, groups), dtype=bool)
        self.evidence = np.zeros((n, groups))
        """Nats against each group, of the items outside the panel."""
        self.anchors: list[int] = []
        """Places of members that stand for the groups."""
        self.labels: Ints = np.full(n, -1)
        self.used = np.zeros(len(ledger.deck), dtype=np.int64)
        """Answers that counted, by question."""
        self._asked: _Asked | None = None

    @property
    def broken(self) -> bool:
        """Whether every partition is excluded: a member fits no group, or a rare accident."""
        return not self.left.any()

    @property
    def misfits(self) -> Ints:
        """Items that are excluded from every group."""
        return np.flatnonzero(self.excluded.all(axis=1))

    # What is asked.

    def ask(self, plan: Plan) -> Batch:
        """The Batch of a plan; what the plan guesses is frozen with it."""
        items, columns, repeats = self.ledger.rows(plan)
        asked, who = np.unique(columns), np.unique(items)
        k = self.groups
        levels = plan.floats("levels", k * len(asked)).reshape(k, len(asked))
        chances = plan.floats("chances", len(who) * k).reshape(len(who), k)
        if (chances < 0).any() or (abs(chances.sum(axis=1) - 1) > 1e-6).any():
            raise _bad("chances of groups must be probabilities", f"from {chances.min():g}")
        whom, what = counted(len(who), "item"), counted(len(asked), "question")
        why = f"certify: {whom} on {what}"
        batch = Batch(items, self.ledger.deck[columns], repeats, why, self.known())
        self._asked = _Asked(batch, asked, levels, who, chances, self.labels[who])
        return batch

    # What the answers say.

    def settle(self, tally: Tally) -> None:
        """Count the answers of the last Batch, and label what may be labelled."""
        asked = self._asked
        assert asked is not None, "settle answers an open Batch"
        self._asked = None
        self.ledger.record(asked.batch, tally)
        shape = len(asked.items), len(asked.columns)
        row = np.searchsorted(asked.items, asked.batch.items)
        column = np.searchsorted(self.ledger.deck[asked.columns], asked.batch.questions)
        counts, sums = np.zeros(shape), np.zeros(shape)
        counts[row, column], sums[row, column] = tally.counts, tally.sums
        self.used[asked.columns] += counts.sum(axis=0).astype(np.int64)
        self._weigh_panel(asked, counts, sums)
        self._weigh_items(asked, counts, sums)
        self._sift()
        self._label()

    def _sift(self) -> None:
        """Drop partitions that are excluded, and blocks that none of the others has."""
        left = self.partitions[self.left]
        self.left[self.left] = nine_digits(self._against_partitions(left)) < self.panel_needed
        kept = np.isin(self.subsets, self.partitions[self.left])
        self.subsets, self._against = self.subsets[kept], self._against[:, kept]

    def _weigh_panel(self, asked: _Asked, counts: Floats, sums: Floats) -> None:
        place, here = self._members_in(asked)
        if not here.any():
            return
        inside, guesses = self._inside, asked.chances[place] @ asked.levels
        totals, answers = np.where(here, sums[place], 0.0), np.where(here, counts[place], 0.0)
        if self.anchors:  # certified items are with their group's anchor
            mine = np.arange(self.groups)[:, np.newaxis] == asked.labels
            mine &= ~np.isin(asked.items, self.members)
            inside = np.concatenate([inside, inside[:, self.anchors]], axis=1)
            guesses = np.concatenate([guesses, asked.levels])
            totals = np.concatenate([totals, mine @ sums])
            answers = np.concatenate([answers, mine @ counts])
        evidence = samples_evidence(self.problem.kind, inside, guesses, totals, answers)
        self._blocks[np.array(list(_STARTS)) <= self._batches] += evidence
        self._batches += 1

    def _members_in(self, asked: _Asked) -> tuple[Ints, Mask]:
        """Where the members stand among the items asked (some row if nowhere), and who is there."""
        place = np.searchsorted(asked.items, self.members).clip(max=len(asked.items) - 1)
        return place, (asked.items[place] == self.members)[:, np.newaxis]

    def _weigh_items(self, asked: _Asked, counts: Floats, sums: Floats) -> None:
        """Items outside the panel without a label, against every subset that is left."""
        own = ~np.isin(asked.items, self.members) & (asked.labels < 0)
        if not own.any():
            return
        whose, weight, total = self._references(asked, counts, sums)
        # Betting that an item is in a group that the subset is not, as likely as the plan thinks.
        other = 1 - np.eye(self.groups)[whose.argmax(axis=1)]
        rest = (asked.chances[own] + 1e-6)[:, np.newaxis] * other
        guess = rest @ asked.levels / rest.sum(axis=2, keepdims=True)  # items x subsets x questions
        evidence = log_evidence(
            self.problem.kind,
            guess,
            whose @ asked.levels,
            sums[own][:, np.newaxis],
            counts[own][:, np.newaxis],
            total,
            weight,
        ).sum(axis=2)
        self._against_of(asked.items[own])
        self._against[self._place[asked.items[own]]] += evidence

    def _references(
        self, asked: _Asked, counts: Floats, sums: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Of each subset: which group it is likely to be if it is one (subsets x groups), its
        references' answers and their sums (subsets x questions). A certified item refers for the
        subsets that contain its group's anchor.
        """
        place, here = self._members_in(asked)
        inside = ((self.subsets[:, np.newaxis] >> np.arange(len(self.members))) & 1) * here.T
        inside = inside.astype(np.float64)
        odds, weight, total = (inside @ each[place] for each in (asked.chances, counts, sums))
        outside = ~np.isin(asked.items, self.members)
        for group, anchor in enumerate(self.anchors):
            mine = outside & (asked.labels == group)
            with_anchor = (self.subsets >> anchor) & 1 == 1
            odds[with_anchor] += asked.chances[mine].sum(axis=0)
            weight[with_anchor] += counts[mine].sum(axis=0)
            total[with_anchor] += sums[mine].sum(axis=0)
        return odds / np.maximum(odds.sum(axis=1, keepdims=True), 1e-9), weight, total

    def _against_of(self, items: Ints) -> None:
        """Make room for items that are asked for the first time."""
        new = items[self._place[items] < 0]
        self._place[new] = len(self._against) + np.arange(len(new))
        more = np.zeros((len(new), len(self.subsets)))
        self._against = np.concatenate([self._against, more])

    def _against_partitions(self, partitions: Ints) -> Floats:
        """Nats against each partition: the average over the starts."""
        total = np.log(list(_STARTS.values()))[:, np.newaxis] + sum(
            self._blocks[:, blocks] for blocks in partitions.T
        )
        highest = total.max(axis=0)
        return np.asarray(highest + np.log(np.exp(total - highest).sum(axis=0)))

    def _label(self) -> None:
        """What all partitions that are left agree on, then the items outside the panel."""
        left = self.partitions[self.left]
        if not 1 <= len(left) <= _FEW:
            if self.broken:
                self.labels[:] = -1
            return
        named = self._named(left)
        if named is None:
            return
        bits = 1 << np.arange(len(self.members))
        within = np.asarray((named[:, :, np.newaxis] & bits) > 0)  # partitions x groups x members
        agreed = np.asarray(within.all(axis=0))
        sure = agreed.any(axis=0)
        self.labels[self.members[sure]] = agreed[:, sure].argmax(axis=0)
        self._exclude(named)

    def _named(self, left: Ints) -> Ints | None:
        """Blocks of the partitions left in the order of K anchors: members that all of them put
        into different blocks; None if there are none.
        """
        bits = 1 << np.arange(len(self.members))
        block = ((left[:, :, np.newaxis] & bits) > 0).argmax(axis=1)  # partitions x members
        apart = (block[:, :, np.newaxis] != block[:, np.newaxis]).all(axis=0)
        anchors: list[int] = []
        for group in range(self.groups):
            mine = np.flatnonzero(self._first_names(left, block) == group)
            anchor = next((int(m) for m in mine if apart[m, anchors].all()), None)
            if anchor is None:
                return None
            anchors.append(anchor)
        self.anchors = anchors
        return np.asarray(np.take_along_axis(left, block[:, anchors], axis=1))

    def _first_names(self, left: Ints, block: Ints) -> Ints:
        """Groups of the members in the likeliest partition, those with a label first: a group
        keeps its number.
        """
        known = self.labels[self.members]
        best = block[int(np.argmin(nine_digits(self._against_partitions(left))))]
        if (known >= 0).any():
            return known
        _, first, group = np.unique(best, return_index=True, return_inverse=True)
        return np.asarray(np.argsort(np.argsort(first))[group])

    def _exclude(self, named: Ints) -> None:
        """Each item from each group, if every partition left agrees."""
        items = np.flatnonzero((self._place >= 0) & (self.labels < 0))
        against = self._against[self._place[items]]
        column = np.searchsorted(self.subsets, named)
        least = np.stack([against[:, each].min(axis=1) for each in column.T], axis=1)
        still = ~self.excluded[items]  # what is excluded stays so, with what excluded it
        self.evidence[items] = np.where(still, least, self.evidence[items])
        self.excluded[items] |= nine_digits(least) >= self.item_needed
        only = self.excluded[items].sum(axis=1) == self.groups - 1
        self.labels[items[only]] = np.argmin(self.excluded[items[only]], axis=1)

    def known(self) -> Snapshot:
        """The snapshot for people."""
        best = np.sort(self.evidence, axis=1)[:, 1]
        return Snapshot("certify", self.labels.copy(), best, self.item_needed)

    def for_labels(self) -> Floats:
        """The nats that speak for each item's label: the least against anything else."""
        best = np.sort(self.evidence, axis=1)[:, 1]
        if not self.anchors:
            best[self.members] = 0.0
            return np.asarray(best)
        against = self._against_partitions(self.partitions)
        bits = 1 << np.arange(len(self.members))
        block = ((self.partitions[..., np.newaxis] & bits) > 0).argmax(axis=1)
        for place, label in enumerate(self.labels[self.members].tolist()):
            elsewhere = block[:, place] != block[:, self.anchors[label]]
            for group, anchor in enumerate(self.anchors):
                if group != label:
                    elsewhere |= block[:, anchor] == block[:, self.anchors[label]]
            best[self.members[place]] = against[elsewhere].min() if label >= 0 else 0.0
        return np.asarray(best)


def _checked_members(members: Sequence[int], problem: Problem, groups: int) -> Ints:
    chosen = np.asarray(members, dtype=np.int64)
    most = min(places(groups), problem.items)
    inside = len(chosen) and chosen.min() >= 0 and chosen.max() < problem.items
    if not inside or not groups <= len(chosen) <= most or len(np.unique(chosen)) < len(chosen):
        raise _bad(f"a panel must be {groups} to {most} different items", f"{len(chosen)}")
    return np.sort(chosen)


def _bad(expected: str, got: str) -> InvalidPlan:
    return InvalidPlan(expected, got, "mend the guess that made it")


def _subsets(size: int) -> Floats:
    """Every subset as a row of zeros and ones; the row's number has its bits."""
    return ((np.arange(1 << size)[:, np.newaxis] >> np.arange(size)) & 1).astype(np.float64)


def _how_many(size: int, blocks: int) -> int:
    """Partitions of so many items into at most so many blocks."""
    ways = [1] + [0] * blocks
    for _ in range(size):
        ways = [0] + [ways[b - 1] + b * ways[b] for b in range(1, blocks + 1)]
    return sum(ways)


def _partitions(size: int, blocks: int) -> Ints:
    """Every partition into at most so many blocks (partitions x blocks), a block as bits.

    >>> _partitions(3, 2)
    array([[7, 0],
           [5, 2],
           [3, 4],
           [1, 6]])
    """
    masks = np.zeros((1, blocks), dtype=np.int64)
    for item in range(size):
        parts = []
        used = (masks > 0).sum(axis=1)
        for block in range(blocks):
            grown = masks[used >= block].copy()
            grown[:, block] |= 1 << item
            parts.append(grown)
        masks = np.concatenate(parts)
    return masks
