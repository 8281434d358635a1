import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

from askfew.simulation import Instance, Run, simulate_runs
from askfew.theory.divergence import binary_kl, normal_divergence, yes_no_divergence
from askfew.theory.labelling import labelling_mean, labelling_quantile
from askfew.theory.lower import flipping_mean, flipping_quantile


def test_by_hand() -> None:
    """n = 12, delta .05, gap 1: kl(.95, .005) = .95 log 190 + .05 log(.05 / .995)."""
    kl = 0.95 * math.log(190) + 0.05 * math.log(0.05 / 0.995)
    assert labelling_mean(12, normal_divergence(1.0), 0.05).value == pytest.approx(20 * kl)
    kl = 0.9 * math.log(180) + 0.1 * math.log(0.1 / 0.995)
    assert labelling_quantile(12, normal_divergence(1.0), 0.05).value == pytest.approx(20 * kl)


def test_yes_no_by_hand() -> None:
    """.85 against .15: both divergences are .7 log(.85/.15) = 1.2142."""
    found = labelling_mean(12, yes_no_divergence(0.85, 0.15), 0.05).value
    assert found == pytest.approx(10 * binary_kl(0.95, 0.005) / (0.7 * math.log(0.85 / 0.15)))


def test_answers_scale_with_the_variance() -> None:
    one, three = (labelling_mean(9, normal_divergence(0.5, s), 0.1).value for s in (1.0, 3.0))
    assert three == pytest.approx(9 * one)


@pytest.mark.parametrize("n", [3, 4, 10, 1000])
@pytest.mark.parametrize("delta", [1e-6, 0.01, 0.05, 0.2])
def test_sharper_than_the_paper(n: int, delta: float) -> None:
    assert labelling_mean(n, 1.0, delta).value >= flipping_mean(n, 1.0, delta).value
    assert labelling_quantile(n, 1.0, delta).value >= flipping_quantile(n, 1.0, delta).value
    assert labelling_mean(n, 1.0, delta).value >= labelling_quantile(n, 1.0, delta).value


def test_the_cost_of_an_item_grows_like_the_logarithm_of_items() -> None:
    costs = [labelling_mean(n, 1.0, 0.01).value / (n - 2) for n in (12, 102, 1002, 10002)]
    np.testing.assert_allclose(np.diff(costs), 0.99 * math.log(10), rtol=1e-3)


def test_costs_fall_with_delta_until_void() -> None:
    deltas = np.linspace(0.001, 0.999, 999)
    for bound, limit in ((labelling_mean, 4 / 5), (labelling_quantile, 4 / 9)):
        found = [bound(6, 1.0, delta) for delta in deltas]
        assert (np.diff([one.value for one in found]) <= 0).all()
        assert [one.void is None for one in found] == [delta < limit for delta in deltas]
        assert all((one.value > 0) == (one.void is None) for one in found)


def test_void_cases_say_so() -> None:
    assert labelling_mean(2, 1.0, 0.05).void == "void: two items need no answer"
    assert labelling_mean(9, math.inf, 0.05).void == "void: one answer can be proof"
    one_coin = "void at this delta: 1 - delta is not above delta/(n-2)"
    assert labelling_mean(3, 1.0, 0.5).void == one_coin
    assert labelling_quantile(3, 1.0, 0.34).void is not None
    assert labelling_quantile(3, 1.0, 0.33).void is None
    assert labelling_quantile(9, 1.0, 0.8).value == 0


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_the_averaging_argument_on_every_label_vector(m: int) -> None:
    """Any table of P_g(method says h): flips average to error / m, and kl averages to the bound."""
    rng = np.random.default_rng(m)
    vectors = list(product([0, 1], repeat=m))
    where = {vector: place for place, vector in enumerate(vectors)}

    def flip(vector: tuple[int, ...], k: int) -> int:
        return where[(*vector[:k], 1 - vector[k], *vector[k + 1 :])]

    for trust in [*rng.uniform(0, 30, 20), 0.0]:
        says = rng.dirichlet(np.full(2**m, 0.3), size=2**m) + trust * np.eye(2**m)
        says /= says.sum(axis=1, keepdims=True)  # says[g, h]: the chance of h under g
        error = 1 - np.diag(says).mean()
        pairs = [
            (says[where[g], where[g]], says[flip(g, k), where[g]])
            for g in vectors
            for k in range(m)
        ]
        flipped = float(np.mean([wrong for _, wrong in pairs]))
        assert flipped <= error / m + 1e-12
        told = np.mean([binary_kl(right, wrong) for right, wrong in pairs])
        if error < m / (m + 1):
            assert told >= binary_kl(1 - error, error / m) - 1e-12


