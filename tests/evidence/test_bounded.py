"""Validity by exact expectation: under equal means, the mean of e is at most 1."""

from collections.abc import Callable
from itertools import product
from typing import TypeAlias

import numpy as np
import pytest
from scipy.stats import binom

from askfew.evidence import bounded_block
from askfew.records import Floats

Block: TypeAlias = Callable[[float, float, Floats, int, Floats, int], Floats]

SIZES = [(1, 1), (1, 4), (4, 1), (3, 3), (2, 7), (6, 5)]
GUESSES = [0.0, 1e-9, 0.01, 0.2, 0.5, 0.77, 0.999, 1.0]
MEANS = np.concatenate([[0.0, 1e-7, 1e-4], np.linspace(0.02, 0.98, 25), [1 - 1e-4, 1.0]])


def mean_evidence(
    block: Block, guesses: tuple[float, float], laws_x: Floats, laws_r: Floats, step: float = 1.0
) -> Floats:
    """E[e] when the sums are step x 0, 1, ... with these probabilities; one law a row."""
    sums_x, sums_r = (step * np.arange(laws.shape[1]) for laws in (laws_x, laws_r))
    x, r = np.meshgrid(sums_x, sums_r, indexing="ij")
    e = np.exp(block(*guesses, x, round(sums_x[-1]), r, round(sums_r[-1])))
    return np.asarray(np.einsum("px,xr,pr->p", laws_x, e, laws_r))


def worst_yes_no(block: Block) -> float:
    """The largest mean of e over sizes, guesses and equal probabilities of yes."""
    means = MEANS[:, np.newaxis]
    worst = 0.0
    for a, b in SIZES:
        laws_x, laws_r = (np.asarray(binom.pmf(np.arange(m + 1), m, means)) for m in (a, b))
        for px, pr in product(GUESSES, GUESSES):
            worst = max(worst, mean_evidence(block, (px, pr), laws_x, laws_r).max())
    return worst


def three_values(mean: float, middle: float, answers: int) -> Floats:
    """The law of a sum of answers 0, 1/2 and 1 with this mean, in halves; ``middle`` is in 0..1."""
    half = middle * 2 * min(mean, 1 - mean)
    one = np.array([1 - mean - half / 2, half, mean - half / 2])
    law = np.ones(1)
    for _ in range(answers):
        law = np.convolve(law, one)
    return law


def worst_three_valued(block: Block) -> float:
    """The largest mean of e when item and reference have equal means but different laws."""
    laws = list(product([0.0, 0.05, 0.3, 0.5, 0.9, 1.0], [0.0, 0.5, 1.0], [0.0, 0.5, 1.0]))
    worst = 0.0
    for a, b in [(1, 1), (1, 3), (3, 2), (4, 6)]:
        laws_x = np.array([three_values(mean, middle, a) for mean, middle, _ in laws])
        laws_r = np.array([three_values(mean, middle, b) for mean, _, middle in laws])
        for px, pr in product(GUESSES, GUESSES):
            worst = max(worst, mean_evidence(block, (px, pr), laws_x, laws_r, step=0.5).max())
    return worst


def written_out(px: float, pr: float, p0: float, x: Floats, a: int, r: Floats, b: int) -> Floats:
    evidence: Floats = (
        x * np.log(px / p0)
        + (a - x) * np.log((1 - px) / (1 - p0))
        + r * np.log(pr / p0)
        + (b - r) * np.log((1 - pr) / (1 - p0))
    )
    return evidence


def clipped(guess: float) -> float:
    return float(np.clip(guess, 1e-6, 1 - 1e-6))


def p0_before_clipping(px: float, pr: float, x: Floats, a: int, r: Floats, b: int) -> Floats:
    p0 = float(np.clip((a * px + b * pr) / (a + b), 1e-12, 1 - 1e-12))
    return written_out(clipped(px), clipped(pr), p0, x, a, r, b)


def unweighted_p0(px: float, pr: float, x: Floats, a: int, r: Floats, b: int) -> Floats:
    px, pr = clipped(px), clipped(pr)
    return written_out(px, pr, (px + pr) / 2, x, a, r, b)


def swapped_weights(px: float, pr: float, x: Floats, a: int, r: Floats, b: int) -> Floats:
    px, pr = clipped(px), clipped(pr)
    return written_out(px, pr, (b * px + a * pr) / (a + b), x, a, r, b)


def reference_forgotten(px: float, pr: float, x: Floats, a: int, r: Floats, b: int) -> Floats:
    return bounded_block(px, pr, x, a, r, b) - np.where(r > 0, r * np.log(0.9), 0.0)


def bet_after_looking(px: float, pr: float, x: Floats, a: int, r: Floats, b: int) -> Floats:
    return bounded_block(x / a, pr, x, a, r, b)


BROKEN: list[Block] = [
    p0_before_clipping,
    unweighted_p0,
    swapped_weights,
    reference_forgotten,
    bet_after_looking,
]


def test_yes_no_blocks_have_mean_at_most_one_under_every_equal_p() -> None:
    assert worst_yes_no(bounded_block) <= 1 + 1e-12


def test_answers_between_zero_and_one_have_mean_at_most_one() -> None:
    assert worst_three_valued(bounded_block) <= 1 + 1e-12


@pytest.mark.parametrize("broken", BROKEN, ids=lambda each: each.__name__)
def test_the_check_rejects_a_broken_block(broken: Block) -> None:
    assert worst_yes_no(broken) > 1 + 1e-9


def test_it_is_the_formula_it_says() -> None:
    x, r = np.array([4.0, 2.0]), np.array([1.0, 3.0])
    expected = written_out(0.8, 0.3, (5 * 0.8 + 3 * 0.3) / 8, x, 5, r, 3)
    np.testing.assert_allclose(bounded_block(0.8, 0.3, x, 5, r, 3), expected, rtol=1e-12)


def test_evidence_grows_when_the_guess_is_right() -> None:
    assert bounded_block(0.9, 0.1, 9, 10, 1, 10) > 5
    assert bounded_block(0.9, 0.1, 5, 10, 5, 10) < 0


def test_equal_guesses_are_no_bet() -> None:
    assert bounded_block(0.4, 0.4, [0, 3], 3, [2, 0], 2).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("a", "b"), [(0, 5), (5, 0), (0, 0)])
def test_no_answers_on_one_side_are_no_evidence(a: int, b: int) -> None:
    assert bounded_block(0.9, 0.1, float(a), a, 0.0, b) == 0.0


def test_guesses_at_the_edges_stay_finite() -> None:
    edges = [0.0, 1.0]
    for px, pr, x, r in product(edges, edges, [0, 5], [0, 5]):
        assert np.isfinite(bounded_block(px, pr, x, 5, r, 5))
