"""Uniform sampling, then scikit-learn's k-means."""

from __future__ import annotations

import warnings

import numpy as np

from askfew.algorithms.baselines.uniform import labelled_from_zero, uniform_means
from askfew.records import Finding, Floats, Ints, Problem, Procedure

__all__ = ["kmeans", "kmeans10", "two_means"]


def kmeans(problem: Problem, rng: np.random.Generator, *, budget: int) -> Procedure[Finding]:
    """The paper's baseline: floor(budget / nd) answers a cell, k-means from one start.

    One start often ends in a local optimum, so its errors are not all due to noise.
    """
    means = yield from uniform_means(problem, budget, rng, whole_sweeps=True)
    return Finding(two_means(means, starts=1, rng=rng))


def kmeans10(problem: Problem, rng: np.random.Generator, *, budget: int) -> Procedure[Finding]:
    """The same with ten starts and the whole budget: what a careful user would do."""
    means = yield from uniform_means(problem, budget, rng, whole_sweeps=False)
    return Finding(two_means(means, starts=10, rng=rng))


def two_means(points: Floats, *, starts: int, rng: np.random.Generator) -> Ints:
    """Two groups by scikit-learn's k-means, item 0 in group 0."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    model = KMeans(n_clusters=2, n_init=starts, random_state=int(rng.integers(2**31)))
    # One thread: partial sums added in another order could end in another optimum.
    with threadpool_limits(limits=1), warnings.catch_warnings():
        # Items nobody told apart (no answers, say) are one group; that is worth no warning.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return labelled_from_zero(model.fit_predict(points))
