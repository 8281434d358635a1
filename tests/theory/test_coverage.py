import math
from itertools import product

import numpy as np
import pytest

from askfew.theory.labelling import everyone_asked, never_asked


def test_by_hand() -> None:
    """Three open items: 1 - 2^-3 = 7/8."""
    assert everyone_asked(5, 0.35).value == pytest.approx(3 * (1 - 0.4))
    assert never_asked(5, 0.05).value == pytest.approx(0.1)


@pytest.mark.parametrize("m", [1, 2, 5, 12])
@pytest.mark.parametrize("delta", [0.01, 0.2, 0.45])
def test_no_mixture_of_unasked_items_is_cheaper(m: int, delta: float) -> None:
    """All mixtures of two numbers of unasked items whose mean error is delta; one is as cheap."""
    errors = 1 - 0.5 ** np.arange(m + 1)
    costs = []
    for few, many in product(range(m + 1), repeat=2):
        if errors[few] <= delta < errors[many]:
            weight = (delta - errors[few]) / (errors[many] - errors[few])
            costs.append(m - (1 - weight) * few - weight * many)
            # A run that leaves someone out errs at least half the time.
            left_out = weight if few == 0 else 1.0
            assert left_out <= never_asked(m + 2, delta).value + 1e-12
    assert min(costs) == pytest.approx(everyone_asked(m + 2, delta).value)


def test_void_cases_say_so() -> None:
    assert everyone_asked(2, 0.05).void == "void: two items need no answer"
    assert never_asked(2, 0.05).void == "void: two items need no answer"
    assert "guessing" in str(everyone_asked(3, 0.5).void)
    assert everyone_asked(3, 0.5).value == 0
    assert never_asked(9, 0.5).value == math.inf
    assert never_asked(9, 0.5).void == "void at this delta: 2 delta is at least 1"


def test_many_items() -> None:
    assert everyone_asked(100_002, 0.05).value == pytest.approx(95_000)
