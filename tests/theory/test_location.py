"""Told the gap but not the location: the numbers, each step of the proof, methods that obey."""

import math
from itertools import product

import numpy as np
import pytest

from askfew.theory.divergence import binary_kl, normal_divergence
from askfew.theory.labelling import labelling_mean
from askfew.theory.location import _flips, told_gap_mean, untold_gap_mean

Vector = tuple[int, ...]


@pytest.mark.parametrize(
    ("useful", "answers"), [(53, 54), (106, 109), (211, 217), (526, 541), (1000, 1028)]
)
def test_experiment_1(useful: int, answers: int) -> None:
    assert round(told_gap_mean(20, 15 / math.sqrt(useful), 0.05).value) == answers


def test_weak_and_dense() -> None:
    assert round(told_gap_mean(50, 0.3, 0.05).value) == 7215


def test_by_hand() -> None:
    """Five items: of 30 label vectors with 5 flips each, 10 lose one: m = (150 - 10) / 30."""
    m = 140 / 30
    by_hand = 2 * 5 / 4 * m * binary_kl(0.9, 0.1 / m)
    assert told_gap_mean(5, 1.0, 0.1).value == pytest.approx(by_hand)


@pytest.mark.parametrize("n", [3, 4, 9, 20, 500, 10**6])
@pytest.mark.parametrize("delta", [1e-6, 0.05, 0.3])
def test_less_is_known_and_more_is_paid(n: int, delta: float) -> None:
    known = labelling_mean(n, normal_divergence(0.7), delta).value
    told, untold = (bound(n, 0.7, delta).value for bound in (told_gap_mean, untold_gap_mean))
    assert known < told <= untold < told * (1 + 2 / n)


def test_the_untold_gap_s_factor_nears_one_plus_two_over_n() -> None:
    for n in (1000, 10_000):
        factor = untold_gap_mean(n, 1.0, 0.05).value / told_gap_mean(n, 1.0, 0.05).value
        assert 0.75 / n < factor - 1 < 1 / n


def test_answers_scale_with_the_variance() -> None:
    for bound in (told_gap_mean, untold_gap_mean):
        assert bound(9, 1.0, 0.05, sigma=3.0).value == pytest.approx(9 * bound(9, 1.0, 0.05).value)


def test_void_cases_say_so() -> None:
    for bound in (told_gap_mean, untold_gap_mean):
        assert bound(2, 1.0, 0.05).void == "void: two items need no answer"
        lax = bound(3, 1.0, 0.7)
        assert (lax.value, lax.void) == (0, "void at this delta: 1 - delta is not above delta/m")
        assert bound(3, 1.0, 0.6).void is None


def family(n: int, r: int) -> list[Vector]:
    return [g for g in product((0, 1), repeat=n) if r <= sum(g) <= n - r]


def flip(g: Vector, k: int) -> Vector:
    return (*g[:k], 1 - g[k], *g[k + 1 :])


@pytest.mark.parametrize(("n", "r"), [(3, 1), (4, 1), (5, 2), (6, 2), (7, 3)])
def test_flips_are_counted_and_are_different_partitions(n: int, r: int) -> None:
    vectors = family(n, r)
    inside = set(vectors)
    flips = [(g, k) for g in vectors for k in range(n) if flip(g, k) in inside]
    assert _flips(n, np.array([float(r)]))[0] == pytest.approx(len(flips) / len(vectors))
    for g in vectors:
        wrong = {frozenset((flip(g, k), flip(tuple(1 - v for v in g), k))) for k in range(n)}
        assert len(wrong) == n
        assert frozenset((g, tuple(1 - v for v in g))) not in wrong


