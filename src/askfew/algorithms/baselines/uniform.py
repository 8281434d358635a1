"""Uniform sampling within a fixed budget, then k-means or a spectral split. Nothing is promised."""

from __future__ import annotations

import numpy as np

from askfew.algorithms.baselines.k_means import check_groups, k_means
from askfew.errors import InvalidInput
from askfew.evidence import nine_digits
from askfew.records import Batch, Finding, Floats, Ints, Problem, Procedure, Snapshot, renumbered

__all__ = ["filled_means", "kmeans", "kmeans10", "spectral", "uniform_answers"]

_ROWS = 1_000_000
"""The most cells of one Batch: about 100 MB of arrays at a time. A round number."""


def kmeans(problem: Problem, rng: np.random.Generator, *, budget: int) -> Procedure[Finding]:
    """The paper's baseline: floor(budget / nd) answers per cell, k-means from one start.

    One start often ends in a local optimum, so its errors are not all due to noise.
    """
    means = filled_means(*(yield from uniform_answers(problem, budget, rng, whole_sweeps=True)))
    return Finding(k_means(means, 2, starts=1, rng=rng))


def kmeans10(
    problem: Problem, rng: np.random.Generator, *, budget: int, groups: int = 2
) -> Procedure[Finding]:
    """The same with ten starts and the whole budget: what a careful user would do."""
    check_groups(problem, groups)
    means = filled_means(*(yield from uniform_answers(problem, budget, rng)))
    return Finding(k_means(means, groups, starts=10, rng=rng), groups=groups)


def spectral(
    problem: Problem, rng: np.random.Generator, *, budget: int, groups: int = 2
) -> Procedure[Finding]:
    """Leading singular vector of the centred means, cut where two groups fit best.

    With K groups: k-means on the K - 1 leading vectors, each as long as its singular value.
    """
    check_groups(problem, groups)
    means = filled_means(*(yield from uniform_answers(problem, budget, rng)))
    centred = means - means.mean(axis=0)
    left, size, _ = np.linalg.svd(centred, full_matrices=False)
    if groups == 2:
        return Finding(renumbered(_best_cut(nine_digits(left[:, 0]))))
    points = nine_digits(left[:, : groups - 1] * size[: groups - 1])
    return Finding(k_means(points, groups, starts=10, rng=rng), groups=groups)


def uniform_answers(
    problem: Problem, budget: int, rng: np.random.Generator, *, whole_sweeps: bool = False
) -> Procedure[tuple[Ints, Floats]]:
    """Counts and sums of the answers of every cell that was asked: items x asked questions.

    A sweep asks every cell once. What is left of the budget after whole sweeps buys one more answer
    on as many random questions as it can, unless ``whole_sweeps`` says to leave it unspent.
    """
    n, d = problem.items, problem.questions
    sweeps, extra = divmod(budget // n, d)
    if whole_sweeps:
        extra = 0  # as the paper's baseline does: only complete tables
    if sweeps + extra == 0:
        least = n * d if whole_sweeps else n
        raise InvalidInput(
            f"budget must be at least {least:,}, to ask something of every item",
            f"{budget:,}",
            "raise the budget",
        )
    repeats = np.full(d, sweeps)
    repeats[rng.permutation(d)[:extra]] += 1
    asked = np.flatnonzero(repeats)
    counts, sums = np.zeros((n, len(asked)), dtype=np.int64), np.zeros((n, len(asked)))
    known = Snapshot("uniform sampling", np.full(n, -1))
    for items in np.array_split(np.arange(n), -(-n * len(asked) // _ROWS)):
        tally = yield Batch(
            np.repeat(items, len(asked)),
            np.tile(asked, len(items)),
            np.tile(repeats[asked], len(items)),
            f"ask {len(items)} items each of {len(asked)} questions",
            known,
        )
        counts[items] = tally.counts.reshape(len(items), -1)
        sums[items] = tally.sums.reshape(len(items), -1)
    return counts, sums


def filled_means(counts: Ints, sums: Floats) -> Floats:
    """The mean answer of every cell; one that nobody answered has the mean of its question."""
    holes = counts == 0
    means = np.asarray(sums / np.maximum(counts, 1))
    if not holes.any():
        return means
    answered = np.maximum((~holes).sum(axis=0), 1)
    column = np.where(holes, 0.0, means).sum(axis=0) / answered
    return np.where(holes, column, means)


def _best_cut(values: Floats) -> Ints:
    """Exact 2-means in one dimension: the cut of the sorted values with most spread between."""
    order = np.argsort(values, kind="stable")
    n = len(values)
    left = np.arange(1, n)
    total = values.sum()
    sums = np.cumsum(values[order])[:-1]
    between = sums**2 / left + (total - sums) ** 2 / (n - left)
    labels = np.zeros(n, dtype=np.int64)
    labels[order[int(np.argmax(nine_digits(between))) + 1 :]] = 1
    return labels
