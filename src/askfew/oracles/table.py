"""An oracle over recorded answers, which are drawn without replacement.

Drawing with replacement would use the same noise twice and void the certificate. For the same
reason a table has a ``fingerprint``: a rule that was learnt from these answers must not be
certified by them. And a run that goes on from its log is not given what the log holds a second time
(``catch_up``).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence, Sized
from typing import Any

import numpy as np

from askfew.answers import AnswerKind, YesNo
from askfew.errors import CellExhausted, InvalidAnswer, InvalidInput
from askfew.frames import columns_of
from askfew.oracles.simulated import Seed
from askfew.records import Batch, Floats, Ints, Problem, Tally

__all__ = ["TableOracle", "from_frame", "table"]


class TableOracle:
    """Answers from a record. A row gets what its cell has left, which may be nothing.

    If no cell of a Batch has answers left, CellExhausted ends the run.
    """

    def __init__(
        self, problem: Problem, values: Floats, starts: Ints, rng: np.random.Generator
    ) -> None:
        self.problem = problem
        cells = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        self.fingerprint = _fingerprint(cells, values)
        """A digest of the recorded answers, in whichever order they were recorded."""
        self.names: tuple[list[object], list[object]] | None = None
        """The names of items and questions, if the record has names."""
        self.taught: set[str] = set()
        """Digests of rules that were learnt from this object. It may go on to certify them, because
        the answers that taught them are used up."""
        # Sorting by cell and then by a random number shuffles the answers within every cell.
        self._values = values[np.lexsort((rng.random(len(values)), cells))]
        self._next = starts[:-1].copy()
        self._stops = starts[1:]
        self._given: Counter[bytes] = Counter()
        """Digests of what was asked and answered, and how often that was."""

    @classmethod
    def of_rows(
        cls,
        items: Sequence[object],
        questions: Sequence[object],
        values: Sequence[float],
        kind: AnswerKind,
        rng: np.random.Generator,
    ) -> TableOracle:
        """From rows of item, question and value, one for each answer. Cells may be empty.

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
        # Names are numbered as they come, and other rows may come first in another file.
        rank, turn = ({name: at for at, name in enumerate(sorted(each, key=str))} for each in names)
        rows = zip(items, questions, strict=True)
        named = np.array([rank[item] * len(turn) + turn[question] for item, question in rows])
        made.fingerprint = _fingerprint(named, np.asarray(values, dtype=np.float64))
        return made

    @property
    def per_cell(self) -> Floats:
        """How many answers each cell still has (items x questions)."""
        left = (self._stops - self._next).astype(np.float64)
        return left.reshape(self.problem.items, self.problem.questions)

    def __call__(self, batch: Batch, /) -> Tally:
        """Draw the answers that are left; raise CellExhausted if there are none at all."""
        cells = batch.items * self.problem.questions + batch.questions
        if (self._next[cells] == self._stops[cells]).all():
            raise CellExhausted(
                "a Batch must ask for recorded answers that are not used yet",
                f"{len(batch)} rows whose cells are used up, the first item {batch.items[0]},"
                f" question {batch.questions[0]}",
                "record more answers",
            )
        tally = self._drawn(batch)
        self._given[_digest(batch, tally)] += 1
        return tally

    def catch_up(self, answered: Iterable[tuple[Batch, Tally]]) -> None:
        """Use up the answers that a log holds; those that this object gave are used up already.

        InvalidInput if this record, shuffled as it is here, would have given others: then nobody
        knows which of its answers are still fresh.
        """
        before, given = self._next.copy(), self._given.copy()
        drawn_now: Counter[bytes] = Counter()
        for batch, tally in answered:
            digest = _digest(batch, tally)
            if given[digest]:  # two steps may be alike, so they are counted
                given[digest] -= 1
                continue
            drawn = self._drawn(batch)
            same = np.array_equal(drawn.counts, tally.counts)
            if not same or not np.allclose(drawn.sums, tally.sums, rtol=1e-9, atol=1e-9):
                self._next = before
                raise InvalidInput(
                    "a run over recorded answers must go on with the answers it did not have yet",
                    "a table that would have answered the log's steps otherwise",
                    "pass the table object of that run, or load the same record with the same rng",
                )
            drawn_now[digest] += 1
        self._given += drawn_now

    def _drawn(self, batch: Batch) -> Tally:
        """The next answers of each row's cell, as many as are left."""
        cells = batch.items * self.problem.questions + batch.questions
        counts = np.zeros(len(batch), dtype=np.int64)
        sums, squares = np.zeros(len(batch)), np.zeros(len(batch))
        for row, (cell, repeats) in enumerate(zip(cells, batch.repeats, strict=True)):
            start = self._next[cell]
            drawn = self._values[start : min(start + repeats, self._stops[cell])]
            self._next[cell] += len(drawn)
            counts[row], sums[row], squares[row] = len(drawn), drawn.sum(), drawn @ drawn
        return Tally(counts, sums, squares)


def _fingerprint(cells: Ints, values: Floats) -> str:
    order = np.lexsort((values, cells))
    whole = cells[order].astype(np.int64).tobytes() + values[order].tobytes()
    return hashlib.sha256(whole).hexdigest()


def _digest(batch: Batch, tally: Tally) -> bytes:
    whole = np.stack([batch.items, batch.questions, tally.counts]).astype(np.int64)
    sums = np.asarray(tally.sums, dtype=np.float64)
    return hashlib.sha256(whole.tobytes() + sums.tobytes()).digest()


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
            expected, f"{got} for item {item}, question {question}", "fix the table"
        ) from None


def from_frame(
    frame: Any,
    *,
    item: str = "item",
    question: str = "question",
    answer: str = "answer",
    answers: AnswerKind | None = None,
    rng: Seed = None,
) -> TableOracle:
    """An oracle over a data frame of pandas, polars or pyarrow; each row is one answer.

    The values of the item and question columns are the names in the outcome.

    >>> import pandas as pd
    >>> rows = {"item": ["owl", "owl", "elk"], "question": ["flies?"] * 3, "answer": [1, 1, 0]}
    >>> from_frame(pd.DataFrame(rows), rng=0).names
    (['owl', 'elk'], ['flies?'])
    """
    kind = YesNo() if answers is None else answers
    items, questions, values = columns_of(frame, (item, question, answer))
    read = []
    for row, value in enumerate(values):
        try:
            read.append(kind.read(value))
        except InvalidAnswer as error:
            expected, got, _ = error.args
            raise InvalidInput(expected, f"{got} in row {row}", "fix the frame") from None
    return TableOracle.of_rows(items, questions, read, kind, np.random.default_rng(rng))
