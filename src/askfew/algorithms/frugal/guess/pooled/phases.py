"""The order of the phases: search a pair, hunt a good question, label by it; what if one fails."""

from __future__ import annotations

import numpy as np

from askfew.algorithms.frugal.claim.pooled import PooledClaim
from askfew.algorithms.frugal.guess.pooled.history import History, Tuning
from askfew.algorithms.frugal.guess.pooled.hunt import Hunt, Target
from askfew.algorithms.frugal.guess.pooled.search import Pair, Search
from askfew.algorithms.frugal.guess.pooled.sides import Sides
from askfew.plans import Plan
from askfew.records import Batch, Ints, Tally

__all__ = ["Chooser"]

_QUESTIONS = 6
"""A pair is given up after this many questions that disappoint or that somebody does not answer. A
prototype's value."""


class Chooser:
    """Proposes the next plan; what it knows comes from plans and Tallies alone.

    So it can go on with a run whose plans were made by another version: ``learn`` follows the plan
    that was carried out, even if this version would have proposed another one.
    """

    def __init__(self, claim: PooledClaim, root: int, tuning: Tuning) -> None:
        self.claim = claim
        self.history = History(
            claim.problem, claim.delta, root, tuning, claim.tolerance, claim.per_cell
        )
        self.search = Search(self.history)
        self.hunt: Hunt | None = None
        self.sides: Sides | None = None
        self.over = False
        self._doubtful = np.zeros(0, dtype=np.int64)
        """Items that were given up because more answers would not label them."""

    def propose(self) -> Plan:
        """What to do next, in the phase that the last step led to."""
        if self.over:
            doubtful = {"doubtful": self._doubtful} if len(self._doubtful) else {}
            return Plan("end", {}, doubtful)
        return (self.sides or self.hunt or self.search).propose() or Plan("end")

    def learn(self, plan: Plan, batch: Batch, tally: Tally) -> None:
        """Take in what a plan brought, and see which phase comes next."""
        self.history.record(plan, batch.questions, tally)
        if plan.kind == "label":
            assert self.sides is not None
            self.sides.learn(plan, tally)
        elif plan.kind == "hunt":
            assert self.hunt is not None
            self.hunt.learn(plan, tally)
        else:
            self.search.learn(plan, tally)
        self._turn()

    def accept(self, plan: Plan) -> None:
        """Enter the phase of the plan, even if this version would be in another one."""
        if plan.kind == "search":
            self.hunt = self.sides = None
        if plan.kind not in {"hunt", "label"}:
            return
        label = plan.kind == "label"
        question = int(plan.facts["question"] if label else plan.ints("questions")[0])
        pair = np.array(plan.facts.get("pair", [0, 1]), dtype=np.int64)
        if self.hunt is None or not np.array_equal(self.hunt.items, pair):
            self.hunt = Hunt(self.history, self.search, self._pair(pair, question))
            self.sides = None
        if plan.kind == "hunt":
            self.sides = None
        elif self.sides is None or self.sides.question != question:
            counts, sums = self.history.looks_at(question)
            means = sums[pair] / np.maximum(counts[pair], 1)
            if means[0] == means[1]:  # no answers here tell them apart; the plan knew more
                means = plan.floats("levels", 2)
            self.sides = Sides(
                self.history, self.claim, Target(question, pair, counts[pair], means)
            )

    def _pair(self, items: Ints, question: int) -> Pair:
        counts, sums = self.history.looks_at(question)
        return Pair(items, question, counts[items], sums[items])

    def _turn(self) -> None:
        """Leave phases that are over, until one has something to ask."""
        while not self.over:
            if self.sides is not None:
                if (end := self.sides.end()) is None:
                    return
                self._leave_labelling(end)
            elif self.hunt is not None:
                if self.hunt.goes_on():
                    return
                self._leave_hunt(self.hunt)
            else:
                pair = self.search.sure_pair()
                if pair is None:
                    return
                self.hunt = Hunt(self.history, self.search, pair)

    def _leave_labelling(self, end: str) -> None:
        sides, hunt = self.sides, self.hunt
        assert sides is not None
        assert hunt is not None
        self.sides = None
        if end == "done":
            self.over = True
            self._doubtful = np.flatnonzero(sides.doubtful())
            return
        silent = end == "silent"
        hunt.disappoint(
            sides.question, sides.heard[sides.order], sides.total[sides.order], silent=silent
        )
        if hunt.tries >= _QUESTIONS or (silent and hunt.target() is None and not hunt.goes_on()):
            self._give_up(hunt, silent=silent)

    def _leave_hunt(self, hunt: Hunt) -> None:
        target = hunt.target()
        if target is None:
            self._give_up(hunt, silent=hunt.needy)
        else:
            self.sides = Sides(self.history, self.claim, target)

    def _give_up(self, hunt: Hunt, *, silent: bool) -> None:
        """Search another pair; but end if there are labels and the items left stay silent."""
        self.over = silent and bool((self.claim.labels() >= 0).any())
        self.search.forget(hunt.items)
        self.hunt = None
