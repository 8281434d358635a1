import numpy as np
import pytest

from askfew.errors import InvalidInput
from askfew.planning import Range, Unknown

UNKNOWN = Unknown(100, 20, Range(0.4, 0.8), Range(0.1, 0.5), Range(2, 8))


@pytest.mark.parametrize("text", ["", "a", "1:2:3", "2:1", "0", "-1:2", "nan", "1:inf"])
def test_a_range_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        Range.read(text)


def test_instances_are_drawn_inside_their_ranges() -> None:
    rng = np.random.default_rng(0)
    drawn = [UNKNOWN.draw_instance(rng) for _ in range(300)]
    assert all(0.4 <= each.gap <= 0.8 for each in drawn)
    assert all(0.1 <= each.balance <= 0.5 for each in drawn)
    assert {each.useful for each in drawn} == set(range(2, 9))


def test_the_hardest_corner_has_the_smallest_gap_group_and_number() -> None:
    hardest = UNKNOWN.hardest()
    assert (hardest.gap, hardest.balance, hardest.useful) == (0.4, 0.1, 2)


def test_a_small_group_is_at_most_a_half() -> None:
    with pytest.raises(InvalidInput, match=r"at most 0\.5"):
        Unknown(100, 20, Range(0.4, 0.8), Range(0.1, 0.9), Range(2, 8))


def test_ranges_must_fit_the_kind_of_answer() -> None:
    with pytest.raises(InvalidInput, match="gap must lie between 0 and 1"):
        Unknown(100, 20, Range(0.4, 3.0), Range(0.1, 0.5), Range(2, 8))
