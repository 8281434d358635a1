"""The answers under a cap, cell by cell; every plan of a panel is checked against them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from askfew.errors import InvalidPlan
from askfew.plans import Plan
from askfew.records import Batch, Floats, Ints, Problem, Snapshot, Tally
from askfew.wording import counted

__all__ = ["Ledger", "refused"]

_MOST_CELLS = 5 * 10**6
"""Most cells (items times questions) that are considered: the ledger then takes 120 MB."""


@dataclass(eq=False)
class Ledger:
    """The answers, cell by cell, and the cap; only the questions of the deck are asked."""

    problem: Problem
    per_cell: int
    deck: Ints
    """Questions that are considered, sorted; all of them unless the problem is very large."""
    counts: Ints = field(init=False)
    sums: Floats = field(init=False)
    missed: Ints = field(init=False)
    """Answers of each cell that were asked for and did not come."""

    @classmethod
    def deal(cls, problem: Problem, per_cell: int, root: int) -> Ledger:
        """A ledger of all questions, or of a random choice if the problem is very large."""
        most = max(_MOST_CELLS // problem.items, 1)
        deck = np.arange(problem.questions)
        if problem.questions > most:
            rng = np.random.default_rng([root, 1])
            deck = np.sort(rng.choice(deck, most, replace=False))
        return cls(problem, per_cell, deck)

    def __post_init__(self) -> None:
        shape = self.problem.items, len(self.deck)
        self.counts = np.zeros(shape, dtype=np.int64)
        self.missed = np.zeros(shape, dtype=np.int64)
        self.sums = np.zeros(shape)

    @property
    def answers(self) -> int:
        """How many answers came."""
        return int(self.counts.sum())

    @property
    def room(self) -> Ints:
        """How many more answers each cell may be asked for (items x deck)."""
        return self.per_cell - self.counts

    @property
    def open_room(self) -> Ints:
        """The same, but 0 for cells that mostly stay silent, so that a guess leaves them alone."""
        silent = self.missed > np.maximum(self.counts, 1) * 2
        return np.where(silent, 0, self.room)

    def rows(self, plan: Plan) -> tuple[Ints, Ints, Ints]:
        """Items, columns of the deck and repeats of a plan, or InvalidPlan."""
        items, questions, repeats = (plan.ints(each) for each in ("items", "questions", "repeats"))
        if not (items.shape == questions.shape == repeats.shape) or not len(items):
            raise refused("a plan must ask something of somebody", f"{len(items)} items")
        if items.min() < 0 or items.max() >= self.problem.items or repeats.min() < 1:
            raise refused("a plan must ask items of the problem at least once", "others")
        if not np.isin(questions, self.deck).all():
            raise refused("a plan must ask questions of the deck", "others")
        columns = np.searchsorted(self.deck, questions)
        if len(np.unique(items * len(self.deck) + columns)) < len(items):
            raise refused("a plan must name a cell once", "a cell named twice")
        if (repeats > self.room[items, columns]).any():
            most = f"no cell may be asked more than {self.per_cell} times"
            raise refused(most, "a plan that does")
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


def refused(expected: str, got: str) -> InvalidPlan:
    """The error of a plan that is not sound."""
    return InvalidPlan(expected, got, "fix the guess that made it")
