from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

from askfew.algorithms import METHODS
from askfew.errors import InvalidBatch, InvalidInput
from askfew.records import Batch, Finding, Problem, Procedure, Status
from askfew.simulation import (
    Instance,
    Run,
    RunSummary,
    draw_anchors,
    error_interval,
    simulate_runs,
    try_method,
)

EASY = Instance(items=6, questions=4, useful=2, gap=6.0)


def simulate(**settings: Any) -> list[Run]:
    return simulate_runs(
        **{"instance": EASY, "method": "paper", "delta": 0.1, "runs": 4, **settings}
    )


def test_each_run_has_its_own_seed_and_more_runs_begin_with_the_same() -> None:
    few, many = simulate(runs=4, seed=3), simulate(runs=8, seed=3)
    assert many[:4] == few
    assert len({run.answers for run in many}) > 1
    assert simulate(runs=4, seed=4) != few


def test_any_number_of_jobs_gives_the_same_runs() -> None:
    assert simulate(jobs=2) == simulate(jobs=1)


def test_a_capped_run_is_unfinished_and_labels_nothing() -> None:
    for run in simulate(max_answers=30):
        assert (run.status, run.finished, run.decided) == ("budget", False, 0)
        assert run.correct
        assert run.class_accuracy is None
        assert run.answers <= 30


def test_a_watcher_sees_every_run() -> None:
    seen: list[Run] = []

    def watch(runs: Iterator[Run]) -> Iterator[Run]:
        for run in runs:
            seen.append(run)
            yield run

    assert simulate(watch=watch) == seen


def test_the_referee_knows_a_wrong_label() -> None:
    """A world whose groups hardly differ, clustered from one answer a cell."""
    hard = Instance(items=12, questions=4, useful=1, gap=0.01)
    runs = simulate(instance=hard, method="spectral", budget=48, runs=10)
    assert all(run.status == "done" for run in runs)
    assert not any(run.correct for run in runs)


def test_answers_by_phase_add_up() -> None:
    world = EASY.draw(np.random.SeedSequence(1))
    run = try_method(world, np.random.default_rng(1), method="paper", delta=0.1)
    assert sum(run.by_phase.values()) == run.answers


RULE = {
    "instance": Instance(40, 12, 6, 0.8, "yes-no", spread=0.1),
    "method": "rule",
    "options": {"error": "share"},
}


def test_a_rule_is_judged_by_itself_and_by_the_planted_groups() -> None:
    runs = simulate(**RULE)
    assert all(run.finished and run.correct for run in runs)
    assert any(run.class_accuracy is not None and run.class_accuracy > 0.9 for run in runs)


def test_the_referee_sees_wrong_labels_of_a_rule() -> None:
    """With nearly any evidence enough, items near the cut go wrong."""
    hard = Instance(60, 12, 8, 0.5, "yes-no", spread=0.6)
    runs = simulate(**{**RULE, "instance": hard}, delta=0.9, runs=6)
    assert any(not run.correct and 0 < run.wrong_share < 0.5 for run in runs)


def test_anchors_are_known_items_of_each_group_and_are_not_counted() -> None:
    labels = np.array([0, 0, 1, 2, 1, 0, 2, 1])
    anchors = draw_anchors(labels, 2, np.random.default_rng(0))
    assert sorted(anchors.values()) == [0, 0, 1, 1, 2, 2]
    assert all(labels[item] == group for item, group in anchors.items())
    run = simulate(**RULE, anchors=4)[0]
    assert 0.8 < run.decided <= 1
    assert (run.decided * (40 - 8)) == pytest.approx(round(run.decided * (40 - 8)))


