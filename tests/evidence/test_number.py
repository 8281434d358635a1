"""Evidence from numbers: under equal means, the Gaussian expectation of e is exactly 1."""

from collections.abc import Callable
from itertools import product
from typing import TypeAlias

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss

from askfew.evidence import best_bet, number_block
from askfew.records import Floats

Block: TypeAlias = Callable[[float, Floats, int, Floats, int, float], Floats]

NODES, WEIGHTS = hermegauss(80)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def gaussian_mean(block: Block, bet: float, a: int, b: int, sigma: float, mean: float) -> float:
    """E[e] for a and b normal answers with one mean, by Gauss-Hermite quadrature."""
    x = a * mean + sigma * np.sqrt(a) * NODES[:, np.newaxis]
    r = b * mean + sigma * np.sqrt(b) * NODES[np.newaxis, :]
    return float(WEIGHTS @ np.exp(block(bet, x, a, r, b, sigma)) @ WEIGHTS)


def worst_error(block: Block) -> float:
    """How far E[e] is from 1, at worst, over bets, sizes, sigma and means."""
    cases = product([-0.7, 0.1, 0.5], [(1, 1), (4, 2), (2, 8)], [0.5, 1.3], [0.0, -2.0, 7.0])
    return max(abs(gaussian_mean(block, bet, a, b, s, mu) - 1) for bet, (a, b), s, mu in cases)


def references_without_noise(
    bet: float, x: Floats, a: int, r: Floats, b: int, sigma: float
) -> Floats:
    return bet * (x - a / b * r) - bet**2 * sigma**2 * a / 2


def unscaled_references(bet: float, x: Floats, a: int, r: Floats, b: int, sigma: float) -> Floats:
    return bet * (x - r) - bet**2 * sigma**2 * (a + b) / 2


def test_the_gaussian_expectation_is_exactly_one() -> None:
    assert worst_error(number_block) < 1e-9


@pytest.mark.parametrize("broken", [references_without_noise, unscaled_references])
def test_the_check_rejects_a_broken_block(broken: Block) -> None:
    assert worst_error(broken) > 1e-3


def test_bounded_noise_has_mean_at_most_one() -> None:
    """Answers that are +sigma or -sigma: sums enumerated, sigma-subGaussian by Hoeffding."""
    sigma, a, b = 1.5, 3, 4
    signs = np.array(list(product([-1, 1], repeat=a + b))) * sigma
    x, r = signs[:, :a].sum(axis=1), signs[:, a:].sum(axis=1)
    for bet in (-2.0, -0.3, 0.2, 1.0):
        assert np.exp(number_block(bet, x, a, r, b, sigma)).mean() <= 1 + 1e-12


def test_the_best_bet_grows_fastest() -> None:
    gap, a, b, sigma = 0.8, 6, 3, 1.2
    best = float(best_bet(gap, a, b, sigma))
    growth = [
        float(number_block(bet, gap * a, a, 0.0, b, sigma))
        for bet in (best, 0.9 * best, 1.1 * best)
    ]
    assert growth[0] > max(growth[1:])


@pytest.mark.parametrize(("a", "b"), [(0, 3), (3, 0), (0, 0)])
def test_no_answers_on_one_side_are_no_evidence(a: int, b: int) -> None:
    assert number_block(1.0, 10.0 * a, a, 10.0 * b, b, 1.0) == 0.0


def test_it_works_on_whole_columns() -> None:
    evidence = number_block([1.0, 1.0], [6.0, 6.0], [3, 3], [0.0, 0.0], [3, 0], 1.0)
    assert evidence.tolist() == [3.0, 0.0]
