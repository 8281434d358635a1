"""Validity by exact expectation: if all means of a block agree, the mean of e is at most 1."""

from itertools import product
from math import comb

import numpy as np
import pytest

from askfew.answers import Number, Scale, YesNo
from askfew.evidence import log_evidence
from askfew.evidence.samples import samples_evidence
from askfew.records import Floats

GUESSES = [(0.0, 0.5, 1.0), (0.9, 0.1, 0.1), (0.3, 0.4, 0.99), (0.2, 0.2, 0.2), (1e-9, 1e-9, 1.0)]
MEANS = [0.0, 1e-4, 0.1, 0.37, 0.5, 0.8, 1.0]


def expected(
    guesses: tuple[float, ...], counts: tuple[int, ...], law: Floats, step: float
) -> float:
    """E[e] over every sum; an answer is 0, step, 2 step ... with the probabilities of ``law``."""
    laws = []
    for count in counts:
        total = np.ones(1)
        for _ in range(count):
            total = np.convolve(total, law)
        laws.append(total)
    worth = 0.0
    for sums in product(*(range(len(each)) for each in laws)):
        chance = np.prod([laws[i][s] for i, s in enumerate(sums)])
        e = samples_evidence(
            YesNo(),
            np.ones((1, len(counts))),
            np.array(guesses)[:, np.newaxis],
            step * np.array(sums)[:, np.newaxis],
            np.array(counts)[:, np.newaxis],
        )[0]
        worth += chance * np.exp(e)
    return float(worth)


@pytest.mark.parametrize("guesses", GUESSES)
@pytest.mark.parametrize("counts", [(1, 1, 1), (3, 1, 2), (2, 0, 4)])
def test_yes_no_answers(guesses: tuple[float, ...], counts: tuple[int, ...]) -> None:
    worst = max(expected(guesses, counts, np.array([1 - m, m]), 1.0) for m in MEANS)
    assert worst <= 1 + 1e-9


@pytest.mark.parametrize("guesses", GUESSES)
def test_graded_answers(guesses: tuple[float, ...]) -> None:
    for mean in MEANS:
        half = 2 * min(mean, 1 - mean)
        law = np.array([1 - mean - half / 2, half, mean - half / 2])
        assert expected(guesses, (2, 1, 2), law, 0.5) <= 1 + 1e-9


def test_numbers_with_normal_noise() -> None:
    """Here the variance proxy is the variance, so the expectation is 1."""
    rng = np.random.default_rng(0)
    sigma, guesses, counts = 2.0, np.array([[0.4], [-0.2], [1.2]]), np.array([[2], [1], [4]])
    noise = rng.standard_normal((4_000, 3)) * sigma * np.sqrt(counts.T) + 5.0 * counts.T
    e = np.array(
        [
            samples_evidence(Number(sigma), [[1, 1, 1]], guesses, row[:, np.newaxis], counts)[0]
            for row in noise
        ]
    )
    assert np.exp(e).mean() == pytest.approx(1.0, abs=0.05)


def test_two_samples_are_the_block_of_two() -> None:
    ours = samples_evidence(Scale(1, 5), [[1, 1]], [[4.6], [1.4]], [[25.0], [9.0]], [[5], [5]])
    assert ours[0] == pytest.approx(log_evidence(Scale(1, 5), 4.6, 1.4, x=25, a=5, r=9, b=5))
    numbers = samples_evidence(Number(2.0), [[1, 1]], [[4.0], [1.0]], [[7.0], [9.0]], [[2], [5]])
    assert numbers[0] == pytest.approx(log_evidence(Number(2.0), 4.0, 1.0, x=7, a=2, r=9, b=5))


def test_large_numbers_do_not_cancel() -> None:
    guesses, sums, counts = np.array([[4.0], [1.0]]), np.array([[7.0], [9.0]]), np.array([[2], [5]])
    far = samples_evidence(Number(2.0), [[1, 1]], guesses + 1e9, sums + 1e9 * counts, counts)
    assert far[0] == pytest.approx(
        samples_evidence(Number(2.0), [[1, 1]], guesses, sums, counts)[0], abs=1e-5
    )


def test_a_common_level_that_is_not_the_mean_of_the_guesses_is_caught() -> None:
    """The enumeration can fail: it does with the unweighted mean of the guesses."""
    p, counts, mean = np.array([0.9, 0.1]), np.array([5, 1]), 0.9
    p0 = p.mean()
    total = 0.0
    for x, r in product(range(6), range(2)):
        chance = comb(5, x) * mean**x * (1 - mean) ** (5 - x) * (mean if r else 1 - mean)
        yes, no = np.array([x, r]), counts - np.array([x, r])
        total += chance * np.exp((yes * np.log(p / p0) + no * np.log((1 - p) / (1 - p0))).sum())
    assert total > 1.5
