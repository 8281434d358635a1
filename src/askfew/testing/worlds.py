"""Small worlds for the checks: easy ones, and ones where answers are missing."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from askfew import oracles
from askfew.answers import Number, YesNo
from askfew.records import Batch, Ints, Oracle, Problem, Tally

__all__ = ["ForgetfulOracle", "no_global_randomness", "two_groups"]


def two_groups(problem: Problem, seed: int) -> Oracle:
    """An oracle for two groups that differ clearly on every second question.

    >>> two_groups(Problem(4, 2), seed=0).problem
    Problem(items=4, questions=2, kind=YesNo())
    """
    kind, labels = problem.kind, np.arange(problem.items) % 2
    rng = np.random.default_rng(seed)
    useful = np.arange(problem.questions) % 2 == 0
    chances = np.where(useful, [[0.1], [0.9]], 0.5)
    if isinstance(kind, Number):
        return oracles.gaussian(8 * kind.sigma * chances, kind.sigma, labels=labels, rng=rng)
    if isinstance(kind, YesNo):
        return oracles.bernoulli(chances, labels=labels, rng=rng)
    means = kind.low + (kind.high - kind.low) * chances
    return oracles.scale(means, kind.low, kind.high, labels=labels, rng=rng)


class ForgetfulOracle:
    """Asks another oracle, but for only as many answers of each row as ``keep`` returns.

    ``keep`` is given the number of the Batch (from 0) and its repeats, and returns counts.

    >>> world = two_groups(Problem(4, 2), seed=0)
    >>> skips = ForgetfulOracle(world, keep=lambda step, repeats: repeats // 2)
    >>> skips(Batch(np.array([0, 1]), np.array([0, 0]), np.array([4, 1]))).counts
    array([2, 0])
    """

    def __init__(self, oracle: Oracle, keep: Callable[[int, Ints], Ints]) -> None:
        self.problem = oracle.problem
        self._oracle, self._keep = oracle, keep
        self._step = 0

    def __call__(self, batch: Batch, /) -> Tally:
        """The answers of the rows that are kept."""
        counts = self._keep(self._step, batch.repeats)
        self._step += 1
        sums = np.zeros(len(batch))
        rows = np.flatnonzero(counts)
        if len(rows):
            asked = Batch(batch.items[rows], batch.questions[rows], counts[rows], batch.why)
            sums[rows] = self._oracle(asked).sums
        return Tally(counts, sums)


@contextmanager
def no_global_randomness(what: str) -> Iterator[None]:
    """Fail if Python's or NumPy's global generator was seeded or drawn from inside the block."""
    before = random.getstate(), _numpy_state()
    yield
    assert random.getstate() == before[0], f"{what} must leave Python's global random state alone"
    assert _numpy_state() == before[1], f"{what} must leave NumPy's global random state alone"


def _numpy_state() -> str:
    state: Any = np.random.get_state(legacy=True)  # noqa: NPY002
    return f"{state[1].tobytes().hex()} {state[2:]}"
