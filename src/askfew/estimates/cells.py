"""All answers added up by cell: for each (item, question) the count, the sum and the squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from askfew.answers import Number, YesNo
from askfew.records import Batch, Floats, Ints, Problem, Tally

__all__ = ["CellSums", "CellTable", "Cells", "Mask"]

Mask: TypeAlias = NDArray[np.bool_]
_Columns: TypeAlias = list[NDArray[Any]]
_MOST = 2 * 10**6
"""The most cells of a table; beyond it only the questions with the most answers are kept. A round
number: fitting classes to it takes seconds and tens of megabytes."""
_RESOLUTION = 1e-13
"""The relative accuracy of a sum of squares: the machine's epsilon times a thousand, for sums."""


@dataclass(frozen=True, eq=False)
class CellSums:
    """Every cell that was answered: how often, the sum, and the sum of squares (nan: unknown)."""

    item: Ints
    question: Ints
    count: Ints
    sum: Floats
    square: Floats

    def __len__(self) -> int:
        return len(self.item)

    @property
    def mean(self) -> Floats:
        """The mean answer of each cell."""
        return np.asarray(self.sum / self.count)

    @property
    def variance(self) -> Floats:
        """The variance within each cell; nan for a single answer, or if squares are unknown."""
        within = np.maximum(self.square - self.sum**2 / self.count, 0.0)
        return np.where(self.count > 1, within / np.maximum(self.count - 1, 1), np.nan)

    def where(self, chosen: Mask) -> CellSums:
        """Only some of the cells."""
        return CellSums(
            self.item[chosen],
            self.question[chosen],
            self.count[chosen],
            self.sum[chosen],
            self.square[chosen],
        )

    def table(self) -> CellTable:
        """As a table; if that is too large, only with the questions that have most answers."""
        kept = self.where(
            _busiest(self.question, self.count, _MOST // max(len(np.unique(self.item)), 1))
        )
        items, row = np.unique(kept.item, return_inverse=True)
        questions, column = np.unique(kept.question, return_inverse=True)
        counts = np.zeros((len(items), len(questions)), dtype=np.int64)
        sums = np.zeros(counts.shape)
        counts[row, column], sums[row, column] = kept.count, kept.sum
        return CellTable(items, questions, counts, sums)


@dataclass(frozen=True, eq=False)
class CellTable:
    """Counts and sums (items x questions) for the items and questions that were asked."""

    items: Ints
    questions: Ints
    counts: Ints
    sums: Floats


class Cells:
    """Adds answers up as they come; needs memory for cells, not for answers."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._cells: Ints = np.zeros(0, dtype=np.int64)
        """The cells that are added up, sorted; ``_columns`` are their counts, sums and squares."""
        self._columns: _Columns = [np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)]
        self._new: list[tuple[Ints, _Columns]] = []
        """Answers of other cells, as they came."""
        self._new_rows = 0

    def add(self, batch: Batch, tally: Tally) -> None:
        """Take in an answered Batch."""
        cells = batch.items * self.problem.questions + batch.questions
        columns: _Columns = [tally.counts, tally.sums, self._squares(tally)]
        # Most rows ask a cell again. They are added in place; only new cells need sorting.
        place = np.searchsorted(self._cells, cells)
        place[place == len(self._cells)] = 0
        again = self._cells[place] == cells if len(self._cells) else np.zeros(len(cells), bool)
        for own, heard in zip(self._columns, columns, strict=True):
            np.add.at(own, place[again], heard[again])
        if not again.all():
            self._new.append((cells[~again], [column[~again] for column in columns]))
            self._new_rows += len(self._new[-1][0])
        # Waiting until the new rows are as many as the old keeps the total cost linear.
        if self._new_rows > len(self._cells) + 10**5:
            self._merge()

    def _squares(self, tally: Tally) -> Floats:
        if isinstance(self.problem.kind, YesNo):
            return tally.sums  # 0 and 1 are their own squares
        if tally.squares is not None:
            return tally.squares
        return np.where(tally.counts > 1, np.nan, tally.sums**2)

    def _merge(self) -> None:
        if self._new:
            parts = [(self._cells, self._columns), *self._new]
            self._cells, place = np.unique(
                np.concatenate([cells for cells, _ in parts]), return_inverse=True
            )
            for number, own in enumerate(self._columns):
                total = np.zeros(len(self._cells), dtype=own.dtype)
                np.add.at(total, place, np.concatenate([columns[number] for _, columns in parts]))
                self._columns[number] = total
            self._new, self._new_rows = [], 0

    def sums(self) -> CellSums:
        """All answered cells, one after the other.

        >>> cells = Cells(Problem(3, 2))
        >>> cells.add(Batch(np.array([2]), np.array([1]), np.array([4])),
        ...           Tally(np.array([4]), np.array([3.0])))
        >>> cells.sums().variance
        array([0.25])
        """
        self._merge()
        item, question = np.divmod(self._cells, self.problem.questions)
        count, total, square = self._columns
        if isinstance(self.problem.kind, Number):
            # If numbers are so large that rounding their squares hides the noise, the variance is
            # unknown.
            lost = square * _RESOLUTION > self.problem.kind.sigma**2
            square = np.where(lost, np.nan, square)
        return CellSums(item, question, count, total, square).where(count > 0)

    def table(self) -> CellTable:
        """All answered cells as a table.

        >>> cells = Cells(Problem(3, 2))
        >>> cells.add(Batch(np.array([2]), np.array([1]), np.array([4])),
        ...           Tally(np.array([4]), np.array([3.0])))
        >>> cells.table().counts
        array([[4]])
        """
        return self.sums().table()


def _busiest(question: Ints, count: Ints, most: int) -> Mask:
    """Which rows are about the ``most`` questions with the most answers."""
    _, place = np.unique(question, return_inverse=True)
    answers = np.bincount(place, weights=count)
    chosen = np.argsort(-answers, kind="stable")[: max(most, 1)]
    return np.isin(place, chosen)
