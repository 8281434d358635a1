import numpy as np
import pytest

from askfew.errors import InvalidInput
from askfew.theory.gaps import random_pairs


def test_by_hand() -> None:
    assert random_pairs(10, 100, 5, share=0.2).value == pytest.approx(100 / (2 * 0.16 * 5))
    assert random_pairs(10, 100, 5, share=0.8).value == pytest.approx(62.5)


def test_it_forecasts_random_pairs() -> None:
    rng = np.random.default_rng(0)
    n, d, useful, second = 50, 20, 3, 10
    draws = 200_000
    labels = np.arange(n) < second
    differ = labels[rng.integers(n, size=draws)] != labels[rng.integers(n, size=draws)]
    hits = differ & (rng.integers(d, size=draws) < useful)
    assert draws / hits.sum() == pytest.approx(random_pairs(n, d, useful, 0.2).value, rel=0.03)


def test_it_is_called_a_forecast() -> None:
    found = random_pairs(10, 100, 5, share=0.2)
    assert (found.kind, found.unit, found.when) == ("forecast", "pairs", "a forecast, not a bound")


@pytest.mark.parametrize("useful", [0, 101])
def test_bad_useful_is_refused(useful: int) -> None:
    with pytest.raises(InvalidInput, match="useful"):
        random_pairs(10, 100, useful, share=0.5)
