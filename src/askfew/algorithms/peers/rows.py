"""Whole-row sampling, as in the bandit clustering of others: an item is pulled, and all its
questions are answered once. A pull costs as many answers as there are questions.
"""

from __future__ import annotations

import numpy as np

from askfew.records import Batch, Floats, Ints, Problem, Procedure, Snapshot, Tally

__all__ = ["Rows", "pull"]

_ROWS = 1_000_000
"""The most cells of one Batch: about 100 MB of arrays at a time. A round number."""


class Rows:
    """Counts and sums of all that was pulled: items x questions.

    A cell that nobody answered has its question's mean; an item's pulls are the answers of its
    least answered question, so that people who skip make nothing look surer than it is.
    """

    def __init__(self, problem: Problem) -> None:
        shape = problem.items, problem.questions
        self.counts, self.sums = np.zeros(shape, dtype=np.int64), np.zeros(shape)

    def add(self, items: Ints, tally: Tally) -> None:
        """Take in the answers of one pull of each item (or of several)."""
        shape = len(items), self.counts.shape[1]
        self.counts[items] += tally.counts.reshape(shape)
        self.sums[items] += tally.sums.reshape(shape)

    @property
    def pulls(self) -> Ints:
        """The pulls of every item."""
        return np.asarray(self.counts.min(axis=1))

    @property
    def means(self) -> Floats:
        """The mean answer of every cell."""
        overall = self.sums.sum(axis=0) / np.maximum(self.counts.sum(axis=0), 1)
        return np.where(self.counts > 0, self.sums / np.maximum(self.counts, 1), overall)


def pull(problem: Problem, items: Ints, times: Ints, rows: Rows, why: str) -> Procedure[bool]:
    """Pull these items, each as often as ``times`` says, and add the answers up.

    Returns whether any answer came.
    """
    d = problem.questions
    came = False
    known = Snapshot(why.split(":")[0], np.full(problem.items, -1))
    for part in np.array_split(np.arange(len(items)), -(-len(items) * d // _ROWS)):
        chosen = items[part]
        tally = yield Batch(
            np.repeat(chosen, d),
            np.tile(np.arange(d), len(part)),
            np.repeat(times[part], d),
            why,
            known,
        )
        rows.add(chosen, tally)
        came = came or tally.answers > 0
    return came
