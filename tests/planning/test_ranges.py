import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from askfew.answers import Scale
from askfew.errors import InvalidInput
from askfew.planning import Range, Unknown

UNKNOWN = Unknown(100, 20, Range(0.4, 0.8), Range(0.1, 0.5), Range(2, 8))


@pytest.mark.parametrize("text", ["", "a", "1:2:3", "2:1", "0", "-1:2", "nan", "1:inf"])
def test_a_range_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"^gap must be a"):
        Range.read(text, "gap")


def test_instances_are_drawn_inside_their_ranges() -> None:
    rng = np.random.default_rng(0)
    drawn = [UNKNOWN.draw_instance(rng) for _ in range(300)]
    assert all(0.4 <= each.gap <= 0.8 for each in drawn)
    assert all(0.1 <= each.balance <= 0.5 for each in drawn)
    assert {each.useful for each in drawn} == set(range(2, 9))


def test_the_hardest_corner_has_the_smallest_gap_group_and_number() -> None:
    hardest = UNKNOWN.hardest()
    assert (hardest.gap, hardest.balance, hardest.useful) == (0.4, 0.1, 2)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"items": 2}, "a plan needs at least 3 items, got 2"),
        ({"items": 0}, "items must be a whole number"),
        ({"questions": 0}, "questions must be a whole number"),
        ({"useful": Range(50, 50)}, "useful questions must be whole numbers from 1 to all 20, got"),
        ({"useful": Range(2, 21)}, "from 1 to all 20, got 2 to 21"),
        ({"useful": Range(0.5, 2)}, "from 1 to all 20, got 0.5 to 2"),
        ({"useful": Range(2.5, 2.5)}, "from 1 to all 20, got 2.5"),
        ({"share": Range(0.1, 0.9)}, "the small group's share must be at most 0.5, got 0.1 to 0.9"),
        ({"share": Range(1.5, 1.5)}, "the small group's share must be at most 0.5, got 1.5"),
        ({"gap": Range(0.4, 3)}, "a yes-no gap must lie between 0 and 1, got 3"),
        ({"gap": Range(0.4, 3), "noise": "scale"}, "a scale gap must lie between 0 and 1, got 3"),
        ({"noise": "gaussian", "sigma": 0.0}, "sigma must be a positive number, from"),
        ({"noise": "loud"}, "noise must be one of gaussian, yes-no, scale, got 'loud'"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(sentence)):
        replace(UNKNOWN, **changed)


def test_a_gap_wider_than_the_scale_is_refused_in_its_own_units() -> None:
    half, one = Range(0.5, 0.5), Range(1, 1)
    with pytest.raises(InvalidInput, match="scale from 1 to 5 must be at most 4, got 3 to 6"):
        Unknown.of(Scale(1, 5), 9, 3, gap=Range(3, 6), share=half, useful=one)


def test_every_question_may_be_useful() -> None:
    assert replace(UNKNOWN, useful=Range(20, 20)).hardest().useful == 20


class Stars(Scale):
    """A kind of answer that planning does not know."""


def test_a_bounded_kind_that_is_new_is_forecast_as_a_scale() -> None:
    half, one = Range(0.5, 0.5), Range(1, 1)
    unknown = Unknown.of(Stars(1, 5), 9, 3, gap=Range(2, 2), share=half, useful=one)
    assert (unknown.noise, unknown.gap) == ("scale", Range(0.5, 0.5))
