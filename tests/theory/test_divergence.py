import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from askfew.errors import InvalidInput
from askfew.theory.divergence import (
    binary_kl,
    normal_divergence,
    normal_information,
    yes_no_divergence,
    yes_no_information,
)

chances = st.floats(0.001, 0.999)


@pytest.mark.parametrize(
    ("p", "q", "expected"),
    [
        (0.5, 0.25, 0.5 * math.log(4 / 3)),
        (0.9, 0.1, 0.8 * math.log(9)),
        (0.0, 0.25, math.log(4 / 3)),
        (1.0, 0.25, math.log(4)),
        (0.0, 0.0, 0.0),
        (1.0, 1.0, 0.0),
        (0.3, 0.3, 0.0),
        (0.5, 0.0, math.inf),
        (0.5, 1.0, math.inf),
        (0.0, 1.0, math.inf),
    ],
)
def test_binary_kl(p: float, q: float, expected: float) -> None:
    assert binary_kl(p, q) == pytest.approx(expected)


def test_tiny_chances_and_tiny_differences_keep_their_digits() -> None:
    assert binary_kl(0.95, 1e-30) == pytest.approx(
        0.95 * math.log(0.95e30) + 0.05 * math.log(0.05), rel=1e-14
    )
    assert binary_kl(0.5, 0.5 + 1e-9) == pytest.approx(2e-18, rel=1e-6)


@given(chances, chances, chances, chances, st.floats(0, 1))
def test_kl_is_jointly_convex(p: float, q: float, r: float, s: float, w: float) -> None:
    mixed = binary_kl(w * p + (1 - w) * r, w * q + (1 - w) * s)
    assert mixed <= w * binary_kl(p, q) + (1 - w) * binary_kl(r, s) + 1e-12


@given(chances, chances, chances)
def test_kl_grows_away_from_its_other_argument(a: float, b: float, c: float) -> None:
    low, middle, high = sorted([a, b, c])
    assert binary_kl(high, low) >= binary_kl(high, middle) - 1e-12
    assert binary_kl(high, low) >= binary_kl(middle, low) - 1e-12


@pytest.mark.parametrize(("gap", "sigma"), [(0.3, 1.0), (2.0, 1.0), (-1.0, 0.5)])
def test_normal_divergence_is_the_integral(gap: float, sigma: float) -> None:
    def integrand(x: float) -> float:
        ratio = norm.logpdf(x, scale=sigma) - norm.logpdf(x, loc=gap, scale=sigma)
        return float(norm.pdf(x, scale=sigma) * ratio)

    divergence, _ = quad(integrand, -12 * sigma, 12 * sigma)
    assert normal_divergence(gap, sigma) == pytest.approx(divergence, rel=1e-6)


def test_yes_no_takes_the_best_question_and_the_larger_direction() -> None:
    larger = max(binary_kl(0.9, 0.5), binary_kl(0.5, 0.9))
    assert yes_no_divergence([0.5, 0.9, 0.3], [0.5, 0.5, 0.4]) == pytest.approx(larger)
    assert yes_no_divergence([0.5, 0.5], [0.5, 0.9]) == pytest.approx(larger)
    assert yes_no_divergence(1.0, 0.9) == math.inf


def test_information_is_the_average_over_cells() -> None:
    gaps, share = np.array([3.0, 0.0, 1.0, 0.0]), 0.25
    cells = np.array([share * normal_divergence(g) if g else 0.0 for g in gaps])
    assert normal_information(gaps, share) == pytest.approx(cells.mean())
    assert normal_information(gaps, share, sigma=2.0) == pytest.approx(cells.mean() / 4)
    by_cell = (0.75 * binary_kl(0.5, 0.2) + 0.25 * binary_kl(0.5, 0.9)) / 2
    assert yes_no_information([0.2, 0.5], [0.9, 0.5], share) == pytest.approx(by_cell)


@pytest.mark.parametrize(
    ("first", "second"), [([0.5], [0.5]), ([0.5, 0.6], [0.5]), ([1.2], [0.5]), ([np.nan], [0.5])]
)
def test_bad_chances_are_refused(first: list[float], second: list[float]) -> None:
    with pytest.raises(InvalidInput):
        yes_no_divergence(first, second)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, np.nan])
def test_bad_share_is_refused(share: float) -> None:
    with pytest.raises(InvalidInput, match="share"):
        normal_information([1.0], share)
