"""Candidates: two items and a question, and what has been answered about them so far."""

from __future__ import annotations

import math

import numpy as np

from askfew.answers import AnswerKind
from askfew.evidence import log_evidence, nine_digits
from askfew.records import Floats, Ints

__all__ = ["Pool", "in_sample_evidence"]

_SILENT = 6
"""Returns in a row without an answer of one side after which a candidate is given up. Where 30 %
of the answers arrive, 3 cost 1.5 times the answers of 6; 10 cost the same (tests/algorithms/frugal/
test_arrival.py)."""


class Pool:
    """A growing table of candidates; row c has sides 0 and 1, the two items of the pair."""

    def __init__(self, answers: AnswerKind, tolerance: float = 0.0) -> None:
        self.answers = answers
        self.tolerance = tolerance
        self.size = 0
        self._items = np.zeros((64, 2), dtype=np.int64)
        self._questions = np.zeros(64, dtype=np.int64)
        self._counts = np.zeros((64, 2))
        self._sums = np.zeros((64, 2))
        self._scores = np.zeros(64)
        self._silent = np.zeros(64, dtype=np.int64)

    @property
    def items(self) -> Ints:
        """The pair of each candidate."""
        return self._items[: self.size]

    @property
    def questions(self) -> Ints:
        """The question of each candidate."""
        return self._questions[: self.size]

    @property
    def counts(self) -> Floats:
        """Answers of each side."""
        return self._counts[: self.size]

    @property
    def sums(self) -> Floats:
        """Sum of the answers of each side."""
        return self._sums[: self.size]

    @property
    def scores(self) -> Floats:
        """How different the two sides look, in nats; -inf for what is given up."""
        return self._scores[: self.size]

    @property
    def samples(self) -> Floats:
        """Pairs of answers: the smaller count of the two sides."""
        return np.minimum(self.counts[:, 0], self.counts[:, 1])

    def add(self, items: Ints, questions: Ints, replaced: Ints | None = None) -> Ints:
        """New candidates, not asked yet, some in the place of old ones; returns their rows."""
        old = np.zeros(0, dtype=np.int64) if replaced is None else replaced
        more = len(questions) - len(old)
        while self.size + more > len(self._questions):
            self._grow()
        rows = np.append(old, np.arange(self.size, self.size + more))
        self.size += more
        self._items[rows], self._questions[rows] = items, questions
        for column in (self._counts, self._sums, self._scores, self._silent):
            column[rows] = 0
        return rows

    def least(self, size: int) -> Ints:
        """The rows of the lowest scores."""
        return np.sort(np.argsort(self.scores, kind="stable")[:size])

    def record(self, rows: Ints, counts: Floats, sums: Floats) -> None:
        """Add answers (rows x sides), and look again at how different the sides are."""
        self._counts[rows] += counts
        self._sums[rows] += sums
        self._silent[rows] = np.where(
            (counts[:, 0] > 0) & (counts[:, 1] > 0), 0, self._silent[rows] + 1
        )
        score = in_sample_evidence(
            self.answers, self._counts[rows], self._sums[rows], self.tolerance
        )
        lost = (self._silent[rows] >= _SILENT) | np.isneginf(self._scores[rows])
        self._scores[rows] = np.where(lost, -math.inf, score)

    def believe(self, rows: Ints, counts: Floats, sums: Floats) -> None:
        """Forget what these candidates answered, and believe this instead."""
        self._counts[rows], self._sums[rows] = 0.0, 0.0
        self.record(rows, counts, sums)

    def give_up(self, rows: Ints) -> None:
        """Never look at these candidates again."""
        self._scores[rows] = -math.inf

    def _grow(self) -> None:
        for name in ("_items", "_questions", "_counts", "_sums", "_scores", "_silent"):
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old, np.zeros_like(old)]))


def in_sample_evidence(
    answers: AnswerKind, counts: Floats, sums: Floats, tolerance: float = 0.0
) -> Floats:
    """The evidence a bet on the observed means would have had: for ranking, never a certificate.

    >>> from askfew.answers import Number
    >>> in_sample_evidence(Number(1.0), np.array([[4.0, 4.0]]), np.array([[0.0, 8.0]]))
    array([4.])
    """
    means = sums / np.maximum(counts, 1)
    (x, r), (a, b) = sums.T, counts.T
    score = log_evidence(answers, means[:, 0], means[:, 1], x, a, r, b, tolerance=tolerance)
    return nine_digits(score)
