"""Questions dealt without replacement, and shuffled again when all are out."""

from __future__ import annotations

import numpy as np

from askfew.records import Ints

__all__ = ["Deck"]

_NONE = np.zeros(0, dtype=np.int64)


class Deck:
    """Deals questions at random, every question once before any comes again.

    Those in ``first`` are dealt before all others, in their order.

    >>> deck = Deck(3, np.random.default_rng(0))
    >>> sorted(deck.deal(3).tolist())
    [0, 1, 2]
    """

    def __init__(self, questions: int, rng: np.random.Generator, first: Ints = _NONE) -> None:
        self._questions = questions
        self._rng = rng
        self._left = np.append(first, rng.permutation(questions))

    def deal(self, size: int) -> Ints:
        """The next ``size`` questions."""
        while len(self._left) < size:
            self._left = np.concatenate([self._left, self._rng.permutation(self._questions)])
        dealt, self._left = self._left[:size], self._left[size:]
        return dealt
