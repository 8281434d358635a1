import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from askfew.evidence import nine_digits

ordinary = st.floats(1e-200, 1e200) | st.floats(-1e200, -1e-200)


@given(ordinary)
def test_it_keeps_nine_digits(value: float) -> None:
    assert abs(nine_digits(value) - value) <= 1e-9 * abs(value)


@given(ordinary)
def test_rounding_twice_is_rounding_once(value: float) -> None:
    assert nine_digits(nine_digits(value)) == nine_digits(value)


@given(st.lists(ordinary, min_size=2, max_size=10))
def test_it_keeps_the_order(values: list[float]) -> None:
    rounded = nine_digits(np.sort(values))
    assert (np.diff(rounded) >= 0).all()


def test_a_difference_in_the_last_bit_is_gone() -> None:
    values = np.array([0.1 + 0.2, 1 / 3, 1e6 / 7])
    assert np.array_equal(nine_digits(values), nine_digits(np.nextafter(values, np.inf)))


def test_zero_and_infinity_stay() -> None:
    assert nine_digits([0.0, np.inf, -np.inf]).tolist() == [0.0, np.inf, -np.inf]
