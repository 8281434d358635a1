"""All answers so far: by row as they came, and added up where a guess looks at them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from askfew.algorithms.frugal.guess.shapes import to_units
from askfew.records import Batch, Floats, Ints, Problem, Tally

__all__ = ["Answered"]


@dataclass
class Answered:
    """Rows of all Batches in units of 0 to 1 or sigmas; columns of the questions in use."""

    problem: Problem
    total: int = 0
    asked: int = 0
    _rows: list[tuple[Ints, Ints, Floats, Floats]] = field(default_factory=list)
    _columns: dict[int, Floats] = field(default_factory=dict)

    def add(self, batch: Batch, tally: Tally) -> None:
        """Take in an answered Batch."""
        counts = tally.counts.astype(np.float64)
        sums = to_units(self.problem.kind, counts, tally.sums)
        self._rows.append((batch.items, batch.questions, counts, sums))
        self.total += tally.answers
        self.asked += batch.answers
        for question in np.unique(batch.questions).tolist():
            if question in self._columns:
                here = batch.questions == question
                column = self._columns[question]
                np.add.at(column[0], batch.items[here], counts[here])
                np.add.at(column[1], batch.items[here], sums[here])

    def _all(self) -> tuple[Ints, Ints, Floats, Floats]:
        """All rows in one piece."""
        if len(self._rows) > 1:
            merged = tuple(np.concatenate(each) for each in zip(*self._rows, strict=True))
            self._rows = [merged]  # type: ignore[list-item]
        return self._rows[0]

    def columns(self, questions: Ints) -> tuple[Floats, Floats]:
        """Counts and sums of all items on these questions (items x questions)."""
        n = self.problem.items
        for question in questions.tolist():
            if question not in self._columns:
                items, asked, counts, sums = self._all()
                here = asked == question
                column = [np.bincount(items[here], v[here], n) for v in (counts, sums)]
                self._columns[question] = np.stack(column)
        if not len(questions):
            return np.zeros((n, 0)), np.zeros((n, 0))
        both = np.stack([self._columns[each] for each in questions.tolist()], axis=2)
        return both[0], both[1]

    def by_group(
        self, member: Ints, groups: int
    ) -> tuple[Floats, Floats, tuple[Ints, Floats, Floats]]:
        """Counts and sums of each group's members (groups x questions), and of all other cells."""
        d = self.problem.questions
        items, questions, counts, sums = self._all()
        row = member[items]
        here = row >= 0
        table = np.zeros((2, groups, d))
        where = row[here], questions[here]
        np.add.at(table[0], where, counts[here])
        np.add.at(table[1], where, sums[here])
        cell, place = np.unique(items[~here] * d + questions[~here], return_inverse=True)
        count = np.bincount(place, counts[~here], len(cell)).astype(np.float64)
        total = np.bincount(place, sums[~here], len(cell)).astype(np.float64)
        return table[0], table[1], (cell % d, count, total)
