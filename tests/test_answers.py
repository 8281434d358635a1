from typing import Any

import numpy as np
import pytest

from askfew.answers import AnswerKind, Number, Scale, YesNo
from askfew.errors import InvalidAnswer, InvalidInput

NOT_NUMBERS = [float("nan"), float("inf"), -float("inf"), "x", None, [1], 10**400, 1j]


@pytest.mark.parametrize(
    ("value", "number"),
    [(True, 1), (False, 0), (1, 1), (0.0, 0), ("1", 1), ("no", 0), (" Yes\n", 1)],
)
def test_yes_and_no_are_one_and_zero(value: object, number: float) -> None:
    assert YesNo().read(value) == number


@pytest.mark.parametrize("value", [0.5, 2, -1, *NOT_NUMBERS])
def test_anything_else_is_neither_yes_nor_no(value: object) -> None:
    with pytest.raises(InvalidAnswer, match="yes"):
        YesNo().read(value)


@pytest.mark.parametrize("value", [1, 5, 3.7, np.float32(2)])
def test_a_scale_includes_its_ends(value: Any) -> None:
    assert Scale(1, 5).read(value) == float(value)


@pytest.mark.parametrize("value", [0.999, 5.001, -3, *NOT_NUMBERS])
def test_an_answer_outside_the_scale_is_refused_not_clipped(value: object) -> None:
    with pytest.raises(InvalidAnswer, match="from 1 to 5"):
        Scale(1, 5).read(value)


@pytest.mark.parametrize("value", [1e200, -1.01e50, "1e60", 10**51, *NOT_NUMBERS])
def test_a_number_must_be_one_that_can_be_squared_and_summed(value: object) -> None:
    with pytest.raises(InvalidAnswer, match=r"must be a number from -1e\+50 to 1e\+50, got"):
        Number().read(value)


def test_the_largest_numbers_are_taken_and_add_up() -> None:
    assert [Number().read(sign * 1e50) for sign in (1, -1)] == [1e50, -1e50]
    assert Number().allows(np.array([3, 10]), np.array([sum([1e50] * 3), sum([-1e50] * 10)]))
    assert not Number().allows(np.array([1]), np.array([1e200]))


@pytest.mark.parametrize(
    "ends",
    [
        (1, 1),
        (5, 1),
        (0, float("inf")),
        (0, 10**400),
        (-1e51, 1),
        (float("nan"), 1),
        ("1", "5"),
        (None, 1),
        ([0], [1]),
    ],
)
def test_a_scale_needs_two_finite_ends(ends: tuple[Any, Any]) -> None:
    with pytest.raises(InvalidInput, match="low < high"):
        Scale(*ends)


@pytest.mark.parametrize("sigma", [0, -1, 1e-51, 1e51, float("nan"), 10**400, "1", None])
def test_sigma_must_be_positive(sigma: Any) -> None:
    with pytest.raises(InvalidInput, match="sigma must be a positive number"):
        Number(sigma)


@pytest.mark.parametrize(
    ("kind", "sigma"), [(YesNo(), 0.5), (Scale(-1, 5), 3.0), (Number(2.5), 2.5)]
)
def test_sigma_is_half_the_width_or_as_given(kind: AnswerKind, sigma: float) -> None:
    assert kind.sigma == sigma


def test_a_scale_allows_its_ends_added_up() -> None:
    """Seven times 0.1, added one by one, is not 0.7."""
    counts = np.array([7, 1000])
    sums = np.array([sum([0.1] * 7), sum([0.1] * 1000)])
    assert Scale(0.1, 0.9).allows(counts, sums)
    assert Scale(-0.9, 0.1).allows(counts, sums)
    assert not Scale(0.11, 0.9).allows(counts, sums)


def test_no_answers_add_up_to_nothing() -> None:
    counts, nothing, something = np.array([0]), np.array([0.0]), np.array([0.5])
    for kind in (YesNo(), Scale(0, 1), Number()):
        assert kind.allows(counts, nothing)
        assert not kind.allows(counts, something)


def test_they_say_what_they_are() -> None:
    assert [str(kind) for kind in (YesNo(), Scale(1, 5), Number(2))] == [
        "yes/no answers",
        "answers on a scale from 1 to 5",
        "numbers with noise of spread 2",
    ]
