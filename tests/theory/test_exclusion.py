"""The max-min program for K groups: what it picks, that it is best, and that labelling obeys it."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from askfew.errors import InvalidInput
from askfew.theory.divergence import binary_kl, yes_no_divergence
from askfew.theory.exclusion import (
    Mix,
    best_mixes,
    groups_forecast,
    groups_mean,
    normal_divergences,
    yes_no_divergences,
)
from askfew.theory.gaps import Floats
from askfew.theory.labelling import labelling_mean


def planted(groups: int, questions: int, seed: int) -> Floats:
    """Chances .85 or .15 on every question, all groups different."""
    rng = np.random.default_rng(seed)
    while True:
        sides = rng.integers(0, 2, (groups, questions))
        if len(np.unique(sides, axis=0)) == groups:
            return np.where(sides == 1, 0.85, 0.15)


def test_two_groups_make_the_labelling_bound() -> None:
    p, q = [0.9, 0.5, 0.4], [0.3, 0.5, 0.1]
    mixes = best_mixes(yes_no_divergences([p, q]))
    assert max(mix.rate for mix in mixes) == pytest.approx(yes_no_divergence(p, q))
    assert groups_mean(12, mixes, 0.05).value == pytest.approx(
        labelling_mean(12, yes_no_divergence(p, q), 0.05).value
    )


def test_by_hand() -> None:
    """Group 0 needs a question against each other group: an answer in five and four in five."""
    told = np.zeros((2, 3, 3))
    told[0, 0, 1], told[1, 0, 2] = 4.0, 1.0
    told[0, 1, 0] = told[0, 1, 2] = told[1, 2, 0] = told[1, 2, 1] = 1.0
    first, second, _ = best_mixes(told)
    assert first.rate == pytest.approx(0.8)
    assert first.weights == {0: pytest.approx(0.2), 1: pytest.approx(0.8)}
    assert second == Mix(1.0, {0: 1.0})


@pytest.mark.parametrize(("groups", "useful"), [(3, 6), (5, 8), (10, 12)])
def test_a_vertex_uses_few_questions_and_no_dual_does_better(groups: int, useful: int) -> None:
    for seed in range(5):
        told = yes_no_divergences(planted(groups, useful, seed))
        for g, mix in enumerate(best_mixes(told)):
            assert len(mix.weights) <= groups - 1
            assert sum(mix.weights.values()) == pytest.approx(1)
            against = np.delete(told[:, g], g, axis=1)
            dual = linprog(
                [0.0] * (groups - 1) + [1.0],
                A_ub=np.column_stack([against, -np.ones(useful)]),
                b_ub=np.zeros(useful),
                A_eq=[[1.0] * (groups - 1) + [0.0]],
                b_eq=[1.0],
            )
            assert mix.rate == pytest.approx(dual.fun)


def test_five_groups_need_about_five_questions_and_not_ten_pairs() -> None:
    used = [
        len({q for mix in best_mixes(yes_no_divergences(planted(5, 8, seed))) for q in mix.weights})
        for seed in range(20)
    ]
    assert np.mean(used) < 7


def test_sequential_tests_told_every_level_never_beat_the_bound() -> None:
    """Each item asked by its true group's best mix until every other group is excluded."""
    rng = np.random.default_rng(3)
    means = planted(3, 6, 1)
    mixes = best_mixes(yes_no_divergences(means))
    n, delta, runs = 15, 0.1, 200
    threshold, answers, wrong = math.log(n / delta), 0, 0
    for _ in range(runs):
        for g in rng.integers(0, 3, n - 3):
            questions, weights = zip(*mixes[g].weights.items(), strict=True)
            likelihood = np.zeros(3)
            while np.sort(likelihood)[-1] - np.sort(likelihood)[-2] < threshold:
                q = rng.choice(questions, p=np.array(weights) / sum(weights))
                yes = rng.random() < means[g, q]
                likelihood += np.log(means[:, q] if yes else 1 - means[:, q])
                answers += 1
            wrong += int(likelihood.argmax() != g)
    bound = groups_mean(n, mixes, delta).value
    assert wrong / runs < delta
    assert bound < answers / runs < 1.3 * groups_forecast(n, mixes, delta).value


def test_a_certain_answer_is_no_burden() -> None:
    sure = best_mixes(yes_no_divergences([[0.0], [1.0]]))
    assert [mix.rate for mix in sure] == [math.inf, math.inf]
    assert groups_mean(9, sure, 0.05).void == "void: one answer can be proof"
    assert groups_forecast(9, sure, 0.05).value == 0
    mixed = best_mixes(yes_no_divergences([[0.0, 0.5], [1.0, 0.5], [0.0, 0.9]]))
    assert mixed[0].rate == pytest.approx(binary_kl(0.5, 0.9))
    assert mixed[1].rate == math.inf


def test_void_cases_say_so() -> None:
    mixes = best_mixes(normal_divergences(np.eye(3)))
    assert groups_mean(3, mixes, 0.05).void is not None
    assert groups_mean(4, mixes, 0.5).void is not None
    assert groups_mean(5, mixes, 0.5).value > 0


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        (np.zeros((4, 2)), "divergences must be"),
        (-np.ones((1, 2, 2)), "divergences must be"),
        (np.zeros((3, 2, 2)), "every two groups must differ"),
    ],
)
def test_bad_divergences_get_one_sentence(told: object, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        best_mixes(np.asarray(told))


def test_bad_means_get_one_sentence() -> None:
    with pytest.raises(InvalidInput, match="a row for each of two or more groups"):
        normal_divergences([1.0, 2.0])
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        yes_no_divergences([[0.5], [1.5]])
    with pytest.raises(InvalidInput, match="at least as many items"):
        groups_mean(2, best_mixes(normal_divergences(np.eye(3))), 0.05)
