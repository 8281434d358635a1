"""What every guess of a run starts from: what was asked and what came back."""

from __future__ import annotations

import numpy as np

from askfew.algorithms.frugal.claim.groups import Mask
from askfew.answers import AnswerKind, Number, YesNo
from askfew.records import Batch, Floats, Ints, Problem, Tally

__all__ = ["History", "from_units", "to_units"]

_SILENT = 12
"""Returns in a row without an answer after which an item, or a reference's cell, is given up. Most
ask once: with 6, an oracle that loses a third of the answers had one item in twelve given up."""


class History:
    """The rows of all Batches, in units of 0 to 1 or sigmas.

    Counts and sums of the questions in use are kept up to date, so that they need not be added up
    from all rows in every step.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.unit: AnswerKind = Number(1.0) if isinstance(problem.kind, Number) else YesNo()
        """The kind of answer, in these units."""
        self.asked = 0
        self.spent: dict[str, int] = {}
        """Answers asked by phase."""
        self._unheard = np.zeros(problem.items, dtype=np.int64)
        """Returns in a row without an answer, of each item."""
        self._unheard_cells: dict[tuple[int, int], int] = {}
        self._rows: list[tuple[Ints, Ints, Floats, Floats]] = []
        self._columns: dict[int, Floats] = {}

    def record(self, batch: Batch, tally: Tally, phase: str) -> None:
        """Take in an answered Batch."""
        counts = tally.counts.astype(np.float64)
        sums = to_units(self.problem.kind, counts, tally.sums)
        self._rows.append((batch.items, batch.questions, counts, sums))
        self.asked += batch.answers
        self.spent[phase] = self.spent.get(phase, 0) + batch.answers
        for question in np.unique(batch.questions).tolist():
            if question in self._columns:
                here = batch.questions == question
                column = self._columns[question]
                np.add.at(column[0], batch.items[here], counts[here])
                np.add.at(column[1], batch.items[here], sums[here])

    def listen(self, batch: Batch, tally: Tally, references: slice) -> None:
        """Note which items gave no answer, and which cells of these references gave none."""
        heard = np.bincount(batch.items, tally.counts, self.problem.items) > 0
        asked = np.unique(batch.items)
        self._unheard[asked] = np.where(heard[asked], 0, self._unheard[asked] + 1)
        columns = batch.items, batch.questions, tally.counts
        rows = zip(*(column[references].tolist() for column in columns), strict=True)
        for item, question, count in rows:
            cell = item, question
            self._unheard_cells[cell] = 0 if count else self._unheard_cells.get(cell, 0) + 1

    @property
    def silent(self) -> Mask:
        """Items that are not asked any more."""
        return np.asarray(self._unheard >= _SILENT)

    def is_silent(self, item: int, question: int) -> bool:
        """Whether a reference does not answer a question."""
        return self._unheard_cells.get((item, question), 0) >= _SILENT

    @property
    def looked(self) -> int:
        """Answers asked in search of further groups."""
        return self.spent.get("screen", 0) + self.spent.get("probe", 0)

    def in_units(self, distance: float) -> float:
        """A distance between answers, as a part of the scale or in sigmas."""
        kind = self.problem.kind
        return distance / (kind.sigma if isinstance(kind, Number) else kind.high - kind.low)

    def _all(self) -> tuple[Ints, Ints, Floats, Floats]:
        """All rows in one piece."""
        # Joined in place: the next call then copies only what came since.
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


def to_units(kind: AnswerKind, counts: Floats, sums: Floats) -> Floats:
    """Sums of answers on the scale 0 to 1, or in sigmas."""
    if isinstance(kind, Number):
        return np.asarray(sums / kind.sigma)
    return np.asarray((sums - kind.low * counts) / (kind.high - kind.low))


def from_units(kind: AnswerKind, levels: Floats) -> Floats:
    """Levels in the user's units."""
    if isinstance(kind, Number):
        return np.asarray(levels * kind.sigma)
    return np.asarray(kind.low + levels * (kind.high - kind.low))
