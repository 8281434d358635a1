"""The claim of one panel: labels from many questions, no cell asked more often than the cap.

A *panel* of at most twelve items is fixed before the first answer that counts. Every partition of
it into at most K blocks is a hypothesis, tested by the product over its blocks and questions of the
many-sample evidence (``askfew.evidence.samples``). A label of a member can only be wrong if the
true partition was excluded. That has probability at most the panel's part of delta, however many
partitions there are: no union bound is needed.
What all partitions that are left agree on is certified.

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
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askfew.algorithms.frugal.claim.ledger import Ledger, refused
from askfew.algorithms.frugal.claim.partitions import Partitions, places
from askfew.algorithms.frugal.claim.pooled import part_of_delta
from askfew.evidence import log_evidence, nine_digits
from askfew.evidence.samples import samples_evidence
from askfew.plans import Plan
from askfew.records import Batch, Floats, Ints, Problem, Snapshot, Tally
from askfew.wording import counted

__all__ = ["ATTEMPTS", "MOST_GROUPS", "Panel", "PanelClaim"]

MOST_GROUPS = 10
"""Most groups: with more, a panel of ten items could not have one item of each."""
ATTEMPTS = 3
"""Most panels that are tried. The third has a hundredth of delta and needs 4.5 nats more than the
first."""
_PANEL_PART = 0.3
"""The panel's share of delta; the rest is for the other items. Only .15 and .3 were tried, with one
answer per cell: .58 and .62 of the items were certified."""
_FEW = 64
"""Labels are looked for once at most this many partitions are left. A plain choice: looking earlier
takes time, looking later only delays labels."""

Mask = NDArray[np.bool_]


class PanelClaim:
    """Explore, fix a panel, certify by it; if that fails, again with the next part of delta."""

    def __init__(self, ledger: Ledger, groups: int, delta: float) -> None:
        self.ledger, self.groups, self.delta = ledger, groups, delta
        self.needed = math.log(ledger.problem.items / delta)
        """Roughly the nats that a label will need; for the guess only."""
        self.attempt = 0
        self.panel: Panel | None = None
        """The panel of this attempt; None while exploring."""
        self.hopeless: Plan | None = None
        """The plan that ended the run because the questions carry too little, if one did."""
        self.over = False
        self._exploring: Batch | None = None

    def ask(self, plan: Plan) -> Batch | None:
        """The Batch of a plan, or None if it asks nothing; a plan that is not sound is refused."""
        if self.panel is None:
            return self._explore(plan)
        if plan.kind == "certify":
            return self.panel.ask(plan)
        self._leave(again=plan.kind == "again" and not (self.panel.labels >= 0).any())
        return None

    def _explore(self, plan: Plan) -> Batch | None:
        """Carry out a plan to explore (its answers never count), to fix a panel, or to give up."""
        if plan.kind == "explore":
            self._exploring = self.ledger.explore(plan)
            return self._exploring
        if plan.kind == "panel":
            self.attempt += 1
            members = plan.ints("members").tolist()
            self.panel = Panel(self.ledger, self.groups, self.delta, self.attempt, members)
        elif plan.kind == "hopeless":
            self.hopeless, self.over = plan, True
        else:
            raise refused("a plan must explore, name a panel, or see no hope", repr(plan.kind))
        return None

    def settle(self, tally: Tally) -> None:
        """Take the answers in; they count if there is a panel."""
        if self.panel is None:
            assert self._exploring is not None, "settle answers an open Batch"
            self.ledger.record(self._exploring, tally)
            return
        self.panel.settle(tally)
        if self.panel.broken:
            self._leave(again=True)
        elif (self.panel.labels >= 0).all():
            self.over = True

    def _leave(self, *, again: bool) -> None:
        if again and self.attempt < ATTEMPTS:
            self.panel = None
        else:
            self.over = True


@dataclass(frozen=True, eq=False)
class _Asked:
    """What was fixed when a Batch was made."""

    batch: Batch
    columns: Ints
    """Columns of the deck that the Batch asks, sorted."""
    levels: Floats
    """Guessed means (groups x questions of the Batch)."""
    items: Ints
    chances: Floats
    """Guessed chances of each group (items x groups)."""
    labels: Ints
    """Labels of these items when they were asked; outside the panel, labelled items are references.
    """


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
        part = delta * part_of_delta(attempt - 1)
        self.panel_delta = part * _PANEL_PART if others else part
        self.item_delta = part - self.panel_delta if others else 0.0
        self.panel_needed = math.log(1 / self.panel_delta)
        self.item_needed = math.log(others / self.item_delta) if others else 0.0
        self.partitions = Partitions(len(self.members), groups, self.panel_needed)
        self.subsets: Ints = np.unique(self.partitions.all)
        """Blocks of the partitions left, as bits."""
        self._against = np.zeros((0, len(self.subsets)))
        """Nats against "like the members of this subset", for items that were asked (items x
        subsets)."""
        self._place: Ints = np.full(n, -1)
        """The row of each item in ``_against``, -1 if it has none."""
        self.excluded = np.zeros((n, groups), dtype=bool)
        self.evidence = np.zeros((n, groups))
        """Nats against each group, of the items outside the panel."""
        self.anchors: list[int] = []
        """Members that stand for the groups, as places in the panel."""
        self.labels: Ints = np.full(n, -1)
        self.used = np.zeros(len(ledger.deck), dtype=np.int64)
        """Answers that counted, by question."""
        self._asked: _Asked | None = None

    @property
    def broken(self) -> bool:
        """Whether every partition is excluded: a member fits no group, or a rare accident."""
        return not len(self.partitions.left)

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
            raise refused("chances of groups must be probabilities", f"from {chances.min():g}")
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
        self.partitions.sift()
        kept = np.isin(self.subsets, self.partitions.left)
        self.subsets, self._against = self.subsets[kept], self._against[:, kept]

    def _weigh_panel(self, asked: _Asked, counts: Floats, sums: Floats) -> None:
        place, here = self._members_in(asked)
        if not here.any():
            return
        inside, guesses = self.partitions.inside, asked.chances[place] @ asked.levels
        totals, answers = np.where(here, sums[place], 0.0), np.where(here, counts[place], 0.0)
        if self.anchors:  # certified items are with their group's anchor
            mine = np.arange(self.groups)[:, np.newaxis] == asked.labels
            mine &= ~np.isin(asked.items, self.members)
            inside = np.concatenate([inside, inside[:, self.anchors]], axis=1)
            guesses = np.concatenate([guesses, asked.levels])
            totals = np.concatenate([totals, mine @ sums])
            answers = np.concatenate([answers, mine @ counts])
        evidence = samples_evidence(self.problem.kind, inside, guesses, totals, answers)
        self.partitions.weigh(evidence)

    def _members_in(self, asked: _Asked) -> tuple[Ints, Mask]:
        """The row of each member among the items asked (any row if absent), and who was asked."""
        place = np.searchsorted(asked.items, self.members).clip(max=len(asked.items) - 1)
        return place, (asked.items[place] == self.members)[:, np.newaxis]

    def _weigh_items(self, asked: _Asked, counts: Floats, sums: Floats) -> None:
        """Items outside the panel without a label, against every subset that is left."""
        own = ~np.isin(asked.items, self.members) & (asked.labels < 0)
        if not own.any():
            return
        whose, weight, total = self._references(asked, counts, sums)
        # The bet is that the item is in another group than the subset, as likely as the plan says.
        # The plan was fixed before the answers came, so any bet is valid.
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
        """The references of each subset.

        Returns the group that the subset probably is (subsets x groups), and the counts and sums of
        its references' answers (subsets x questions). A certified item is a reference for the
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

    def _label(self) -> None:
        """Label what all partitions that are left agree on, then the items outside the panel."""
        left = self.partitions.left
        if not 1 <= len(left) <= _FEW:
            if self.broken:
                self.labels[:] = -1
            return
        named = self._named(left)
        if named is None:
            return
        # partitions x groups x members
        within = np.asarray((named[:, :, np.newaxis] & self.partitions.bits) > 0)
        agreed = np.asarray(within.all(axis=0))
        sure = agreed.any(axis=0)
        self.labels[self.members[sure]] = agreed[:, sure].argmax(axis=0)
        self._exclude(named)

    def _named(self, left: Ints) -> Ints | None:
        """The blocks of the partitions left, in the order of the groups; None if that is not clear.

        The order comes from K anchors: members that all partitions left put into different blocks.
        """
        block = self.partitions.block_of(left)
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
        """The members' labels, or their groups in the likeliest partition if none has a label.

        Labels come first so that a group keeps its number.
        """
        known = self.labels[self.members]
        best = block[int(np.argmin(nine_digits(self.partitions.against(left))))]
        if (known >= 0).any():
            return known
        _, first, group = np.unique(best, return_index=True, return_inverse=True)
        return np.asarray(np.argsort(np.argsort(first))[group])

    def _exclude(self, named: Ints) -> None:
        """Exclude items from groups, where every partition left agrees."""
        # The true partition is among those left, so the least evidence over them is at most the
        # evidence against the item's one true null.
        items = np.flatnonzero((self._place >= 0) & (self.labels < 0))
        against = self._against[self._place[items]]
        column = np.searchsorted(self.subsets, named)
        least = np.stack([against[:, each].min(axis=1) for each in column.T], axis=1)
        still = ~self.excluded[items]  # an exclusion stays, with the evidence it was made by
        self.evidence[items] = np.where(still, least, self.evidence[items])
        self.excluded[items] |= nine_digits(least) >= self.item_needed
        only = self.excluded[items].sum(axis=1) == self.groups - 1
        self.labels[items[only]] = np.argmin(self.excluded[items[only]], axis=1)

    def known(self) -> Snapshot:
        """The snapshot for people."""
        best = np.sort(self.evidence, axis=1)[:, 1]
        return Snapshot("certify", self.labels.copy(), best, self.item_needed)

    def for_labels(self) -> Floats:
        """The nats for each item's label: the least evidence against any other group."""
        best = np.sort(self.evidence, axis=1)[:, 1]
        if not self.anchors:
            best[self.members] = 0.0
            return np.asarray(best)
        against = self.partitions.against(self.partitions.all)
        block = self.partitions.block_of(self.partitions.all)
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
        raise refused(f"a panel must be {groups} to {most} different items", f"{len(chosen)}")
    return np.sort(chosen)
