"""Simulators draw sums; their law must be that of separate answers added up."""

from collections import Counter
from itertools import product
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from askfew import oracles
from askfew.errors import InvalidInput
from askfew.records import Batch, Floats, Oracle

DRAWS = 20_000
SURE = 1e-3  # with fixed seeds a test either always passes or never


def many(oracle: Oracle, m: int) -> tuple[Floats, Floats]:
    """Sums and squares of many rows, each m answers of cell (1, 0)."""
    ones = np.ones(DRAWS, dtype=np.int64)
    tally = oracle(Batch(ones, 0 * ones, m * ones))
    assert (tally.counts == m).all()
    assert tally.squares is not None
    return tally.sums, tally.squares


def one_by_one(oracle: Oracle, m: int) -> tuple[Floats, Floats]:
    """The same from m separate answers a row."""
    answers = np.stack([many(oracle, 1)[0] for _ in range(m)])
    return answers.sum(axis=0), (answers**2).sum(axis=0)


def gaussian(seed: int) -> Oracle:
    return oracles.gaussian([[5.0], [1.5]], sigma=2.0, rng=seed)


def bernoulli(seed: int) -> Oracle:
    return oracles.bernoulli([[0.5], [0.3]], rng=seed)


def scale(seed: int) -> Oracle:
    return oracles.scale([[1.0], [2.2]], 1, 5, rng=seed)


class TestGaussian:
    @pytest.mark.parametrize("m", [1, 2, 7])
    def test_sums_are_normal(self, m: int) -> None:
        sums, _ = many(gaussian(1), m)
        assert stats.kstest(sums, stats.norm(1.5 * m, 2 * m**0.5).cdf).pvalue > SURE

    @pytest.mark.parametrize("m", [2, 7])
    def test_squares_around_the_mean_are_chi_square_and_independent_of_the_sum(
        self, m: int
    ) -> None:
        sums, squares = many(gaussian(1), m)
        around = (squares - sums**2 / m) / 4
        chi_square = stats.chi2(m - 1)
        assert stats.kstest(around, chi_square.cdf).pvalue > SURE
        low = sums < np.median(sums)
        assert stats.kstest(around[low], chi_square.cdf).pvalue > SURE
        assert stats.kstest(around[~low], chi_square.cdf).pvalue > SURE
        assert abs(stats.spearmanr(sums, around).statistic) < 4 / DRAWS**0.5

    def test_one_answer_is_its_own_square(self) -> None:
        sums, squares = many(gaussian(1), 1)
        np.testing.assert_array_equal(squares, sums**2)

    @pytest.mark.parametrize("m", [2, 5])
    def test_the_joint_law_is_that_of_separate_answers(self, m: int) -> None:
        sums, squares = many(gaussian(1), m)
        separate = one_by_one(gaussian(2), m)
        for weight in (0.0, 1.0, -1.0, 0.2):
            one, other = sums + weight * squares, separate[0] + weight * separate[1]
            assert stats.ks_2samp(one, other).pvalue > SURE
        assert stats.ks_2samp(squares, separate[1]).pvalue > SURE

    @pytest.mark.parametrize("spoiled", ["one noise for all", "squares of the mean only"])
    def test_the_check_rejects_another_law(self, spoiled: str) -> None:
        m = 5
        sums, squares = many(gaussian(1), m)
        if spoiled == "one noise for all":  # m times one answer, not m answers
            sums = m * many(gaussian(1), 1)[0]
        else:
            squares = sums**2 / m
        separate = one_by_one(gaussian(2), m)
        worst = min(
            stats.ks_2samp(sums + weight * squares, separate[0] + weight * separate[1]).pvalue
            for weight in (0.0, 1.0, -1.0, 0.2)
        )
        assert worst < SURE**3


class TestBernoulli:
    @pytest.mark.parametrize("m", [1, 6])
    def test_sums_are_binomial(self, m: int) -> None:
        sums, squares = many(bernoulli(1), m)
        seen = np.bincount(sums.astype(int), minlength=m + 1)
        expected = DRAWS * stats.binom.pmf(np.arange(m + 1), m, 0.3)
        assert stats.chisquare(seen, expected).pvalue > SURE
        np.testing.assert_array_equal(squares, sums)

    def test_certain_answers(self) -> None:
        tally = oracles.bernoulli([[0.0], [1.0]], rng=1)(
            Batch(np.array([0, 1]), np.array([0, 0]), np.array([9, 9]))
        )
        assert tally.sums.tolist() == [0.0, 9.0]


