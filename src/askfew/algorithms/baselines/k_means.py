"""k-means: Lloyd's rounds from several starts, each seeded far apart (greedy k-means++).

Written out here because it is small: nobody should need scikit-learn for a baseline.
"""

from __future__ import annotations

import numpy as np

from askfew.errors import InvalidInput
from askfew.evidence import nine_digits
from askfew.records import Floats, Ints, Problem, renumbered

__all__ = ["check_groups", "k_means", "lloyd", "squared_distances"]

_ROUNDS = 300
"""Most rounds of one start: scikit-learn's default. A few are nearly always enough."""


def check_groups(problem: Problem, groups: int) -> None:
    """Refuse a number of groups that is not a whole number from 2 to the items."""
    if not isinstance(groups, int) or isinstance(groups, bool) or not 2 <= groups <= problem.items:
        raise InvalidInput(
            f"groups must be a whole number from 2 to the {problem.items} items",
            repr(groups),
            "pass how many groups there are",
        )


def k_means(points: Floats, groups: int, *, starts: int, rng: np.random.Generator) -> Ints:
    """The grouping with the least spread within groups that any start ends in.

    Groups are numbered in the order of their first items.

    >>> points = np.array([[0.0], [5.0], [9.0], [0.1], [5.1]])
    >>> k_means(points, 3, starts=5, rng=np.random.default_rng(0))
    array([0, 1, 2, 0, 1])
    """
    best, least = np.zeros(len(points), dtype=np.int64), np.inf
    weights = np.ones(len(points))
    for _ in range(starts):
        labels, within = lloyd(points, _seeds(points, groups, rng), weights)
        if within < least:
            best, least = labels, within
    return renumbered(best)


def lloyd(points: Floats, centres: Floats, weights: Floats) -> tuple[Ints, float]:
    """The groups that Lloyd's rounds end in, and the weighted sum of squares within them.

    The centre of an empty group stays where it was.
    """
    labels = np.full(len(points), -1)
    within = 0.0
    for _ in range(_ROUNDS):
        away = nine_digits(squared_distances(points, centres))
        before, labels = labels, away.argmin(axis=1)
        within = float(nine_digits(weights @ away.min(axis=1)))
        if np.array_equal(labels, before):
            break
        for group in range(len(centres)):
            inside = labels == group
            if inside.any():
                centres[group] = np.average(points[inside], axis=0, weights=weights[inside])
    return labels, within


def squared_distances(points: Floats, centres: Floats) -> Floats:
    """The squared distance of every point from every centre (points x centres)."""
    # No matrix product: it may add in another order on another machine, and end elsewhere.
    apart = [np.einsum("ij,ij->i", points - centre, points - centre) for centre in centres]
    return np.stack(apart, axis=1)


def _seeds(points: Floats, groups: int, rng: np.random.Generator) -> Floats:
    """One point for each group; a point is the likelier, the farther it is from those before it.

    Several candidates are drawn, as many as scikit-learn draws. The one that leaves the points
    nearest to the seeds is taken.
    """
    chosen = points[[rng.integers(len(points))]]
    away = squared_distances(points, chosen).min(axis=1)
    while len(chosen) < groups:
        total = away.sum()
        chances = away / total if total > 0 else None  # nothing tells any two apart
        candidates = rng.choice(len(points), 2 + int(np.log(groups)), p=chances)
        left = np.minimum(away[:, None], squared_distances(points, points[candidates]))
        best = int(np.argmin(nine_digits(left.sum(axis=0))))
        chosen, away = np.vstack([chosen, points[candidates[best]]]), left[:, best]
    return chosen
