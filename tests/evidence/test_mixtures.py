import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from askfew.evidence.mixtures import boundary, log_mixture, tuned_rho


def test_published_check_value() -> None:
    """Howard et al. at alpha = .05, V = 64: their rho is 1 / ours."""
    rho = tuned_rho(64, 0.05)
    assert 1 / rho == pytest.approx(8.06436, abs=5e-6)
    assert boundary(64, rho, 0.05) == pytest.approx(24.28167, abs=5e-6)


def test_the_mixture_reaches_one_over_alpha_at_its_boundary() -> None:
    v = np.array([1.0, 64.0, 5000.0])
    edge = boundary(v, 0.1, 0.01)
    np.testing.assert_allclose(log_mixture(edge, v, 0.1), math.log(100), rtol=1e-12)
    np.testing.assert_allclose(log_mixture(-edge, v, 0.1), math.log(100), rtol=1e-12)


@pytest.mark.parametrize(("v", "rho"), [(0.5, 0.2), (10.0, 0.1), (64.0, 1 / 8.06436)])
def test_its_gaussian_expectation_is_one(v: float, rho: float) -> None:
    def weighted(s: float) -> float:
        return math.exp(float(log_mixture(s, v, rho)) + float(norm.logpdf(s, scale=v**0.5)))

    total, _ = quad(weighted, -60 * v**0.5, 60 * v**0.5, points=[0.0], limit=200)
    assert total == pytest.approx(1, abs=1e-7)


@pytest.mark.parametrize("s", [-3.0, 0.0, 4.0])
def test_it_is_the_average_over_normal_bets(s: float) -> None:
    v, rho = 6.0, 0.4

    def weighted(bet: float) -> float:
        return math.exp(bet * s - bet**2 * v / 2) * float(norm.pdf(bet, scale=rho**0.5))

    average, _ = quad(weighted, -12, 12)
    assert log_mixture(s, v, rho) == pytest.approx(math.log(average), abs=1e-9)


def test_no_answers_are_no_evidence() -> None:
    assert log_mixture(0.0, 0.0, 0.3) == 0.0
