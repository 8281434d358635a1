"""PROBE: everybody fits a group found so far, and one is missing. Single items on new questions.

A candidate is an item and a question on which it may differ from the group it fits. The group has
mostly answered that question in the hunt, so only the item is asked. Candidates compete as pairs do
in the search; one that looks different becomes a *hint*: its answers take part in judging how
questions look, and the item in labelling, as if it might represent a group.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from askfew.algorithms.frugal.guess.pairs import dealt
from askfew.algorithms.frugal.guess.shapes import from_units
from askfew.algorithms.frugal.noise import Noise
from askfew.algorithms.frugal.pool import Pool
from askfew.algorithms.frugal.prospects import prospects
from askfew.algorithms.frugal.rounds import plan_round
from askfew.plans import Plan
from askfew.records import Floats, Ints, Problem, Tally

if TYPE_CHECKING:
    from askfew.algorithms.frugal.guess.exclusion import Chooser, View

__all__ = ["Probe"]

_LEAST, _GROWTH, _NEW = 8, 0.04, 0.4
"""Samples in the smallest round; later ones as a share of all answers; what is new in any case."""
_HINT = 2.5
"""Nats of hindsight from which on a candidate is a hint."""
_HINTS = 8
"""Hints at most."""


@dataclass
class Probe:
    """What probing knows: a function of the plans so far and of what came back."""

    problem: Problem
    root: int
    drawn: int = 0
    pool: Pool = field(init=False)

    def __post_init__(self) -> None:
        self.pool = Pool(self.problem.answers)
        self._row: dict[tuple[int, int], int] = {}

    def hints(self) -> Ints:
        """Items that look different from the group they seemed to fit."""
        scores = self.pool.scores
        order = np.argsort(-scores, kind="stable")[:_HINTS]
        return np.unique(self.pool.items[order[scores[order] > _HINT], 0])

    def propose(self, chooser: Chooser, view: View, rng: np.random.Generator) -> Plan:
        """Promising candidates again, and new ones."""
        pool = self.pool
        budget = max(_LEAST, math.ceil(_GROWTH * chooser.answered.asked))
        rows, sizes = np.zeros(0, np.int64), np.zeros(0, np.int64)
        if pool.size:
            now = prospects(pool, _payoff, Noise(self.problem))
            rows, sizes, _ = plan_round(pool, now, math.ceil((1 - _NEW) * budget), 24)
        many = max(budget - int(sizes.sum()), 1)
        items = rng.choice(view.open, many)
        questions = dealt(self.problem.questions, self.root + 1, self.drawn, many)
        cells = items * self.problem.questions + questions
        old = pool.items[rows, 0] * self.problem.questions + pool.questions[rows]
        _, first = np.unique(cells, return_index=True)
        fresh = np.sort(first[~np.isin(cells[first], old) & ~np.isin(questions[first], view.known)])
        plan = chooser.asking(
            "probe",
            np.concatenate([pool.items[rows, 0], items[fresh]]),
            np.concatenate([pool.questions[rows], questions[fresh]]),
            np.concatenate([sizes, np.ones(len(fresh), np.int64)]).astype(np.int64),
        )
        group = self._groups(plan, view)
        level = (view.shapes.levels[group, plan.columns["questions"]],)
        facts = {**plan.facts, "new": many}
        known = view.counts[group, plan.columns["questions"]]
        columns = {
            **plan.columns,
            "level": from_units(self.problem.answers, level[0]),
            "known": known,
        }
        return Plan(plan.kind, facts, columns)

    def _groups(self, plan: Plan, view: View) -> Ints:
        """The group that each item of the plan fits best."""
        k = len(view.levels)
        fits = np.zeros(self.problem.items, dtype=np.int64)
        fits[view.open] = view.chances[:, :k].argmax(axis=1)
        return np.asarray(fits[plan.columns["items"]])

    def accept(self, plan: Plan) -> None:
        """Note what a plan, just made or from the log, asks."""
        items, questions = plan.ints("items"), plan.ints("questions")
        for item, question in zip(items.tolist(), questions.tolist(), strict=True):
            if (item, question) not in self._row:
                row = self.pool.add(np.array([[item, item]]), np.array([question]))
                self._row[item, question] = int(row[0])
        self.drawn += int(plan.facts.get("new", 0))

    def learn(self, plan: Plan, tally: Tally) -> None:
        """Take in what came back, beside what the group is known to answer."""
        items, questions = plan.ints("items"), plan.ints("questions")
        cells = zip(items.tolist(), questions.tolist(), strict=True)
        rows = np.array([self._row[cell] for cell in cells])
        level, known = plan.floats("level", len(rows)), plan.floats("known", len(rows))
        counts = self.pool.counts[rows, 0] + tally.counts[: len(rows)]
        sums = self.pool.sums[rows, 0] + tally.sums[: len(rows)]
        known = np.maximum(known, 1.0)
        both = np.column_stack([counts, known]), np.column_stack([sums, known * level])
        self.pool.replace(rows, *both)


def _payoff(gaps: Floats) -> Floats:
    return np.asarray(gaps**2 / 4)
