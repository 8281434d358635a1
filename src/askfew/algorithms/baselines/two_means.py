"""Two groups by k-means: Lloyd's rounds from several starts, each seeded far apart.

Written out here because it is small: nobody should need scikit-learn for a baseline.
"""

from __future__ import annotations

import numpy as np

from askfew.evidence import nine_digits
from askfew.records import Floats, Ints

__all__ = ["labelled_from_zero", "two_means"]

_ROUNDS = 300
"""The most of one start; scikit-learn's number. A few are enough nearly always."""
_CANDIDATES = 2
"""Second seeds that are tried, as in scikit-learn (which tries 2 + log k of them)."""


def two_means(points: Floats, *, starts: int, rng: np.random.Generator) -> Ints:
    """The split with most spread between the groups that any start ends in, item 0 in group 0.

    >>> rng = np.random.default_rng(0)
    >>> two_means(np.array([[0.0], [5.0], [0.1], [5.1]]), starts=1, rng=rng)
    array([0, 1, 0, 1])
    """
    centred = points - points.mean(axis=0)
    best, most = np.zeros(len(points), dtype=np.int64), 0.0
    for _ in range(starts):
        labels, between = _settled(centred, _seeds(centred, rng))
        if between > most:
            best, most = labels, between
    return labelled_from_zero(best)


def labelled_from_zero(labels: Ints) -> Ints:
    """The same two groups, named so that item 0 has label 0."""
    return np.asarray(labels != labels[0], dtype=np.int64)


def _seeds(points: Floats, rng: np.random.Generator) -> Floats:
    """Two of the points, the second likelier the farther away: greedy k-means++."""
    first = points[rng.integers(len(points))]
    away = _squares(points - first)
    if not away.any():  # nothing tells any two apart
        return np.stack([first, first])
    candidates = rng.choice(len(points), _CANDIDATES, p=away / away.sum())
    left = [np.minimum(away, _squares(points - points[each])).sum() for each in candidates]
    return np.stack([first, points[candidates[int(np.argmin(nine_digits(left)))]]])


def _settled(points: Floats, centres: Floats) -> tuple[Ints, float]:
    """Where Lloyd's rounds end, and the sum of squares between the two groups.

    No group ever gets empty: the mean of a group lies on its own side of the middle.
    """
    labels, between = np.zeros(len(points), dtype=np.int64), 0.0
    for _ in range(_ROUNDS):
        axis, middle = centres[1] - centres[0], centres.mean(axis=0)
        # No matrix product: it may add in another order on another machine, and end elsewhere.
        moved = (np.einsum("ij,j->i", points - middle, axis) > 0).astype(np.int64)
        ones = int(moved.sum())
        if np.array_equal(moved, labels) or ones in (0, len(points)):  # the last: all are equal
            break
        labels = moved
        centres = np.stack([points[labels == group].mean(axis=0) for group in (0, 1)])
        gap = float(_squares(centres[1] - centres[0]))
        between = float(nine_digits(gap * ones * (len(points) - ones) / len(points)))
    return labels, between


def _squares(vectors: Floats) -> Floats:
    return np.asarray(np.einsum("...j,...j->...", vectors, vectors))
