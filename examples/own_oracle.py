"""A world of your own: a crowd that gets tired, with the truth that it is judged by.

    cd examples && askfew simulate --oracle own_oracle:tired_crowd --runs 20 --jobs 2

A package installs it under a name with an entry point of the group askfew.oracles.
"""

from __future__ import annotations

import numpy as np

from askfew import Batch, Problem, Tally

ITEMS, QUESTIONS = 20, 5


class TiredCrowd:
    """Two kinds of items that question 2 tells apart; the longer it goes, the more is guessed."""

    problem = Problem(ITEMS, QUESTIONS)

    def __init__(self, rng: np.random.Generator) -> None:
        self.kinds = rng.permutation(np.arange(ITEMS) % 2)
        self._rng, self._answered = rng, 0

    def __call__(self, batch: Batch, /) -> Tally:
        """Count the yes of every row."""
        awake = 0.25 + 0.75 * np.exp(-self._answered / 20_000)
        lean = 0.4 * awake * np.where(self.kinds[batch.items] == 1, 1, -1)
        yes = self._rng.binomial(batch.repeats, 0.5 + np.where(batch.questions == 2, lean, 0.0))
        self._answered += int(batch.repeats.sum())
        return Tally(batch.repeats, yes.astype(float))


def tired_crowd(rng: np.random.Generator) -> tuple[TiredCrowd, np.ndarray]:
    """Who answers, and the true group of every item."""
    crowd = TiredCrowd(rng)
    return crowd, crowd.kinds