class TestScale:
    P = 0.3  # (2.2 - 1) / 4

    def chances(self) -> list[float]:
        return [comb(4, k) * self.P**k * (1 - self.P) ** (4 - k) for k in range(5)]

    @pytest.mark.parametrize("m", [1, 2, 3])
    def test_the_joint_law_of_sum_and_squares_is_exact(self, m: int) -> None:
        """Enumerated: every way m answers can fall on five values."""
        law: Counter[tuple[float, float]] = Counter()
        for values in product(range(5), repeat=m):
            chance = float(np.prod([self.chances()[value] for value in values]))
            answers = 1 + np.array(values)
            law[float(answers.sum()), float((answers**2).sum())] += chance  # type: ignore[assignment]
        seen = Counter(zip(*(each.tolist() for each in many(scale(1), m)), strict=True))
        assert seen.keys() <= law.keys()
        likely = [cell for cell in law if DRAWS * law[cell] >= 5]
        counts = [seen[cell] for cell in likely]
        expected = [DRAWS * law[cell] for cell in likely]
        rest = DRAWS - sum(counts), DRAWS - sum(expected)
        if rest[1] > 1e-6:
            counts.append(rest[0])
            expected.append(rest[1])
        assert stats.chisquare(counts, expected).pvalue > SURE

    def test_all_five_values_come_and_the_mean_is_right(self) -> None:
        sums, _ = many(scale(1), 1)
        assert np.unique(sums).tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
        assert sums.mean() == pytest.approx(2.2, abs=0.03)

    @pytest.mark.parametrize(("low", "high"), [(0.1, 0.7), (-1 / 3, 1 / 7)])
    def test_awkward_ends_stay_inside_the_scale(self, low: float, high: float) -> None:
        oracle = oracles.scale([[low], [high]], low, high, rng=1)
        batch = Batch(np.array([0, 1]), np.array([0, 0]), np.array([10**6, 10**6]))
        tally = oracle(batch)
        assert oracle.problem.kind.allows(tally.counts, tally.sums)


@pytest.mark.parametrize("make", [gaussian, bernoulli, scale])
def test_mean_and_variance_are_those_of_separate_answers(make: Any) -> None:
    sums, squares = many(make(1), 4)
    for one, other in zip((sums, squares), one_by_one(make(2), 4), strict=True):
        error = one.std() * (2 / DRAWS) ** 0.5
        assert abs(one.mean() - other.mean()) < 4 * error
        assert one.var() == pytest.approx(other.var(), rel=0.08)


@pytest.mark.parametrize("make", [gaussian, bernoulli, scale])
def test_rows_of_one_cell_are_drawn_apart(make: Any) -> None:
    sums, _ = many(make(1), 3)
    assert abs(np.corrcoef(sums[::2], sums[1::2])[0, 1]) < 4 / (DRAWS / 2) ** 0.5


@pytest.mark.parametrize("make", [gaussian, bernoulli, scale])
def test_a_billion_answers_cost_one_draw(make: Any) -> None:
    tally = make(1)(Batch(np.array([1]), np.array([0]), np.array([10**9])))
    mean = make(1)(Batch(np.array([1]), np.array([0]), np.array([10**7]))).sums[0] / 10**7
    assert tally.sums[0] / 10**9 == pytest.approx(mean, abs=0.01)


def test_labels_say_whose_row_is_whose() -> None:
    labels = [1, 0, 1]
    by_group = oracles.gaussian([[0.0, 9.0], [5.0, 7.0]], labels=labels, rng=3)
    by_item = oracles.gaussian([[5.0, 7.0], [0.0, 9.0], [5.0, 7.0]], rng=3)
    rows = Batch(np.arange(3).repeat(2), np.tile([0, 1], 3), np.full(6, 4))
    np.testing.assert_array_equal(by_group(rows).sums, by_item(rows).sums)
    assert by_group.problem == by_item.problem


@given(st.integers(0, 2**32), st.lists(st.integers(1, 50), min_size=1, max_size=8))
def test_every_tally_is_possible(seed: int, repeats: list[int]) -> None:
    rows = np.zeros(len(repeats), dtype=np.int64)
    for make in (gaussian, bernoulli, scale):
        oracle = make(seed)
        tally = oracle(Batch(rows, rows, np.array(repeats)))
        assert tally.counts.tolist() == repeats
        assert oracle.problem.kind.allows(tally.counts, tally.sums)
        assert tally.squares is not None
        assert (tally.squares >= tally.sums**2 / tally.counts * (1 - 1e-12)).all()


WRONG_WORLDS: dict[str, Any] = {
    "chance above 1": lambda: oracles.bernoulli([[0.5], [1.2]]),
    "chance below 0": lambda: oracles.bernoulli([[0.5], [-0.1]]),
    "mean outside the scale": lambda: oracles.scale([[0.5], [3.0]], 1, 5),
    "NaN": lambda: oracles.gaussian([[0.0], [float("nan")]]),
    "infinite": lambda: oracles.bernoulli([[0.0], [float("inf")]]),
    "a list": lambda: oracles.gaussian([0.0, 1.0]),
    "ragged": lambda: oracles.gaussian([[0.0], [1.0, 2.0]]),
    "text": lambda: oracles.gaussian([["a"], ["b"]]),
    "one item": lambda: oracles.gaussian([[0.0]]),
    "no questions": lambda: oracles.gaussian([[], []]),
    "no label's row": lambda: oracles.gaussian([[0.0], [1.0]], labels=[0, 2]),
    "negative label": lambda: oracles.gaussian([[0.0], [1.0]], labels=[0, -1]),
    "float labels": lambda: oracles.gaussian([[0.0], [1.0]], labels=[0.0, 1.0]),
    "labels in two dimensions": lambda: oracles.gaussian([[0.0], [1.0]], labels=[[0], [1]]),
    "sigma 0": lambda: oracles.gaussian([[0.0], [1.0]], sigma=0),
    "sigma negative": lambda: oracles.gaussian([[0.0], [1.0]], sigma=-1),
    "a scale upside down": lambda: oracles.scale([[2.0], [2.0]], 5, 1),
}


@pytest.mark.parametrize("make", WRONG_WORLDS.values(), ids=WRONG_WORLDS.keys())
def test_an_impossible_world_is_refused(make: Any) -> None:
    with pytest.raises(InvalidInput):
        make()
