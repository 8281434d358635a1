import math

import numpy as np
import pytest

from askfew.errors import InvalidInput
from askfew.theory.bound import Bound
from askfew.theory.divergence import binary_kl, normal_divergence, normal_information
from askfew.theory.lower import finding_quantile, flipping_mean, flipping_quantile, theorem_4_1

GAPS = [1.5] * 3 + [0.0] * 17


def test_by_hand() -> None:
    """n = 12, gap 1.5: 2 * 10 / 2.25 = 8.889; d = 20, theta .25, norm 6.75: 40 / 1.6875."""
    divergence = normal_divergence(1.5)
    assert flipping_mean(12, divergence, 0.01).value == pytest.approx(33.153, abs=1e-3)
    assert flipping_quantile(12, divergence, 0.01).value == pytest.approx(26.992, abs=1e-3)
    information = normal_information(GAPS, 0.25)
    assert finding_quantile(12, information, 0.01).value == pytest.approx(66.689, abs=1e-3)
    assert theorem_4_1(GAPS, 12, 0.25, 0.01).value == pytest.approx(66.689, abs=1e-3)


def test_theorem_4_1_is_the_larger_term() -> None:
    labelling = flipping_quantile(1000, normal_divergence(1.5), 0.05).value
    assert theorem_4_1(GAPS, 1000, 0.5, 0.05).value == labelling


def test_theorem_4_1_may_have_one_void_term() -> None:
    """Between 1/6 and 1/4.8 only labelling is bounded."""
    assert finding_quantile(12, normal_information(GAPS, 0.25), 0.2).void is not None
    both = theorem_4_1(GAPS, 12, 0.25, 0.2)
    assert both.void is None
    assert both.value == pytest.approx(80 / 9 * math.log(1 / 0.96))


@pytest.mark.parametrize("sigma", [0.5, 2.0, 3.0])
def test_answers_scale_with_the_variance(sigma: float) -> None:
    one, other = (theorem_4_1(GAPS, 12, 0.25, 0.05, sigma=s).value for s in (1.0, sigma))
    assert other == pytest.approx(sigma**2 * one)
    mean = flipping_mean(12, normal_divergence(1.5, sigma), 0.05).value
    assert mean == pytest.approx(sigma**2 * flipping_mean(12, normal_divergence(1.5), 0.05).value)


def test_harder_problems_cost_more() -> None:
    def value(items: int = 12, gap: float = 1.5, share: float = 0.25, delta: float = 0.05) -> float:
        return theorem_4_1(np.sign(GAPS) * gap, items, share, delta).value

    assert value(items=500) > value()
    assert value(gap=1.0) > value()
    assert value(share=1 / 12) > value()
    assert value(delta=0.01) > value()


@pytest.mark.parametrize("delta", [0.21, 0.25, 0.5, 0.8, 0.99])
def test_void_bounds_are_zero_and_say_so(delta: float) -> None:
    found = theorem_4_1(GAPS, 12, 0.25, delta)
    assert found.value == 0
    assert found.void == "void at this delta: log(1/(4.8 delta)) is negative"
    assert str(found) == f"Theorem 4.1: {found.void}"


def test_each_logarithm_has_its_own_limit() -> None:
    def voids(delta: float) -> list[bool]:
        found: list[Bound] = [
            flipping_mean(12, 1.0, delta),
            flipping_quantile(12, 1.0, delta),
            finding_quantile(12, 1.0, delta),
        ]
        return [bound.void is not None for bound in found]

    assert voids(0.16) == [False, False, False]
    assert voids(0.17) == [False, False, True]
    assert voids(0.21) == [False, True, True]
    assert voids(0.42) == [True, True, True]


def test_two_items_need_no_answer() -> None:
    """Labels 0 and 1 are the only ones: even finding a difference is not needed."""
    found = theorem_4_1(GAPS, 2, 0.5, 0.01)
    assert (found.value, found.void) == (0.0, "void: two items need no answer")
    assert flipping_mean(2, 1.0, 0.01).value == 0


def test_an_answer_that_is_proof_voids_the_bound() -> None:
    assert flipping_mean(9, math.inf, 0.01).void == "void: one answer can be proof"
    assert finding_quantile(9, math.inf, 0.01).void == "void: one answer can be proof"


def test_the_constants_of_the_paper() -> None:
    """kl(delta, 1-delta) >= log(1/2.4 delta), and what Theorem 4.1's repaired proof needs."""
    for delta in np.linspace(0.001, 0.249, 249):
        assert binary_kl(delta, 1 - delta) >= math.log(1 / (2.4 * delta))
        assert binary_kl(1 - 2 * delta, delta) >= math.log(1 / (4.8 * delta))


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidInput, match="items"):
        flipping_mean(1, 1.0, 0.05)
    with pytest.raises(InvalidInput, match="items"):
        flipping_mean(3.5, 1.0, 0.05)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="delta"):
        flipping_quantile(9, 1.0, 0.0)
    with pytest.raises(InvalidInput, match="divergence must be positive"):
        flipping_quantile(9, 0.0, 0.1)
    with pytest.raises(InvalidInput, match="information must be positive"):
        finding_quantile(9, math.nan, 0.1)