@pytest.mark.parametrize("n", [3, 6, 11])
def test_the_divergences_of_all_flips_sum_to_the_formula(n: int) -> None:
    """Means before and after every flip, written out, for answers spread at random."""
    rng = np.random.default_rng(n)
    gaps = rng.uniform(-2, 2, 4)
    asked = rng.exponential(size=(n, 4))
    labels = rng.permutation(np.arange(n) < rng.integers(1, n))
    c = rng.normal(size=4)
    before = c + np.outer(labels, gaps)
    sizes = np.array([n - labels.sum(), labels.sum()])
    r = sizes.min()
    total = {"told": 0.0, "untold": 0.0}
    for k in range(n):
        other = labels.copy()
        other[k] = not other[k]
        up = 1 if other[k] else -1
        shifted = c - up / n * gaps + np.outer(other, gaps)
        total["told"] += (asked * (shifted - before) ** 2).sum() / 2
        tau = 1 / (n - r + 1)
        levels = np.array([c, c + gaps])
        levels[int(other[k])] -= up * tau * gaps  # its new group comes to meet it
        total["untold"] += (asked * (levels[other.astype(int)] - before) ** 2).sum() / 2
    whole = (asked.sum(axis=0) * gaps**2).sum() / 2
    assert total["told"] == pytest.approx(whole * (n - 1) / n)
    assert total["untold"] <= whole / (1 + 1 / (n - r)) * (1 + 1e-12)


@pytest.mark.parametrize("n", [3, 4, 5])
def test_the_averaging_argument_over_labels_and_locations(n: int) -> None:
    """Any table of P_(g, u)(method says h): flips with shifts average to error / m'."""
    rng = np.random.default_rng(n)
    vectors, length = family(n, 1), 6
    inside = set(vectors)
    names = sorted({min(g, tuple(1 - v for v in g)) for g in vectors})
    partition = {g: names.index(min(g, tuple(1 - v for v in g))) for g in vectors}
    for trust in rng.uniform(0, 20, 10):
        says = {
            (g, u): rng.dirichlet(np.full(len(names), 0.3) + trust * np.eye(len(names))[at])
            for g, at in partition.items()
            for u in range(length)
        }
        delta = max(1 - chance[partition[g]] for (g, _), chance in says.items())
        pairs = [
            (says[g, u][partition[g]], says[flip(g, k), to][partition[g]])
            for g in vectors
            for u in range(length)
            for k in range(n)
            if flip(g, k) in inside and 0 <= (to := u - 1 if g[k] == 0 else u + 1) < length
        ]
        m = len(pairs) / (len(vectors) * length)
        flips = n * (1 - 1 / (2 ** (n - 1) - 1))
        assert m == pytest.approx(flips * (1 - 1 / length))
        assert np.mean([wrong for _, wrong in pairs]) <= delta / m + 1e-12
        if delta / m < 1 - delta:
            told = np.mean([binary_kl(right, wrong) for right, wrong in pairs])
            assert told >= binary_kl(1 - delta, delta / m) - 1e-12


@pytest.mark.parametrize(("n", "repeats"), [(3, 4), (4, 6), (5, 10), (8, 12)])
def test_likelihood_that_knows_the_gap_but_not_the_location_obeys(n: int, repeats: int) -> None:
    """Every item asked equally often, the likeliest partition said: it shifts with the answers."""
    rng = np.random.default_rng(n)
    vectors = np.array(family(n, 1), dtype=float)
    runs, gap = 20_000, 1.0
    true = vectors[rng.integers(len(vectors), size=runs)]
    means = gap * true + rng.normal(size=(runs, n)) / math.sqrt(repeats) + 17.0
    centred = means - means.mean(axis=1, keepdims=True)
    levels = gap * (vectors - vectors.mean(axis=1, keepdims=True))
    said = vectors[np.argmax(centred @ levels.T - (levels**2).sum(axis=1) / 2, axis=1)]
    right = (said == true).all(axis=1) | (said == 1 - true).all(axis=1)
    delta = 1 - right.mean() - 4 * right.std() / math.sqrt(runs)  # hardly ever above its error
    assert delta > 0.005
    assert n * repeats >= told_gap_mean(n, gap, delta).value
