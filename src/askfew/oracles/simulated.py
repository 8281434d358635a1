"""Simulated oracles. They draw sums: a cell with m repeats takes one draw, not m.

The distribution of a Tally is exactly that of m separate answers. The means are a matrix (items x
questions), or, for large worlds, one row for each group, with ``labels`` for the row of each item.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from askfew.answers import Number, Scale, YesNo
from askfew.errors import InvalidInput
from askfew.records import Batch, Floats, Ints, Problem, Tally

__all__ = [
    "BernoulliOracle",
    "GaussianOracle",
    "ScaleOracle",
    "Seed",
    "bernoulli",
    "gaussian",
    "scale",
]

Seed: TypeAlias = "int | np.random.SeedSequence | np.random.Generator | None"


class Means:
    """The mean of every cell. With labels, no matrix of items x questions is built."""

    def __init__(self, means: ArrayLike, labels: ArrayLike | None) -> None:
        try:
            self.rows: Floats = np.array(means, dtype=np.float64)
        except (TypeError, ValueError):  # rows of different lengths, or no numbers
            self.rows = np.zeros(0)
        if self.rows.ndim != 2 or not np.isfinite(self.rows).all():
            raise InvalidInput(
                "means must be a matrix of finite numbers, one row per item (or per group)",
                f"shape {self.rows.shape}",
                "write means[item][question]",
            )
        self.labels: Ints = np.arange(len(self.rows)) if labels is None else np.array(labels)
        if (
            self.labels.ndim != 1
            or self.labels.dtype.kind not in "iu"
            or (
                len(self.labels)
                and not 0 <= self.labels.min() <= self.labels.max() < len(self.rows)
            )
        ):
            raise InvalidInput(
                f"labels must be row numbers of means, 0 to {len(self.rows) - 1}",
                f"shape {self.labels.shape} of {self.labels.dtype}",
                "give each item the row of its group",
            )

    @property
    def shape(self) -> tuple[int, int]:
        """The number of items and of questions."""
        return len(self.labels), self.rows.shape[1]

    def of(self, batch: Batch) -> Floats:
        """The mean of each row's cell."""
        return self.rows[self.labels[batch.items], batch.questions]


class GaussianOracle:
    """Answers ~ Normal(mean of the cell, sigma)."""

    def __init__(self, means: Means, sigma: float, rng: np.random.Generator) -> None:
        self.problem = Problem(*means.shape, Number(sigma))
        self._means, self._sigma, self._rng = means, sigma, rng

    def __call__(self, batch: Batch, /) -> Tally:
        """Draw a normal for the sum of each row, and a chi-square for the squares around it."""
        m = batch.repeats
        sums = m * self._means.of(batch)
        sums += self._sigma * np.sqrt(m) * self._rng.standard_normal(len(m))
        squares = sums**2 / m
        squares += 2 * self._sigma**2 * self._rng.standard_gamma((m - 1) / 2)  # 0 where m is 1
        return Tally(m, sums, squares)


class BernoulliOracle:
    """Says yes with the probability of the cell."""

    def __init__(self, means: Means, rng: np.random.Generator) -> None:
        self.problem = Problem(*means.shape, YesNo())
        self._means, self._rng = means, rng

    def __call__(self, batch: Batch, /) -> Tally:
        """Draw a binomial for each row."""
        sums = self._rng.binomial(batch.repeats, self._means.of(batch)).astype(np.float64)
        return Tally(batch.repeats, sums, sums)


class ScaleOracle:
    """Answers with five equally spaced values from low to high, binomial around the mean."""

    def __init__(self, means: Means, answers: Scale, rng: np.random.Generator) -> None:
        self.problem = Problem(*means.shape, answers)
        self._means, self._answers, self._rng = means, answers, rng
        self._values = np.linspace(answers.low, answers.high, 5)

    def __call__(self, batch: Batch, /) -> Tally:
        """Draw a multinomial for each row: how often each of the five values came."""
        p = (self._means.of(batch) - self._answers.low) / (self._answers.high - self._answers.low)
        p = p[:, np.newaxis]
        q = 1 - p
        chances = np.hstack([q**4, 4 * p * q**3, 6 * p**2 * q**2, 4 * p**3 * q, p**4])
        times = self._rng.multinomial(batch.repeats, chances)
        return Tally(batch.repeats, times @ self._values, times @ self._values**2)


def gaussian(
    means: ArrayLike, sigma: float = 1.0, *, labels: ArrayLike | None = None, rng: Seed = None
) -> GaussianOracle:
    """An oracle with normal answers.

    >>> oracle = gaussian([[0.0, 0.0], [0.0, 3.0]], rng=1)
    >>> oracle.problem
    Problem(items=2, questions=2, kind=Number(sigma=1.0))
    """
    return GaussianOracle(Means(means, labels), sigma, np.random.default_rng(rng))


def bernoulli(
    means: ArrayLike, *, labels: ArrayLike | None = None, rng: Seed = None
) -> BernoulliOracle:
    """An oracle with yes/no answers; ``means`` are the probabilities of yes.

    >>> oracle = bernoulli([[0.1, 0.5], [0.9, 0.5]], labels=[0, 0, 1], rng=1)
    >>> oracle(Batch(np.array([0, 2]), np.array([0, 0]), np.array([100, 100]))).sums
    array([10., 85.])
    """
    return BernoulliOracle(_between(Means(means, labels), 0.0, 1.0), np.random.default_rng(rng))


def scale(
    means: ArrayLike,
    low: float = 0.0,
    high: float = 4.0,
    *,
    labels: ArrayLike | None = None,
    rng: Seed = None,
) -> ScaleOracle:
    """An oracle with five-valued answers from ``low`` to ``high``.

    >>> scale([[1.0, 2.0], [3.0, 2.0]], rng=1).problem.kind
    Scale(low=0.0, high=4.0)
    """
    answers = Scale(low, high)
    return ScaleOracle(
        _between(Means(means, labels), low, high), answers, np.random.default_rng(rng)
    )


def _between(means: Means, low: float, high: float) -> Means:
    if means.rows.size and not low <= means.rows.min() <= means.rows.max() <= high:
        raise InvalidInput(
            f"means must lie between {low:g} and {high:g}",
            f"{means.rows.min():g} to {means.rows.max():g}",
            "rescale them, or simulate numbers instead",
        )
    return means
