from functools import partial

from askfew.experiments.trials import (
    try_bandit_clustering,
    try_candidate_row,
    try_cluster_by_candidates,
)
from askfew.simulation import Instance, repeat, try_method

EXPERIMENT_1 = Instance(items=20, questions=1000, useful=211, gap=15 / 211**0.5)


def test_the_paper_s_procedures_are_judged_one_by_one() -> None:
    rows = repeat(EXPERIMENT_1, partial(try_candidate_row, delta=0.4), runs=10)
    labels = repeat(EXPERIMENT_1, partial(try_cluster_by_candidates, delta=0.4), runs=10)
    assert sum(run.correct for run in rows) >= 8
    assert all(run.correct for run in labels)
    assert max(run.answers for run in rows) < min(run.answers for run in labels)


def test_the_two_steps_in_a_row_are_the_whole_method() -> None:
    stepwise = repeat(EXPERIMENT_1, partial(try_bandit_clustering, delta=0.8), runs=6)
    whole = repeat(EXPERIMENT_1, partial(try_method, method="paper", delta=0.8), runs=6)
    assert [run.answers for run in stepwise] == [run.answers for run in whole]


def test_a_wrong_candidate_is_stopped_by_the_referee_and_counted() -> None:
    # Groups that hardly differ: at this delta, CR soon names an item of the wrong group.
    alike = Instance(items=6, questions=2, useful=1, gap=1e-9)
    runs = repeat(alike, partial(try_bandit_clustering, delta=0.99), runs=20)
    stopped = [run for run in runs if run.status != "done"]
    assert stopped
    assert not any(run.correct for run in stopped)
