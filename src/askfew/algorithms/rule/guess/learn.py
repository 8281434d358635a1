"""LEARN: screen some items on many questions, fit classes, and propose a rule when one is stable.

A split is proposed only if models fitted on two halves of the items sort all of them alike, and if
each division is carried by several questions. Otherwise more items are screened, then the same ones
again. If that does not help, the plan is to give up: there is no consensus. Questions that are
unrelated, a single useful question and a duplicated one end there, as they should.

That is the way without any help. Anchors (``anchored``) and one or two defining questions
(``direction``) say what to look for, and have ways of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askfew.algorithms.rule.guess.anchored import learn_with_anchors
from askfew.algorithms.rule.guess.direction import learn_direction
from askfew.algorithms.rule.guess.pilot import Pilot, ask_cells, freeze, give_up
from askfew.algorithms.rule.guess.reach import before_answers, is_tight, with_answers
from askfew.algorithms.rule.screen import Screen
from askfew.estimates.classes import CellMeans, Classes, agreement, fit, predicted
from askfew.plans import Plan
from askfew.records import Ints

__all__ = ["Learner"]

# Round numbers, not tuned.
_STARTS = 8
"""Starts of EM where models are only compared; the one that makes the rule has more."""
_FEWEST_NEW = 20
"""The fewest items that one more screen adds."""
_ALIKE = 0.5
"""How well halves of the items must agree before their split is taken to be out of reach. Less than
for a rule: only how much the questions say at best is read off it."""
_WORTH_ASKING = 0.3
"""The share of cells with room from which on the same items are asked again."""


@dataclass(frozen=True, eq=False)
class Learner(Pilot):
    """Proposes what to screen next, or the rule, or to give up.

    The proposal depends only on the answers so far. So a replay that lacks a plan, or a newer
    version of this class, can go on from any step.
    """

    def propose(self, screen: Screen) -> Plan:
        """The next plan: ``screen`` (cells to ask), ``freeze`` (a rule), ``give up``, or ``out of
        reach`` if the caps of the cells would let too few items be certified.
        """
        plan = self._next(screen)
        if plan.kind != "screen":
            return plan
        return self._out_of_reach(screen) or plan

    def _next(self, screen: Screen) -> Plan:
        # Seeded by the step, not carried along: a replay that skips steps draws the same numbers.
        rng = np.random.default_rng([self.root, len(screen.rows)])
        if 0 < len(self.defining) < self.tuning.need:
            return learn_direction(self, screen)
        if (self.anchors >= 0).any():
            return learn_with_anchors(self, screen, rng)
        return self._unaided(screen, rng)

    def _out_of_reach(self, screen: Screen) -> Plan | None:
        if not screen.rows:
            return before_answers(self)
        if not is_tight(self) or len(self.defining) in range(1, self.tuning.need):
            return None
        # Numbers of its own: looking must not change what is asked.
        rng = np.random.default_rng([self.root, len(screen.rows), 1])
        items, _, counts, sums = screen.table()
        answered = CellMeans.of(self.problem.kind, counts, sums)
        told = self.anchors[items] if (self.anchors >= 0).any() else None
        groups = self._number(answered, rng) if told is None else len(self.names)
        if groups is None:
            return None
        if told is None and self._stability(answered, groups, rng) < _ALIKE:
            return None  # other questions may yet carry the split
        model = fit(answered, groups, rng, known=told)
        return with_answers(self, screen, model, told)

    def _unaided(self, screen: Screen, rng: np.random.Generator) -> Plan:
        if not screen.rows:
            return self.screen_plan(self.order[: self.first_items], self.pool)
        items, questions, counts, sums = screen.table()
        answered = CellMeans.of(self.problem.kind, counts, sums)
        groups = self._number(answered, rng)
        stable = 0.0
        if groups is not None:
            stable = self._stability(answered, groups, rng)
            if stable >= self.tuning.stable:
                model = fit(answered, groups, rng)
                rule = self.grown_rule(answered, model, questions, self.tuning.doubt)
                if rule is not None and len(rule.leaves) == groups:
                    return self._sharpen(items, questions, answered, model) or freeze(rule, stable)
        return self._more(screen, items, questions, counts, stable)

    def _sharpen(
        self, items: Ints, questions: Ints, answered: CellMeans, model: Classes
    ) -> Plan | None:
        """Screen some new items on the questions that matter, for more reliable levels."""
        others = self.order[~np.isin(self.order, items)]
        missing = self.tuning.sharp_items - len(items)
        if missing <= 0 or not len(others) or len(model.shares) > 2:
            return None
        promising = self.promising(answered, model, None, 0.0)
        return self.screen_plan(others[:missing], questions[promising])

    def _number(self, answered: CellMeans, rng: np.random.Generator) -> int | None:
        """The number of groups that predicts answers of held-out items best.

        None if it is too early to say: among few items a group may be missing.
        """
        n = len(answered.weights)
        # With fewer than two items per group, a group of one item is the best fit of noise.
        if len(self.groups) == 1:
            return self.groups[0] if n >= 2 * self.groups[0] else None
        if n < min(self.tuning.items_to_count, self.problem.items):
            return None
        order = rng.permutation(n)
        parts = [np.sort(part) for part in np.array_split(order, self.tuning.parts)]

        def worth(groups: int) -> float:
            total = 0.0
            for part in parts:
                rest = np.setdiff1d(order, part)
                model = fit(answered.rows(rest), groups, rng, starts=_STARTS)
                total += predicted(answered.rows(part), model)
            return total

        return max((k for k in self.groups if n >= 2 * k), key=worth, default=None)

    def _more(
        self, screen: Screen, items: Ints, questions: Ints, counts: Ints, stable: float
    ) -> Plan:
        """Screen more items on the same questions; when all were asked, ask the same again."""
        if screen.answers < self.most_answers:
            new = self.order[~np.isin(self.order, items)][: max(_FEWEST_NEW, len(items) // 2)]
            if len(new):
                return self.screen_plan(new, questions)
            room = counts < np.minimum(self.room(items, questions), self.tuning.most_repeats)
            # If most cells are full, what is left is too uneven to change the picture.
            if not self.same and room.mean() >= _WORTH_ASKING:
                at, column = np.nonzero(room)
                return ask_cells(items[at], questions[column])
        return give_up(stable)

    def _stability(self, answered: CellMeans, groups: int, rng: np.random.Generator) -> float:
        """How well the groups from two halves of the items (and of the questions) agree."""
        n, d = answered.weights.shape
        by_items = []
        for _ in range(2):
            halves = np.array_split(rng.permutation(n), 2)
            models = [fit(answered.rows(half), groups, rng, starts=_STARTS) for half in halves]
            by_items.append(agreement(*(m.log_odds(answered).argmax(axis=1) for m in models)))
        stable = float(np.mean(by_items))
        if d < self.problem.questions and stable > self.tuning.stable_questions:
            by_questions = []
            for _ in range(2):
                halves = np.array_split(rng.permutation(d), 2)
                models = [
                    fit(answered.columns(half), groups, rng, starts=_STARTS) for half in halves
                ]
                by_questions.append(agreement(*(m.posterior.argmax(axis=1) for m in models)))
            # Half of the questions say less than all, so they need to agree less.
            allowance = self.tuning.stable - self.tuning.stable_questions
            stable = min(stable, float(np.mean(by_questions)) + allowance)
        return stable
