"""Evidence beyond a tolerance: while the means differ by at most w, the mean of e is at most 1."""

from collections.abc import Callable
from itertools import combinations_with_replacement, product
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial.hermite_e import hermegauss

from askfew.answers import AnswerKind, Number, Scale, YesNo
from askfew.evidence import bounded_beyond, bounded_block, log_evidence, number_beyond
from askfew.records import Floats

Block: TypeAlias = Callable[[float, float, Floats, int, Floats, int, float], Floats]

SIZES = [(1, 1), (1, 4), (4, 1), (2, 3), (4, 4), (1, 7), (7, 1), (5, 3)]
GUESSES = [0.0, 0.03, 0.2, 0.5, 0.77, 0.999]
TOLERANCES = [0.001, 0.05, 0.2, 0.45]
MEANS = [0.0, 1e-4, 0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999, 1.0]


def law(answers: list[Floats]) -> Floats:
    """The law of the sum of independent answers, each a law on 0, 1, ... steps."""
    total = np.ones(1)
    for each in answers:
        total = np.convolve(total, each)
    return total


def one(mean: float, middle: float | None = None) -> Floats:
    """One answer: yes or no, or (with a share of 1/2 between 0 and 1) 0, 1/2 or 1."""
    if middle is None:
        return np.array([1 - mean, mean])
    half = middle * 2 * min(mean, 1 - mean)
    return np.array([1 - mean - half / 2, half, mean - half / 2])


def edge_of_the_null(references: list[float], w: float, up: bool) -> float:
    """The item's mean at which every reference is just close enough, as far as [0, 1] goes."""
    return min(1.0, min(references) + w) if up else max(0.0, max(references) - w)


