"""The beta mixture and the interval of means it does not exclude."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from askfew.evidence.mixtures import log_beta_mixture, mean_interval


@pytest.mark.parametrize(("total", "count", "mean"), [(0, 3, 0.2), (7, 9, 0.5), (2.5, 4, 0.9)])
def test_it_is_the_average_over_bets(total: float, count: int, mean: float) -> None:
    def wealth(bet: float) -> float:
        return float((bet / mean) ** total * ((1 - bet) / (1 - mean)) ** (count - total))

    average, _ = integrate.quad(lambda bet: wealth(bet) * stats.beta(0.5, 0.5).pdf(bet), 0, 1)
    assert log_beta_mixture(total, count, mean) == pytest.approx(math.log(average), abs=1e-4)


@pytest.mark.parametrize("mean", [0.05, 0.5, 0.9])
def test_the_interval_misses_rarely_however_often_one_looks(mean: float) -> None:
    rng = np.random.default_rng(5)
    totals = rng.binomial(1, mean, (400, 100)).cumsum(axis=1)
    missed = 0
    for row in totals.tolist():
        limits = (mean_interval(total, at + 1, 0.1) for at, total in enumerate(row))
        missed += any(not low <= mean <= high for low, high in limits)
    assert stats.binomtest(missed, 400).proportion_ci(method="exact").low <= 0.1


def test_no_answers_exclude_nothing_and_many_nearly_everything() -> None:
    assert mean_interval(0, 0, 0.05) == (0.0, 1.0)
    low, high = mean_interval(300_000, 1_000_000, 0.05)
    assert 0.295 < low < 0.3 < high < 0.305


def test_it_is_the_same_seen_from_the_other_end() -> None:
    low, high = mean_interval(3, 17, 0.05)
    assert mean_interval(14, 17, 0.05) == pytest.approx((1 - high, 1 - low), abs=1e-8)
