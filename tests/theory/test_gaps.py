import numpy as np
import pytest

from askfew.errors import InvalidInput
from askfew.theory.gaps import effective_sparsity, norm_squared, ordered_gaps, ordered_squares


def test_gaps_are_ordered_by_size_not_by_sign() -> None:
    np.testing.assert_array_equal(ordered_gaps([0, -3, 1, 2]), [3, 2, 1, 0])
    assert norm_squared([0, -3, 1, 2]) == 14


def test_squares_are_in_sigmas() -> None:
    np.testing.assert_allclose(ordered_squares([1, 2], sigma=0.5), [16, 4])


@pytest.mark.parametrize(
    ("gaps", "sparsity"),
    [([5.0], 1), ([1, 1, 1, 0], 3), ([10, 1, 1, 1], 1), ([2, 1.9, 1.8, 0.1], 3)],
)
def test_effective_sparsity(gaps: list[float], sparsity: int) -> None:
    assert effective_sparsity(gaps) == sparsity


def test_of_equal_weights_the_most_questions() -> None:
    """Gaps h / sqrt(j): s Delta_(s)^2 is the same for all s, up to rounding."""
    assert effective_sparsity(3 / np.sqrt(np.arange(1, 101))) == 100


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 100])
def test_effective_sparsity_carries_the_norm_up_to_a_logarithm(d: int) -> None:
    """Eq. (2), with 1 + log d; at h / sqrt(j) the paper's log(2d) is too small for d <= 4."""
    gaps = 1 / np.sqrt(np.arange(1, d + 1))
    carried = np.max(np.arange(1, d + 1) * ordered_squares(gaps))
    assert carried <= norm_squared(gaps) * (1 + 1e-12)
    assert norm_squared(gaps) <= (1 + np.log(d)) * carried * (1 + 1e-12)
    assert (norm_squared(gaps) <= np.log(2 * d) * carried) == (d > 4)


@pytest.mark.parametrize("gaps", [[], [0, 0], [[1.0]], [np.nan], [np.inf, 1]])
def test_bad_gaps_are_refused(gaps: object) -> None:
    with pytest.raises(InvalidInput, match="gaps must be a vector"):
        ordered_gaps(gaps)  # type: ignore[arg-type]


@pytest.mark.parametrize(("gap", "sigma"), [(1e-200, 1.0), (1e200, 1.0), (1.0, 1e-200)])
def test_gaps_that_do_not_fit_a_float_are_refused(gap: float, sigma: float) -> None:
    with pytest.raises(InvalidInput, match="other units"):
        ordered_squares([gap], sigma)


@pytest.mark.parametrize("sigma", [0, -1, np.nan, np.inf])
def test_bad_sigma_is_refused(sigma: float) -> None:
    with pytest.raises(InvalidInput, match="sigma must be a positive number"):
        ordered_squares([1.0], sigma)
