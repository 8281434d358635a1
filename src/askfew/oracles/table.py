"""Recorded answers, drawn without replacement: an answer is used once or not at all.

Drawing with replacement would reuse the same noise and void the certificate. For the same reason a
table remembers its ``fingerprint``: a rule that was learnt from these answers is not certified by
them again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence, Sized

import numpy as np

from askfew.answers import AnswerKind, YesNo
from askfew.errors import CellExhausted, InvalidAnswer, InvalidInput
from askfew.oracles.simulated import Seed
from askfew.records import Batch, Floats, Ints, Problem, Tally

__all__ = ["TableOracle", "table"]


class TableOracle:
    """Answers from a record; a row gets what its cell has left, which may be nothing.

    When none of a Batch's cells has anything left, the run is over.
    """

    def __init__(
        self, problem: Problem, values: Floats, starts: Ints, rng: np.random.Generator
    ) -> None:
        self.problem = problem
        self.fingerprint = hashlib.sha256(starts.tobytes() + values.tobytes()).hexdigest()
        """A digest of the recorded answers."""
        self.names: tuple[list[object], list[object]] | None = None
        """The names of items and questions, if the record has them."""
        self.taught: set[str] = set()
        """Digests of rules that were learnt by asking here: what taught them is used up."""
        cells = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        # Sorting by cell, then by chance, shuffles every cell's answers in one go.
        self._values = values[np.lexsort((rng.random(len(values)), cells))]
        self._next = starts[:-1].copy()
        self._stops = starts[1:]

    @classmethod
    def of_rows(
        cls,
        items: Sequence[object],
        questions: Sequence[object],
        values: Sequence[float],
        kind: AnswerKind,
        rng: np.random.Generator,
    ) -> TableOracle:
        """From one row an answer: its item, its question, its value. Cells may have none at all.

        >>> rows = (["owl", "elk", "owl"], ["flies?"] * 3, [1.0, 0.0, 1.0])
        >>> TableOracle.of_rows(*rows, YesNo(), np.random.default_rng(0)).per_cell
        array([[2.],
               [1.]])
        """
        names = (list(dict.fromkeys(items)), list(dict.fromkeys(questions)))
        row, column = ({name: place for place, name in enumerate(each)} for each in names)
        problem = Problem(len(row), len(column), kind)
        rows = zip(items, questions, strict=True)
        cells = np.array([row[item] * len(column) + column[question] for item, question in rows])
        order = np.argsort(cells, kind="stable")
        starts = np.searchsorted(cells[order], np.arange(len(row) * len(column) + 1))
        made = cls(problem, np.asarray(values, dtype=np.float64)[order], starts, rng)
        made.names = names
        return made

    @property
    def per_cell(self) -> Floats:
        """How many answers each cell still has (items x questions)."""
        left = (self._stops - self._next).astype(np.float64)
        return left.reshape(self.problem.items, self.problem.questions)

    def __call__(self, batch: Batch, /) -> Tally:
        """Draw what is there; CellExhausted if that is nothing at all."""
        cells = batch.items * self.problem.questions + batch.questions
        if (self._next[cells] == self._stops[cells]).all():
            raise CellExhausted(
                "a Batch must ask for recorded answers that are not used yet",
                f"{len(batch)} rows whose cells are used up, the first item {batch.items[0]},"
                f" question {batch.questions[0]}",
                "record more answers",
            )
        counts = np.zeros(len(batch), dtype=np.int64)
        sums, squares = np.zeros(len(batch)), np.zeros(len(batch))
        for row, (cell, repeats) in enumerate(zip(cells, batch.repeats, strict=True)):
            start = self._next[cell]
            drawn = self._values[start : min(start + repeats, self._stops[cell])]
            self._next[cell] += len(drawn)
            counts[row], sums[row], squares[row] = len(drawn), drawn.sum(), drawn @ drawn
        return Tally(counts, sums, squares)


def table(
    recorded: Sequence[Sequence[Sequence[object]]],
    answers: AnswerKind | None = None,
    *,
    rng: Seed = None,
) -> TableOracle:
    """An oracle over ``recorded[item][question]``, a list of answers for every cell.

    Cells may hold different numbers of answers, but none may be empty.

    >>> oracle = table([[[1, 1], [0]], [[0, 0, 1], [1]]], rng=0)
    >>> oracle(Batch(np.array([0]), np.array([0]), np.array([5])))
    Tally(1 rows, 2 answers)
    """
    kind = YesNo() if answers is None else answers
    widths = {len(row) if isinstance(row, Sized) else 0 for row in recorded}
    if len(widths) != 1:
        raise InvalidInput(
            "every item must have the same questions",
            f"items with {sorted(widths)} questions",
            "fill the table up",
        )
    problem = Problem(len(recorded), widths.pop(), kind)
    values: list[float] = []
    starts = [0]
    for item, row in enumerate(recorded):
        for question, cell in enumerate(row):
            if not isinstance(cell, Sized) or len(cell) == 0:
                raise InvalidInput(
                    "every cell must be a list of at least one answer",
                    f"{cell!r} for item {item}, question {question}",
                    "record one, or leave out the item or the question",
                )
            values += [_read(kind, value, item, question) for value in cell]
            starts.append(len(values))
    return TableOracle(problem, np.array(values), np.array(starts), np.random.default_rng(rng))


def _read(kind: AnswerKind, value: object, item: int, question: int) -> float:
    try:
        return kind.read(value)
    except InvalidAnswer as error:
        expected, got, _ = error.args
        raise InvalidInput(
            expected, f"{got} for item {item}, question {question}", "mend the table"
        ) from None
