"""What was answered, cell by cell: how often each (item, question) was, and the sums."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from askfew.records import Batch, Floats, Ints, Problem, Tally

__all__ = ["CellTable", "Cells"]

_MOST = 2 * 10**7
"""Cells of a table at most: the questions with the most answers are kept."""


@dataclass(frozen=True, eq=False)
class CellTable:
    """Counts and sums (items x questions) for the items and questions that were asked."""

    items: Ints
    questions: Ints
    counts: Ints
    sums: Floats


@dataclass
class Cells:
    """Adds answers up as they come; takes memory for cells, not for answers."""

    problem: Problem
    _cell: list[Ints] = field(default_factory=list)
    _count: list[Ints] = field(default_factory=list)
    _sum: list[Floats] = field(default_factory=list)
    _rows: int = 0
    _merged: int = 0

    def add(self, batch: Batch, tally: Tally) -> None:
        """Take in an answered Batch."""
        self._cell.append(batch.items * self.problem.questions + batch.questions)
        self._count.append(tally.counts)
        self._sum.append(tally.sums)
        self._rows += len(batch)
        if self._rows > 2 * self._merged + 10**5:
            self._merge()

    def _merge(self) -> None:
        if len(self._cell) > 1:
            cells, place = np.unique(np.concatenate(self._cell), return_inverse=True)
            counts = np.zeros(len(cells), dtype=np.int64)
            np.add.at(counts, place, np.concatenate(self._count))
            sums = np.bincount(place, weights=np.concatenate(self._sum), minlength=len(cells))
            self._cell, self._count = [cells], [counts]
            self._sum = [sums.astype(np.float64, copy=False)]
        self._rows = self._merged = sum(len(each) for each in self._cell)

    def table(self) -> CellTable:
        """All answered cells as a table.

        >>> cells = Cells(Problem(3, 2))
        >>> cells.add(Batch(np.array([2]), np.array([1]), np.array([4])),
        ...           Tally(np.array([4]), np.array([3.0])))
        >>> cells.table().counts
        array([[4]])
        """
        self._merge()
        if not self._cell:
            none = np.zeros(0, dtype=np.int64)
            return CellTable(none, none, np.zeros((0, 0), dtype=np.int64), np.zeros((0, 0)))
        answered = self._count[0] > 0
        count, total = self._count[0][answered], self._sum[0][answered]
        item, question = np.divmod(self._cell[0][answered], self.problem.questions)
        keep = _busiest(question, count, _MOST // max(len(np.unique(item)), 1))
        items, row = np.unique(item[keep], return_inverse=True)
        questions, column = np.unique(question[keep], return_inverse=True)
        counts = np.zeros((len(items), len(questions)), dtype=np.int64)
        sums = np.zeros(counts.shape)
        counts[row, column], sums[row, column] = count[keep], total[keep]
        return CellTable(items, questions, counts, sums)


def _busiest(question: Ints, count: Ints, most: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which rows are about the questions with the most answers, so many at most."""
    _, place = np.unique(question, return_inverse=True)
    answers = np.bincount(place, weights=count)
    chosen = np.argsort(-answers, kind="stable")[: max(most, 1)]
    return np.isin(place, chosen)
