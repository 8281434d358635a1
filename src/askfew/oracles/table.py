"""Recorded answers, drawn without replacement: an answer is used once or not at all.

Drawing with replacement would reuse the same noise and void the certificate.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized

import numpy as np

from askfew.answers import AnswerKind, YesNo
from askfew.errors import CellExhausted, InvalidAnswer, InvalidInput
from askfew.oracles.simulated import Seed
from askfew.records import Batch, Floats, Ints, Problem, Tally

__all__ = ["TableOracle", "table"]


class TableOracle:
    """Answers from a record; a row gets what its cell has left, and an empty cell ends the run."""

    def __init__(
        self, problem: Problem, values: Floats, starts: Ints, rng: np.random.Generator
    ) -> None:
        self.problem = problem
        cells = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        # Sorting by cell, then by chance, shuffles every cell's answers in one go.
        self._values = values[np.lexsort((rng.random(len(values)), cells))]
        self._next = starts[:-1].copy()
        self._stops = starts[1:]

    def __call__(self, batch: Batch, /) -> Tally:
        """Draw what is there; raise CellExhausted before drawing if a cell has nothing left."""
        cells = batch.items * self.problem.questions + batch.questions
        empty = np.flatnonzero(self._next[cells] == self._stops[cells])
        if len(empty):
            row = empty[0]
            raise CellExhausted(
                f"item {batch.items[row]}, question {batch.questions[row]} needs an unused answer",
                "a cell whose recorded answers are all used",
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