BAD: dict[str, dict[str, Any]] = {
    "no runs": {"runs": 0},
    "negative runs": {"runs": -1},
    "no jobs": {"jobs": 0},
    "jobs -2": {"jobs": -2},
    "seed": {"seed": -1},
    "method": {"method": "papper"},
    "delta": {"delta": 0.0},
    "cap": {"max_answers": -1},
    "budget": {"budget": 5},
    "option": {"options": {"flavour": 3}},
    "anchors of a method that takes none": {"anchors": 1},
    "more anchors than items": {**RULE, "anchors": 21},
    "negative anchors": {**RULE, "anchors": -1},
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_bad_settings_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        simulate(**bad)


def test_an_error_in_another_process_is_the_same_error() -> None:
    with pytest.raises(InvalidInput, match="method must be one of"):
        simulate(method="papper", jobs=2)


def asking(
    problem: Problem, delta: float, rng: np.random.Generator, *, per_cell: int, times: int
) -> Procedure[Finding]:
    """Asks one cell so often, in two steps, whatever its cap."""
    for repeats in (times - 1, 1):
        yield Batch(np.array([0, 1]), np.array([0, 0]), np.array([repeats, 1]))
    return Finding(np.full(problem.items, -1))


def test_a_method_that_exceeds_its_cap_on_a_cell_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "asking", asking)
    assert simulate(method="asking", options={"per_cell": 5, "times": 5})[0].answers == 7
    with pytest.raises(InvalidBatch, match="must ask no cell more than 5 times, got 6"):
        simulate(method="asking", options={"per_cell": 5, "times": 6})


def test_the_method_rule_keeps_its_cap() -> None:
    world = Instance(30, 12, 6, 0.8, "yes-no", spread=0.1)
    options = {"per_cell": 4, "error": "share"}
    assert simulate(instance=world, method="rule", options=options, runs=3)


def test_a_method_that_only_this_process_knows_runs_in_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def mine(problem: Problem, rng: np.random.Generator, *, budget: int) -> Procedure[Finding]:
        return METHODS["kmeans"](problem, rng, budget=budget)

    monkeypatch.setitem(METHODS, "mine", mine)
    instance = Instance(items=8, questions=4, useful=2, gap=4.0)
    found = [
        simulate_runs(instance, method, delta=0.1, runs=3, budget=64, jobs=jobs)
        for method, jobs in (("kmeans", 1), ("mine", 2), (mine, 2))
    ]
    assert found[0] == found[1] == found[2]


def run(status: Status, correct: bool, answers: int) -> Run:
    return Run(status, correct, answers, batches=answers // 10)


RUNS = [
    run("done", True, 100),
    run("no-consensus", True, 200),
    run("undecided", False, 300),
    run("budget", False, 1000),
    run("stalled", True, 0),
]


def test_capped_runs_are_unfinished_and_never_dropped() -> None:
    summary = RunSummary.of(RUNS)
    assert (summary.unfinished, summary.no_consensus) == (2, 1)
    assert (summary.errors, summary.error_rate) == (2, 0.4)
    assert summary.mean_answers == 200
    assert summary.median_answers == 200
    assert summary.mean_answers_all == 320
    assert summary.max_answers_seen == 1000
    assert summary.mean_batches == 32


def test_shares_are_over_all_runs_and_the_accuracy_over_those_with_labels() -> None:
    shares = [(1.0, 0.1, 0.8), (0.5, 0.0, 1.0), (0.0, 0.0, None)]
    runs = [Run("done", True, 1, 1, {}, *each) for each in shares]
    summary = RunSummary.of(runs)
    assert summary.decided == 0.5
    assert summary.wrong_share == pytest.approx(0.1 / 3)
    assert summary.class_accuracy == pytest.approx(0.9)
    assert RunSummary.of(runs[2:]).class_accuracy is None


def test_quantiles_are_over_finished_runs() -> None:
    summary = RunSummary.of([run("done", True, answers) for answers in range(101)])
    assert (summary.q05_answers, summary.q95_answers) == (5, 95)


def test_nothing_finished_has_no_mean() -> None:
    summary = RunSummary.of([run("budget", True, 50)])
    assert summary.mean_answers is None
    assert summary.median_answers is None
    assert summary.mean_answers_all == 50
    assert (summary.errors, summary.unfinished) == (0, 1)


@pytest.mark.parametrize(("errors", "runs"), [(0, 100), (3, 100), (100, 100), (17, 400)])
def test_the_interval_is_clopper_pearson(errors: int, runs: int) -> None:
    low, high = error_interval(errors, runs)
    assert low == pytest.approx(beta.ppf(0.025, errors, runs - errors + 1) if errors else 0)
    assert high == pytest.approx(beta.ppf(0.975, errors + 1, runs - errors) if errors < runs else 1)


def test_the_published_value() -> None:
    """None of 100: the upper end is 1 - 0.025^(1/100)."""
    assert error_interval(0, 100)[1] == pytest.approx(1 - 0.025**0.01)
