"""A short check against the authors' published means; benchmarks/ has the long one."""

import pytest

from askfew.simulation import Instance, RunSummary, simulate_runs

ROWS = {
    "Experiment 1, s = 53": (Instance(20, 1000, 53, 15 / 53**0.5), 0.8, 59_540),
    "Experiment 2, n = 100": (Instance(100, 1000, 10, 5.0), 0.05, 123_080),
}


@pytest.mark.parametrize(("instance", "delta", "published"), ROWS.values(), ids=ROWS.keys())
def test_the_cost_is_about_the_published_one(
    instance: Instance, delta: float, published: int
) -> None:
    runs = simulate_runs(
        instance, "paper", delta=delta, runs=100, seed=1, max_answers=100 * published
    )
    summary = RunSummary.of(runs)
    assert summary.errors <= 5  # an unfinished run (CR erred) is one of them
    assert summary.mean_answers is not None
    assert 0.85 * published <= summary.mean_answers <= 1.25 * published


@pytest.mark.parametrize("noise", ["yes-no", "scale"])
def test_bounded_answers_are_labelled_rightly(noise: str) -> None:
    instance = Instance(items=8, questions=6, useful=3, gap=0.8, noise=noise)
    summary = RunSummary.of(simulate_runs(instance, "paper", delta=0.1, runs=20, seed=1))
    assert summary.errors == 0


@pytest.mark.parametrize(("items", "questions"), [(2, 1), (2, 5), (3, 1)])
def test_the_smallest_problems_end(items: int, questions: int) -> None:
    instance = Instance(items, questions, useful=1, gap=6.0)
    summary = RunSummary.of(simulate_runs(instance, "paper", delta=0.1, runs=10, seed=1))
    assert summary.errors == 0


def test_a_lopsided_balance_is_no_obstacle() -> None:
    instance = Instance(items=12, questions=4, useful=2, gap=5.0, balance=0.05)
    summary = RunSummary.of(simulate_runs(instance, "paper", delta=0.1, runs=10, seed=1))
    assert summary.errors == 0
