"""The phases that find all groups and exclude every item from all groups but one.

SEARCH     the first pair (``pairs``)
HUNT       questions that tell the groups found so far apart, by how questions look (``beliefs``)
CLASSIFY   find the group that each item fits. An item that fits no group found so far is bet on by
           its own answers, so that it soon represents the next group (``step``)
SCREEN     every item fits and a group is missing: ask items known questions that are new to them
PROBE      the same, with questions that have not told any groups apart yet
LABEL      all groups are found: ask every item the questions that exclude it soonest (``step``)
"""

from __future__ import annotations

import math

import numpy as np

from askfew.algorithms.frugal.claim.exclusion import REASONS, Exclusion
from askfew.algorithms.frugal.guess.exclusion.beliefs import KNOWN, Beliefs
from askfew.algorithms.frugal.guess.exclusion.history import History
from askfew.algorithms.frugal.guess.exclusion.pairs import PairSearch
from askfew.algorithms.frugal.guess.exclusion.step import LabelStep, exclude_plan
from askfew.plans import Plan
from askfew.records import Batch, Floats, Ints, Tally

__all__ = ["Chooser"]

# Where no other measurement is named: values found by trial. What they cost is in
# benchmarks/groups.md, and tests/algorithms/frugal/test_costs.py notices a dearer change.
_HOPE = 0.03
"""A question is not hunted any more below this probability to tell the groups apart."""
_DEEP = 24
"""Most answers of a representative to a question that is still unclear."""
_HUNT = 0.5
"""Hunting may cost at most this share of what labelling is expected to cost."""
_SCREEN = 0.3
"""The share of the items that one screening asks."""
_PROBE = 0.04
"""Answers of a probe as a share of those so far."""
_AUTO = 1.0
"""If the number of groups is not told, the search for more ends when it has cost this multiple of
all other answers."""
_FAULT, _ATTEMPTS = 0.25, 4
"""If more than this share of the items is left, another pair is tried; four pairs at most."""
_WHY = ("few-answers", "not-told-apart")
"""Why a silent item has no label, and why any other item has none."""
_NONE = np.zeros(0, dtype=np.int64)


