import pytest
from scipy.stats import beta

from askfew.records import Status
from askfew.simulation import Run, RunSummary, error_interval


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
