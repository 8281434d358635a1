"""Small worlds for the frugal method's tests."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from askfew.algorithms.frugal import frugal
from askfew.driver import RunEnd, run
from askfew.oracles import bernoulli, gaussian
from askfew.records import Batch, Finding, Floats, Ints, Oracle, Tally

LABELS = np.array([0, 1, 0, 1, 1, 0, 0, 1, 0, 1])


def group_means(gap: float, useful: int, questions: int) -> Floats:
    means = np.zeros((2, questions))
    means[1, :useful] = gap
    return means


def numbers(
    seed: int,
    gap: float = 2.0,
    useful: int = 1,
    questions: int = 5,
    labels: Ints = LABELS,
) -> Oracle:
    return gaussian(group_means(gap, useful, questions), labels=labels, rng=seed)


def yes_no(
    seed: int, chance: float, useful: int = 1, questions: int = 5, labels: Ints = LABELS
) -> Oracle:
    means = np.full((2, questions), 0.5)
    means[:, :useful] = np.array([[1 - chance], [chance]])
    return bernoulli(means, labels=labels, rng=seed)


def play(
    oracle: Oracle, seed: int = 0, delta: float = 0.05, cap: int = 10**7, **options: object
) -> RunEnd[Finding]:
    procedure = frugal(oracle.problem, delta, np.random.default_rng([seed, 7]), **options)  # type: ignore[arg-type]
    return run(procedure, oracle, max_answers=cap)


def right(ended: RunEnd[Finding], truth: Ints) -> bool:
    assert ended.result is not None
    return np.array_equal(ended.result.labels, (truth != truth[0]).astype(np.int64))


class Silent:
    """An oracle some of whose cells never answer."""

    def __init__(self, oracle: Oracle, silent: Callable[[Ints, Ints], np.ndarray]) -> None:
        self.problem = oracle.problem
        self._oracle, self._silent = oracle, silent

    def __call__(self, batch: Batch, /) -> Tally:
        tally = self._oracle(batch)
        dead = self._silent(batch.items, batch.questions)
        return Tally(np.where(dead, 0, tally.counts), np.where(dead, 0.0, tally.sums))
