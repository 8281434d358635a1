"""The methods of others find planted groups, and what they certify is right often enough."""

import numpy as np
import pytest

from askfew import oracles
from askfew.algorithms import start
from askfew.driver import run
from askfew.simulation import Instance, RunSummary, simulate_runs


@pytest.mark.parametrize(
    ("method", "instance", "budget"),
    [
        ("boc", Instance(12, 6, 6, 3.0), None),
        ("boc", Instance(12, 6, 6, 3.0, groups=3), None),
        ("acb", Instance(20, 30, 10, 1.5), None),
        ("acb", Instance(20, 30, 30, 1.5, groups=3), None),
        ("acb", Instance(20, 12, 6, 0.8, noise="yes-no"), None),
        ("ariu", Instance(20, 12, 6, 0.8, noise="yes-no"), 600),
        ("ariu", Instance(30, 12, 12, 2.0, groups=3), 1500),
    ],
)
def test_planted_groups_are_found(method: str, instance: Instance, budget: int | None) -> None:
    options = {"groups": instance.groups}
    runs = simulate_runs(
        instance, method, delta=0.05, runs=10, seed=3, budget=budget, options=options
    )
    summary = RunSummary.of(runs)
    assert summary.unfinished == 0
    assert summary.errors <= 1
    if budget is None:  # whole rows
        assert all(each.answers % instance.questions == 0 for each in runs)
    else:
        assert all(each.answers == budget for each in runs)


@pytest.mark.parametrize("groups", [None, 4])
def test_same_group_queries_find_four_groups(groups: int | None) -> None:
    """Question j asks whether an item is in the group of item j; one answer in five is wrong."""
    labels = np.arange(24) % 4
    chances = np.where(labels[:, np.newaxis] == labels, 0.8, 0.2)
    answers, errors = [], 0
    for seed in range(10):
        oracle = oracles.bernoulli(chances, rng=seed)
        procedure = start(
            "same-cluster", oracle.problem, np.random.default_rng(seed), delta=0.05, groups=groups
        )
        ended = run(procedure, oracle)
        assert ended.result is not None
        errors += not np.array_equal(ended.result.labels, labels)
        answers.append(ended.meter.answers)
    assert errors <= 2
    assert np.mean(answers) < 24 * 4 * 60


def test_a_pivot_must_be_one_that_can_be_asked_about() -> None:
    """With two questions, only items 0 and 1 can be pivots: the third group is left open."""
    labels = np.array([0, 1, 2, 2, 0, 1])
    chances = np.where(labels[:, np.newaxis] == labels[:2], 0.95, 0.05)
    oracle = oracles.bernoulli(chances, rng=1)
    procedure = start("same-cluster", oracle.problem, np.random.default_rng(1), delta=0.05)
    result = run(procedure, oracle).result
    assert result is not None
    assert result.status == "undecided"
    assert result.labels.tolist() == [0, 1, -1, -1, 0, 1]
