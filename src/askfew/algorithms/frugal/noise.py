"""How loud the answers to each question are, where that is less than their evidence allows for."""

from __future__ import annotations

import numpy as np

from askfew.answers import Number
from askfew.evidence import nine_digits
from askfew.records import Floats, Ints, Problem, Tally

__all__ = ["Noise"]

_QUIET = 0.6
"""Noise is believed to be smaller than allowed for if its square is below this share."""
_DOUBT = 20.0
"""Answers that are thought to have shown what is usual, before any is heard."""


class Noise:
    """The spread of the answers to each question, over all items; for heuristics only.

    Evidence allows for sigma, or for the largest spread that bounded answers of such a mean can
    have (that of yes and no). Groups that differ add to the spread that is seen, so that a question
    is not thought to be quieter than it is.
    """

    def __init__(self, problem: Problem) -> None:
        self._answers = problem.answers
        self._counts, self._sums, self._squares = np.zeros((3, problem.questions))

    def record(self, questions: Ints, tally: Tally) -> None:
        """Hear a Batch's answers. Without sums of squares nothing is learned."""
        if tally.squares is None:
            return
        np.add.at(self._counts, questions, tally.counts)
        np.add.at(self._sums, questions, tally.sums)
        np.add.at(self._squares, questions, tally.squares)

    def shares(self, questions: Ints) -> Floats:
        """Squared noise of each question as a share of the allowed; 1 unless it is clearly less."""
        allowed = self._allowed()
        if not allowed.any():
            return np.ones(len(questions))
        doubt = _DOUBT * allowed.sum() / self._counts.sum()
        seen = self._squares - self._sums**2 / np.maximum(self._counts, 1)
        usual = (seen.sum() + doubt) / (allowed.sum() + doubt)
        share = nine_digits((seen[questions] + doubt * usual) / (allowed[questions] + doubt))
        return np.where(share < _QUIET, np.maximum(share, 1e-12), 1.0)

    def _allowed(self) -> Floats:
        """The sum of squared deviations that the evidence allows for, by question."""
        if isinstance(self._answers, Number):
            return np.maximum(self._counts - 1, 0) * self._answers.sigma**2
        means = self._sums / np.maximum(self._counts, 1)
        room = (means - self._answers.low) * (self._answers.high - means)
        return np.asarray(self._counts * np.maximum(room, 0))