class Chooser:
    """Proposes the next plan; what it knows comes from plans and Tallies alone."""

    def __init__(self, claim: Exclusion, root: int) -> None:
        self.claim, self.root = claim, root
        self.history = History(claim.problem)
        self.pairs = PairSearch(claim.problem, claim.delta_pair, root)
        self.steps = 0
        self.pair = _NONE
        """The last pair that was confirmed."""

    def accept(self, plan: Plan) -> None:
        """Note a plan, just made or from the log."""
        self.steps += 1
        if plan.kind == "compare":
            self.pairs.accept(plan)
        elif plan.kind == "restart":
            self.pairs.forget(self.pair)

    def learn(self, plan: Plan, batch: Batch, tally: Tally) -> None:
        """Take in what came back on a plan, after the claim has."""
        phase = "search" if plan.kind == "compare" else str(plan.facts.get("phase"))
        self.history.record(batch, tally, phase)
        if plan.kind == "exclude":
            # In a hunt the representatives are the items that are asked.
            first = 0 if phase == "hunt" else len(plan.ints("items"))
            self.history.listen(batch, tally, slice(first, None))
            return
        self.pairs.learn(plan, tally)
        if self.claim.confirmed is not None:
            self.pair = np.array(self.claim.confirmed.items)

    def propose(self) -> Plan:
        """The next plan."""
        rng = np.random.default_rng([self.root, 2, self.steps])
        if not self.claim.groups.found:
            return self.pairs.propose(rng)
        if self.claim.done:
            return self._end()
        now = Beliefs.of(self.claim, self.history)
        if not len(now.open):
            return self._end()
        hunt = self._hunt(now, _HUNT * now.expected, rng)
        if hunt is not None:
            return hunt
        step = LabelStep(self.claim, self.history, now).plan()
        if step is not None:
            return step
        if self.claim.groups.complete:
            return self._hunt(now, math.inf, rng) or self._end()
        return self._look_further(now, rng)

    def _hunt(self, now: Beliefs, allowed: float, rng: np.random.Generator) -> Plan | None:
        """Representatives on questions that may tell them apart; None if none seems worth it."""
        claim, tells = self.claim, now.shapes.differs
        counts = now.counts
        least = counts.min(axis=0)
        due = np.flatnonzero((tells < KNOWN) & (tells > _HOPE) & (least < _DEEP))
        if self.history.spent.get("hunt", 0) >= allowed:
            due = _NONE
        # Known questions on which a group has hardly been heard come first.
        unheard = now.known[least[now.known] < 2]
        noisy = _best_first(tells[due], rng)
        many = max(4, math.ceil(0.06 * self.history.asked / claim.groups.found))
        chosen = np.unique(np.concatenate([unheard, due[noisy][:many]]))
        if not len(chosen):
            return None
        target = np.where(least[chosen] < 2, 2, least[chosen] + np.maximum(1, least[chosen] // 3))
        wanted = np.maximum(target - counts[:, chosen], 0).astype(np.int64)
        group, at = np.nonzero(wanted)
        items, questions = np.array(claim.groups.representatives)[group], chosen[at]
        cells = zip(items.tolist(), questions.tolist(), strict=True)
        heard = np.array([not self.history.is_silent(*cell) for cell in cells], dtype=bool)
        if not heard.any():
            return None
        rows = items[heard], questions[heard], wanted[group, at][heard]
        return exclude_plan(self.claim, "hunt", *rows)

    def _look_further(self, now: Beliefs, rng: np.random.Generator) -> Plan:
        """Look for a missing group: screen, probe, or stop if the number was not told."""
        looked = self.history.looked
        if self.claim.groups.told is None and looked > _AUTO * (self.history.asked - looked):
            return Plan("close")
        return self._screen(now, rng) or self._probe(now, rng)

    def _screen(self, now: Beliefs, rng: np.random.Generator) -> Plan | None:
        """Items on known questions they have not answered yet: a new group would differ on one."""
        row, column = np.nonzero(now.asked == 0)
        if not len(row):
            return None
        order = np.lexsort([rng.random(len(row)), now.asked.sum(axis=0)[column]])
        _, first = np.unique(row[order], return_index=True)
        order = order[np.sort(first)][: math.ceil(_SCREEN * len(now.open))]
        items, questions = now.open[row[order]], now.known[column[order]]
        return exclude_plan(self.claim, "screen", items, questions, np.ones(len(order), np.int64))

    def _probe(self, now: Beliefs, rng: np.random.Generator) -> Plan:
        """Items on questions that may have two sides, of which the groups found are on one."""
        worth = np.where(now.shapes.tells >= KNOWN, 0.0, now.shapes.tells)
        many = max(8, math.ceil(_PROBE * self.history.asked))
        best = _best_first(worth, rng)[: max(2, many // 12)]
        items = rng.choice(now.open, size=(len(best), min(6, len(now.open))))
        cells = np.unique(items * self.claim.problem.questions + best[:, None])
        items, questions = np.divmod(cells, self.claim.problem.questions)
        return exclude_plan(self.claim, "probe", items, questions, np.full(len(items), 2))

    def _end(self) -> Plan:
        """End the run, or start again with another pair if many items are left.

        Many items that cannot be told apart are a sign that the first pair was a bad one.
        """
        claim = self.claim
        left = claim.groups.open_items
        missing = len(left) - int(self.history.silent[left].sum()) + len(claim.groups.misfits)
        if missing > _FAULT * claim.problem.items and claim.attempt < _ATTEMPTS:
            return Plan("restart")
        why = np.where(self.history.silent[left], *(REASONS.index(each) for each in _WHY))
        return Plan("end", {}, {"left": left, "why": why.astype(np.int64)})


def _best_first(scores: Floats, rng: np.random.Generator) -> Ints:
    """The order of the scores, best first, ties in random order."""
    return np.asarray(np.lexsort([rng.random(len(scores)), -scores.round(6)]), dtype=np.int64)
