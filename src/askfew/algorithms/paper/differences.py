"""The comparison that all four procedures use: items with item 0 on a question."""

from __future__ import annotations

import numpy as np

from askfew.records import Batch, Floats, Ints, Procedure, Snapshot, Tally

__all__ = ["against_reference", "differences", "until_answered"]


def against_reference(items: Ints, questions: Ints, tau: int, why: str, known: Snapshot) -> Batch:
    """Ask tau answers of item 0, then tau of item i, for every pair (i, j)."""
    pairs = len(items)
    both = np.zeros(2 * pairs, dtype=np.int64)
    both[pairs:] = items
    return Batch(both, np.concatenate([questions, questions]), np.full(2 * pairs, tau), why, known)


def differences(tally: Tally) -> tuple[Floats, Floats]:
    """(D, m): the mean difference of each pair, and how many pairs of answers it is worth.

    With tau answers on both sides m is tau, exactly. With a and b it is their harmonic mean, which
    keeps the noise of D at 2 sigma^2 / m; with none on one side, m and D are 0.
    """
    half = len(tally.counts) // 2
    b, a = tally.counts[:half], tally.counts[half:]
    R, X = tally.sums[:half], tally.sums[half:]
    m = 2 * a * b / np.maximum(a + b, 1)
    # A side without answers has the sum 0, and must not divide by 0.
    D = X / np.maximum(a, 1) - R / np.maximum(b, 1)
    D[m == 0] = 0.0
    return D, m


def until_answered(batch: Batch) -> Procedure[Tally]:
    """Ask the Batch, and ask again what did not come, until every row is full."""
    counts = np.zeros_like(batch.repeats)
    sums = np.zeros(len(batch))
    while (open_rows := np.flatnonzero(counts < batch.repeats)).size:
        missing = (batch.repeats - counts)[open_rows]
        tally = yield Batch(
            batch.items[open_rows], batch.questions[open_rows], missing, batch.why, batch.known
        )
        counts[open_rows] += tally.counts
        sums[open_rows] += tally.sums
    return Tally(counts, sums)
