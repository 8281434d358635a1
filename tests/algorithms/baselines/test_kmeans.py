import sys

import pytest

import askfew
from askfew.errors import MissingExtra
from askfew.simulation import Instance, RunSummary, simulate_runs

EASY = Instance(items=12, questions=6, useful=3, gap=4.0)


@pytest.mark.parametrize("method", ["kmeans", "kmeans10"])
def test_an_easy_problem_is_solved_within_the_budget(method: str) -> None:
    runs = simulate_runs(EASY, method, delta=0.1, runs=20, seed=1, budget=500)
    assert {run.answers for run in runs} == ({432} if method == "kmeans" else {492 + 6 - 6})
    assert RunSummary.of(runs).errors <= (2 if method == "kmeans" else 0)


def test_ten_starts_are_better_than_one() -> None:
    """The authors' one start often ends in a local optimum, far from noise."""
    instance = Instance(items=20, questions=1000, useful=53, gap=15 / 53**0.5)
    errors = {
        method: RunSummary.of(
            simulate_runs(instance, method, delta=0.1, runs=40, seed=1, budget=20_000)
        ).errors
        for method in ("kmeans", "kmeans10")
    }
    assert errors["kmeans10"] < errors["kmeans"]


def test_without_scikit_learn_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.cluster", None)
    with pytest.raises(MissingExtra, match=r"pip install 'askfew\[baselines\]'"):
        askfew.cluster(lambda item, question: 1, 4, 2, method="kmeans", budget=8, rng=1)


def test_items_nobody_told_apart_are_one_group() -> None:
    outcome = askfew.cluster(lambda item, question: None, 4, 2, method="kmeans", budget=8, rng=1)
    assert outcome.labels.tolist() == [0, 0, 0, 0]
    assert outcome.answers == 0
