"""Uniform sampling, then a spectral split."""

from __future__ import annotations

import numpy as np

from askfew.algorithms.baselines.uniform import labelled_from_zero, uniform_means
from askfew.records import Finding, Floats, Ints, Problem, Procedure

__all__ = ["spectral"]


def spectral(problem: Problem, rng: np.random.Generator, *, budget: int) -> Procedure[Finding]:
    """Leading singular vector of the centred means, cut where two groups fit best."""
    means = yield from uniform_means(problem, budget, rng, whole_sweeps=False)
    from threadpoolctl import threadpool_limits

    centred = means - means.mean(axis=0)
    # One thread: the last bits of the vector must not depend on how many cores there are.
    with threadpool_limits(limits=1):
        leading = np.linalg.svd(centred, full_matrices=False)[0][:, 0]
    return Finding(labelled_from_zero(_best_cut(leading)))


def _best_cut(values: Floats) -> Ints:
    """Exact 2-means in one dimension: the cut of the sorted values with most spread between."""
    order = np.argsort(values, kind="stable")
    n = len(values)
    left = np.arange(1, n)
    total = values.sum()
    sums = np.cumsum(values[order])[:-1]
    between = sums**2 / left + (total - sums) ** 2 / (n - left)
    labels = np.zeros(n, dtype=np.int64)
    labels[order[int(np.argmax(between)) + 1 :]] = 1
    return labels