def reference_means(b: int) -> list[list[float]]:
    """Equal, and two unequal values in every proportion."""
    unequal = [
        [low] * k + [high] * (b - k)
        for low, high in combinations_with_replacement([0.0, 0.05, 0.4, 0.8, 1.0], 2)
        for k in sorted({1, b // 2, b - 1} - {0, b})
    ]
    return [[mean] * b for mean in MEANS] + unequal


def largest_mean(block: Block, sizes: list[tuple[int, int]], middle: float | None = None) -> float:
    """The largest E[e] over sizes, guesses, tolerances and means within the null."""
    worst = 0.0
    step = 1.0 if middle is None else 0.5
    for a, b in sizes:
        x, r = np.meshgrid(
            step * np.arange(round(a / step) + 1),
            step * np.arange(round(b / step) + 1),
            indexing="ij",
        )
        laws_r = [(means, law([one(m, middle) for m in means])) for means in reference_means(b)]
        for w, up in product(TOLERANCES, (True, False)):
            within = [edge_of_the_null(means, w, up) for means, _ in laws_r]
            inside = [m - 0.6 * w if up else m + 0.6 * w for m in within]
            items = [np.clip(each, 0, 1) for each in (within, inside)]
            laws_x = [[law([one(m, middle)] * a) for m in each] for each in items]
            for px, pr in product(GUESSES, GUESSES):
                if (px > pr) != up:
                    continue
                e = np.exp(block(px, pr, x, a, r, b, w))
                for of_item in laws_x:
                    means = np.einsum("px,xr,pr->p", of_item, e, [each for _, each in laws_r])
                    worst = max(worst, float(means.max()))
    return worst


def as_if_there_were_no_tolerance(
    px: float, pr: float, x: Floats, a: int, r: Floats, b: int, w: float
) -> Floats:
    return bounded_block(px, pr, x, a, r, b) if abs(px - pr) > w else np.zeros_like(x)


def half_of_it(px: float, pr: float, x: Floats, a: int, r: Floats, b: int, w: float) -> Floats:
    return bounded_beyond(px, pr, x, a, r, b, w / 2)


def references_bet_as_the_item(
    px: float, pr: float, x: Floats, a: int, r: Floats, b: int, w: float
) -> Floats:
    """B = -A instead of -aA/b."""
    return bounded_beyond(px, pr, x, a, r * a / b, a, w)


def test_yes_no_blocks_have_mean_at_most_one_within_the_tolerance() -> None:
    assert largest_mean(bounded_beyond, SIZES) <= 1 + 1e-9


@pytest.mark.parametrize("middle", [0.4, 1.0])
def test_graded_answers_have_mean_at_most_one_within_the_tolerance(middle: float) -> None:
    assert largest_mean(bounded_beyond, [(1, 1), (1, 3), (3, 2), (4, 3)], middle) <= 1 + 1e-9


@pytest.mark.parametrize(
    "broken", [as_if_there_were_no_tolerance, half_of_it, references_bet_as_the_item]
)
def test_the_check_rejects_a_broken_block(broken: Block) -> None:
    assert largest_mean(broken, [(1, 4), (4, 1), (4, 4)]) > 1.01


def test_it_is_valid_however_badly_the_nearest_means_were_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for halvings in (0, 1, 3):
        monkeypatch.setattr("askfew.evidence.blocks._HALVINGS", halvings)
        assert largest_mean(bounded_beyond, [(1, 4), (4, 1), (2, 3)]) <= 1 + 1e-9


unit = st.floats(0, 1)


@settings(max_examples=300, deadline=None)
@given(
    px=unit,
    pr=unit,
    w=st.floats(1e-9, 0.9),
    x=st.floats(0, 1),
    references=st.lists(unit, min_size=1, max_size=6),
    a=st.integers(1, 6),
)
def test_any_block_is_finite_and_valid_by_average_references(
    px: float, pr: float, w: float, x: float, references: list[float], a: int
) -> None:
    """The item may be anywhere in the null, and only the references' average must be near."""
    b, average = len(references), float(np.mean(references))
    item = min(x, average + w) if px > pr else max(x, average - w)
    sums_x, sums_r = np.meshgrid(np.arange(a + 1.0), np.arange(b + 1.0), indexing="ij")
    log_e = bounded_beyond(px, pr, sums_x, a, sums_r, b, w)
    assert np.isfinite(log_e).all()
    law_x, law_r = law([one(item)] * a), law([one(mean) for mean in references])
    assert law_x @ np.exp(log_e) @ law_r <= 1 + 1e-9


@given(px=unit, pr=unit, w=st.floats(0, 1), x=st.integers(0, 5), r=st.integers(0, 3))
def test_downwards_is_upwards_on_the_opposite_answers(
    px: float, pr: float, w: float, x: int, r: int
) -> None:
    there, back = (
        bounded_beyond(px, pr, x, 5, r, 3, w),
        bounded_beyond(1 - px, 1 - pr, 5 - x, 5, 3 - r, 3, w),
    )
    assert float(there) == pytest.approx(float(back), abs=1e-6)


NODES, WEIGHTS = hermegauss(80)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def gaussian_mean(
    guesses: tuple[float, float],
    means: tuple[float, float],
    sizes: tuple[int, int],
    sigma: float,
    w: float,
) -> float:
    (a, b), (item, reference) = sizes, means
    x = a * item + sigma * np.sqrt(a) * NODES[:, np.newaxis]
    r = b * reference + sigma * np.sqrt(b) * NODES[np.newaxis, :]
    return float(WEIGHTS @ np.exp(number_beyond(*guesses, x, a, r, b, sigma, w)) @ WEIGHTS)


@pytest.mark.parametrize("up", [1, -1])
@pytest.mark.parametrize("w", [0.05, 0.4])
def test_numbers_have_mean_one_at_the_edge_of_the_null_and_less_inside(up: int, w: float) -> None:
    for sizes, sigma, at in product([(1, 1), (4, 2), (2, 8)], [0.5, 1.3], [0.0, -3.0]):
        guesses = (up * 0.9, 0.0)
        edge = gaussian_mean(guesses, (at + up * w, at), sizes, sigma, w)
        assert edge == pytest.approx(1, abs=1e-6)
        assert gaussian_mean(guesses, (at, at), sizes, sigma, w) < edge
        assert gaussian_mean(guesses, (at + up * (w + 0.1), at), sizes, sigma, w) > 1.001


@pytest.mark.parametrize("kind", [YesNo(), Scale(-1, 3), Number(0.7)])
def test_guesses_within_the_tolerance_are_no_bet(kind: AnswerKind) -> None:
    for guess_x, guess_r in [(0.7, 0.5), (0.5, 0.7), (0.5, 0.5)]:
        assert log_evidence(kind, guess_x, guess_r, 3.0, 4, 1.0, 4, tolerance=0.21) == 0.0


@pytest.mark.parametrize("kind", [YesNo(), Scale(-1, 3), Number(0.7)])
def test_a_tolerance_of_zero_is_the_evidence_without_one(kind: AnswerKind) -> None:
    rng = np.random.default_rng(0)
    guess_x, guess_r = rng.random((2, 50))
    a, b = rng.integers(0, 6, (2, 50))
    x, r = rng.binomial(a, 0.6).astype(float), rng.binomial(b, 0.4).astype(float)
    plain = log_evidence(kind, guess_x, guess_r, x, a, r, b)
    assert np.array_equal(plain, log_evidence(kind, guess_x, guess_r, x, a, r, b, tolerance=0.0))
    tiny = log_evidence(kind, guess_x, guess_r, x, a, r, b, tolerance=1e-12)
    np.testing.assert_allclose(plain, tiny, atol=1e-7)


def test_a_scale_is_rescaled_with_its_tolerance() -> None:
    on_scale = log_evidence(Scale(1, 5), 4.2, 2.2, 5 + 4 * 4, 5, 3 + 4 * 1, 3, tolerance=0.4)
    assert on_scale == pytest.approx(float(bounded_beyond(0.8, 0.3, 4, 5, 1, 3, 0.1)), rel=1e-12)


def test_it_is_the_likelihood_ratio_at_the_nearest_pair() -> None:
    """Found here on a fine grid of pairs that differ by w."""
    px, pr, a, b, w = 0.9, 0.3, 4, 6, 0.2
    p = np.linspace(pr + w, px, 400_001)
    q = p - w

    def kl(u: float, v: Floats) -> Floats:
        return np.asarray(u * np.log(u / v) + (1 - u) * np.log((1 - u) / (1 - v)))

    best = int(np.argmin(a * kl(px, p) + b * kl(pr, q)))
    p0, q0 = p[best], q[best]
    expected = (
        3 * np.log(px / p0)
        + np.log((1 - px) / (1 - p0))
        + 2 * np.log(pr / q0)
        + 4 * np.log((1 - pr) / (1 - q0))
    )
    assert float(bounded_beyond(px, pr, 3, a, 2, b, w)) == pytest.approx(expected, abs=1e-5)


def test_tolerances_are_a_column_like_any_other() -> None:
    grid = np.array([0.0, 0.02, 0.1, 0.7])
    for kind in (YesNo(), Number(0.5)):
        found = log_evidence(kind, 0.8, 0.2, 4.0, 5, 1.0, 5, tolerance=grid)
        one_by_one = [log_evidence(kind, 0.8, 0.2, 4.0, 5, 1.0, 5, tolerance=w) for w in grid]
        np.testing.assert_allclose(found, one_by_one, atol=1e-9)
        assert found[3] == 0.0


@pytest.mark.parametrize(("a", "b"), [(0, 5), (5, 0), (0, 0)])
def test_no_answers_on_one_side_are_no_evidence(a: int, b: int) -> None:
    assert bounded_beyond(0.9, 0.1, float(a), a, 0.0, b, 0.1) == 0.0
    assert number_beyond(0.9, 0.1, float(a), a, 0.0, b, 1.0, 0.1) == 0.0