@pytest.mark.parametrize("m", [1, 5, 100])
@pytest.mark.parametrize("gap", [0.1, 1.0, 2.5])
@pytest.mark.parametrize("repeats", [1, 4, 100, 1000])
def test_known_means_and_fixed_repeats_obey(m: int, gap: float, repeats: int) -> None:
    """The likelihood test of each item errs with Phi(-sqrt(repeats) gap / 2)."""
    item_error = norm.sf(math.sqrt(repeats) * gap / 2)
    delta = -math.expm1(m * math.log1p(-item_error))
    if not 1e-300 < delta < 1:
        return
    divergence = normal_divergence(gap)
    assert m * repeats >= labelling_mean(m + 2, divergence, delta).value
    assert m * repeats >= labelling_quantile(m + 2, divergence, delta).value


@pytest.mark.parametrize("m", [1, 3, 50, 2000])
@pytest.mark.parametrize("p", [0.55, 0.7, 0.95])
@pytest.mark.parametrize("guessing", [0.0, 0.1, 0.7])
def test_sequential_tests_of_yes_no_answers_obey(m: int, p: float, guessing: float) -> None:
    """Wald's test of p against 1 - p is a gambler's ruin, exact; a lazy one may guess instead."""
    odds = p / (1 - p)
    for lead in range(1, 30):
        item_error = 1 / (1 + odds**lead)
        answers = lead * (1 - 2 * item_error) / (2 * p - 1)
        wrong = -math.expm1(m * math.log1p(-item_error))
        delta = (1 - guessing) * wrong + guessing * (1 - 0.5**m)
        if delta == 1:
            continue
        bound = labelling_mean(m + 2, yes_no_divergence(p, 1 - p), delta)
        assert (1 - guessing) * m * answers >= bound.value * (1 - 1e-12)


@pytest.mark.parametrize("lead", [1, 2, 7])
def test_one_item_reaches_the_bound(lead: int) -> None:
    """Wald's test is optimal, and with steps of one it stops exactly on its edge."""
    p, odds = 0.8, 4.0
    delta = 1 / (1 + odds**lead)
    bound = labelling_mean(3, yes_no_divergence(p, 1 - p), delta).value
    assert lead * (1 - 2 * delta) / (2 * p - 1) == pytest.approx(bound)


def test_many_items_nearly_reach_the_bound() -> None:
    """Sequential tests with known chances cost a few percent more: the bound is no empty one."""
    m, p = 1000, 0.55
    odds = p / (1 - p)
    lead = math.ceil(math.log(m / 0.05) / math.log(odds))
    item_error = 1 / (1 + odds**lead)
    delta = -math.expm1(m * math.log1p(-item_error))
    answers = m * lead * (1 - 2 * item_error) / (2 * p - 1)
    assert 1 < answers / labelling_mean(m + 2, yes_no_divergence(p, 1 - p), delta).value < 1.1


@pytest.mark.parametrize(("noise", "gap"), [("gaussian", 2.0), ("yes-no", 0.8)])
def test_the_papers_method_pays_more(noise: str, gap: float) -> None:
    """Random labels: two items differ, the others toss coins, and all are shuffled."""
    n, delta = 6, 0.2
    rng = np.random.default_rng(5)
    runs: list[Run] = []
    for seed in range(12):
        second = 1 + rng.binomial(n - 2, 0.5)
        instance = Instance(n, 3, 2, gap, noise, balance=second / n)
        runs += simulate_runs(instance, "paper", delta=delta, runs=1, seed=seed)
    divergence = (
        normal_divergence(gap)
        if noise == "gaussian"
        else yes_no_divergence(0.5 + gap / 2, 0.5 - gap / 2)
    )
    assert sum(run.correct for run in runs) >= 8
    answers = [run.answers for run in runs]
    assert np.mean(answers) > labelling_mean(n, divergence, delta).value > 0
    assert np.quantile(answers, 1 - delta) > labelling_quantile(n, divergence, delta).value > 0
