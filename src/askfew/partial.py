"""Batches that were answered half way: what is still missing, and how two parts make one Tally."""

from __future__ import annotations

import numpy as np

from askfew.records import Batch, Tally

__all__ = ["merged", "rest_of"]


def rest_of(batch: Batch, partial: Tally) -> Batch | None:
    """The rows that still lack answers, asking only for those; None if none does."""
    missing = batch.repeats - partial.counts
    rows = np.flatnonzero(missing)
    if not len(rows):
        return None
    return Batch(batch.items[rows], batch.questions[rows], missing[rows], batch.why, batch.known)


def merged(batch: Batch, partial: Tally, rest: Tally) -> Tally:
    """The Tally of the whole Batch: ``rest`` answers what ``rest_of`` asked."""
    rows = np.flatnonzero(batch.repeats - partial.counts)
    counts, sums = partial.counts.copy(), partial.sums.copy()
    counts[rows] += rest.counts
    sums[rows] += rest.sums
    if partial.squares is None or rest.squares is None:
        return Tally(counts, sums)
    squares = partial.squares.copy()
    squares[rows] += rest.squares
    return Tally(counts, sums, squares)
