"""Exponents of curves, measured and published."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from askfew.experiments.slopes import growth, power_law
from askfew.experiments.study import GrowthClaim, Line, Measured
from askfew.simulation import Run, RunSummary


def measured(x: float, answers: float, curve: str = "curve") -> Measured:
    runs = [Run("done", True, round(answers), 1)] * 2
    return Measured(curve, x, 2, RunSummary.of(runs))


def test_the_interval_is_that_of_least_squares() -> None:
    x, y = [1, 2, 4, 8, 16], [100, 260, 350, 900, 1500]
    slope = power_law(x, y)
    fit = stats.linregress(np.log(x), np.log(y))
    assert slope is not None
    assert slope.exponent == pytest.approx(fit.slope)
    assert slope.high - slope.exponent == pytest.approx(stats.t.ppf(0.975, 3) * fit.stderr)
    assert slope.exponent - slope.low == pytest.approx(stats.t.ppf(0.975, 3) * fit.stderr)


def test_two_points_have_no_slope() -> None:
    assert power_law([1, 2], [1, 2]) is None


def test_growth_looks_at_the_claim_s_curve_from_its_least_x_on() -> None:
    cells = [measured(x, 1000 * x**1.5) for x in (4, 9, 16)]
    cells += [measured(1, 10**6), measured(4, 7, "another")]
    grown = growth(GrowthClaim("curve", "grows", least_x=4), cells, [])
    assert grown is not None
    assert grown.slope.exponent == pytest.approx(1.5, abs=1e-3)
    assert grown.x_factor == pytest.approx(4)
    assert grown.mean_factor == pytest.approx(8)
    assert grown.published is None


def test_published_points_of_the_same_curve_have_a_slope_too() -> None:
    cells = [measured(x, 1000 * x) for x in (1, 2, 4)]
    points = [
        Line("another, published", [1, 2, 4], [1, 1, 1], points=True),
        Line("curve, published", [1, 2, 4], [5, 20, 80], points=True),
    ]
    grown = growth(GrowthClaim("curve", "grows"), cells, points)
    assert grown is not None
    assert grown.published is not None
    assert grown.published.exponent == pytest.approx(2)
