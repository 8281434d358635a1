"""What every guess of a run starts from: the problem, what was asked, and what came back."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from askfew.algorithms.frugal.guess.candidates import Noise
from askfew.errors import InvalidInput
from askfew.plans import Plan
from askfew.records import Floats, Ints, Problem, Tally

__all__ = ["History", "Tuning"]


@dataclass(frozen=True)
class Tuning:
    """How the answers are spent: a prototype's values, confirmed on the bench (seeds 11, 13)."""

    hunt: float = 1.0
    """Look for a better question while this times the expected saving exceeds its cost."""
    growth: float = 0.045
    """A search round asks this share of all that was asked before it."""
    step: float = 0.1
    """A labelling step asks of each item this share of the answers it still needs."""

    def __post_init__(self) -> None:
        for name, least, most in (("growth", 0.01, 10.0), ("step", 0.01, 1.0), ("hunt", 0, 1e9)):
            value = getattr(self, name)
            if not (isinstance(value, int | float) and least <= value <= most):
                raise InvalidInput(
                    f"{name} must be a number from {least:g} to {most:g}",
                    repr(value),
                    f"leave it out for {getattr(Tuning, name)}",
                )


class History:
    """The answers of the search and the hunt by cell, and how much was asked in all.

    ``asked`` paces the rounds; it counts what was asked, answered or not, so that rounds grow even
    in silence.
    """

    def __init__(
        self,
        problem: Problem,
        delta: float,
        root: int,
        tuning: Tuning,
        tolerance: float = 0.0,
        per_cell: int | None = None,
    ) -> None:
        self.problem = problem
        self.explore = None if per_cell is None else max(1, per_cell // 3)
        """How often search and hunt may ask a cell; most of the cap is left for labels."""
        self._asked: dict[tuple[int, int], int] = {}
        self.tolerance = tolerance
        self.tuning = tuning
        self.threshold = math.log(problem.items / delta)
        self.noise = Noise(problem)
        self.asked = 0
        self.steps = 0
        self._root = root
        self._looks: list[tuple[Ints, Ints, Ints, Floats]] = []

    def record(self, plan: Plan, questions: Ints, tally: Tally) -> None:
        """Add what a step asked and heard."""
        self.asked += int(plan.ints("repeats").sum())
        self.steps += 1
        self.noise.record(questions, tally)
        if self.explore is not None:
            rows = zip(plan.ints("items").tolist(), questions.tolist(), strict=True)
            for cell, repeats in zip(rows, plan.ints("repeats").tolist(), strict=True):
                self._asked[cell] = self._asked.get(cell, 0) + repeats
        if plan.kind != "label":
            self._looks.append((plan.ints("items"), questions, tally.counts, tally.sums))

    def room(self, items: Iterable[int], question: int) -> float:
        """How often search and hunt may still ask all of these items a question."""
        if self.explore is None:
            return math.inf
        return self.explore - max(self._asked.get((item, question), 0) for item in items)

    def rng(self, purpose: int = 0) -> np.random.Generator:
        """Random numbers of this step: a guess that takes over later draws the same ones."""
        return np.random.default_rng([self._root, purpose, self.steps])

    def deck(self, deal: int) -> Ints:
        """All questions in the order of the deal-th shuffle."""
        rng = np.random.default_rng([self._root, 1, deal])
        return rng.permutation(self.problem.questions)

    def looks_at(self, question: int) -> tuple[Floats, Floats]:
        """Every item's answers to a question before labels were looked for: counts and sums."""
        counts, sums = np.zeros((2, self.problem.items))
        for items, questions, heard, total in self._looks:
            here = questions == question
            np.add.at(counts, items[here], heard[here])
            np.add.at(sums, items[here], total[here])
        return counts, sums

    def labelling_cost(self, gap: ArrayLike) -> Floats:
        """Answers it takes to label all items, half of them in each group, at a gap in sigmas."""
        items = self.problem.items
        # With m items that share references, (1 + 1/ratio) (m + ratio) is proportional to the
        # answers of both. It is least at the root of m.
        ratio = math.sqrt(max(items / 2, 1))
        answers = 2 * self.threshold * (1 + 1 / ratio) / np.maximum(np.square(gap), 1e-12)
        return np.asarray(items * (1 + 1 / ratio) * np.maximum(answers, 1.0))[()]
