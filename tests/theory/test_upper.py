import math

import numpy as np
import pytest

from askfew.errors import InvalidInput
from askfew.theory.upper import complexity, corollary_3_2, theorem_3_1

SIMPLE = [0.5] * 4 + [0.0] * 12


def test_complexity_by_hand() -> None:
    """s = 4: norm 1, so 16/.25 (1 + 1/4) + (16/4 + 20)(4 + 1)."""
    assert complexity(SIMPLE, items=20, share=0.25) == pytest.approx(64 * 1.25 + 24 * 5)


def test_complexity_chooses_how_many_questions_to_use() -> None:
    """gaps 2, 1, .1: s = 2 costs (3/2 + 2) 2 = 7, s = 1 costs (3 + 2) 1.25 = 6.25."""
    gaps = [0.1, 2.0, 1.0]
    finding = 3 / 0.5 * (1 / 5.01 + 1)
    assert complexity(gaps, items=2, share=0.5) == pytest.approx(finding + 6.25)


def test_complexity_is_the_same_for_both_groups() -> None:
    assert complexity(SIMPLE, 20, share=0.25) == complexity(SIMPLE, 20, share=0.75)


def test_complexity_sees_gaps_in_sigmas() -> None:
    scaled = complexity(np.multiply(SIMPLE, 3), 20, 0.25, sigma=3.0)
    assert scaled == pytest.approx(complexity(SIMPLE, 20, 0.25))
    assert complexity(SIMPLE, 20, 0.25, sigma=2.0) == pytest.approx(64 * 4.25 + 24 * 17)


def test_theorem_3_1_by_hand() -> None:
    """s~ = 4 v (1 ^ 4) = 4; log_+ log(1/.25) = log 1.386 = .327, so that factor is 1."""
    leading = 200 * math.log(100)
    assert theorem_3_1(SIMPLE, 20, 0.25, 0.01, logarithms=False).value == pytest.approx(leading)
    logs = math.log(math.log(100)) ** 4 * math.log(320) ** 5 * math.log(16)
    assert theorem_3_1(SIMPLE, 20, 0.25, 0.01).value == pytest.approx(leading * logs)


def test_theorem_3_1_takes_the_gap_of_its_own_index() -> None:
    """d = 30, n = 10: s~ = s* v (3 ^ 4) = 3, and log log(1/e^-6) = log 6."""
    gaps = [1.0, math.exp(-2), math.exp(-3), math.exp(-4)] + [0.0] * 26
    leading = complexity(gaps, 10, 0.5) * math.log(10)
    logs = math.log(300) ** 5 * math.log(30) * math.log(6)
    assert theorem_3_1(gaps, 10, 0.5, 0.1).value == pytest.approx(leading * logs)


def test_corollary_3_2_by_hand() -> None:
    logs = math.log(math.log(100)) ** 4 * math.log(320) ** 5
    expected = logs * math.log(100) * (16 / 0.25 + 20 / 0.25)
    assert corollary_3_2(SIMPLE, 20, 0.25, 0.01).value == pytest.approx(expected)


@pytest.mark.parametrize("h", [0.05, 0.3, 0.9])
@pytest.mark.parametrize("useful", [1, 7, 40])
def test_the_corollary_follows_from_the_complexity(h: float, useful: int) -> None:
    """For gaps below sigma, H is at most three times the corollary's simple sum."""
    gaps = [h] * useful + [0.0] * (40 - useful)
    simple = 40 / (0.2 * useful * h**2) + 30 / h**2
    assert complexity(gaps, 30, 0.2) <= 3 * simple


def test_void_where_not_stated() -> None:
    assert "delta < 1/e" in str(theorem_3_1(SIMPLE, 20, 0.25, 0.8).void)
    assert "delta < 1/e" in str(corollary_3_2(SIMPLE, 20, 0.25, 0.8).void)
    assert "equal gaps" in str(corollary_3_2([0.5, 0.4], 20, 0.25, 0.1).void)
    assert "below sigma" in str(corollary_3_2([0.5, 0.5], 20, 0.25, 0.1, sigma=0.5).void)
    one_question = theorem_3_1([0.5], 20, 0.25, 0.1)
    assert "log(d) is 0" in str(one_question.void)
    assert one_question.value == math.inf
    assert one_question.to_dict()["value"] is None


@pytest.mark.parametrize("share", [0.0, 0.01, 0.99, 1.0, math.nan])
def test_a_group_without_an_item_is_refused(share: float) -> None:
    with pytest.raises(InvalidInput, match="an item in each group"):
        complexity(SIMPLE, 20, share)


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, math.nan])
def test_bad_delta_is_refused(delta: float) -> None:
    with pytest.raises(InvalidInput, match="delta"):
        theorem_3_1(SIMPLE, 20, 0.25, delta)
