"""Told every group's mean answers, labelling costs little more than any method must pay."""

import numpy as np
import pytest

from askfew.algorithms import start
from askfew.algorithms.baselines.told_levels import told_levels
from askfew.answers import Number
from askfew.driver import run
from askfew.errors import InvalidInput
from askfew.oracles import bernoulli, gaussian
from askfew.planning.theory_params import least_mean
from askfew.records import Oracle, Problem
from askfew.simulation import Instance, RunSummary, simulate_runs


@pytest.mark.parametrize(
    "instance",
    [
        Instance(60, 30, 3, 1.0),
        Instance(60, 30, 3, 0.7, noise="yes-no"),
        Instance(60, 20, 8, 0.8, noise="yes-no", groups=4),
    ],
    ids=str,
)
def test_it_costs_little_more_than_the_bound(instance: Instance) -> None:
    runs = simulate_runs(instance, "told-levels", delta=0.05, runs=40, seed=1)
    summary, least = RunSummary.of(runs), least_mean(instance, 0.05)
    assert summary.unfinished == 0
    assert summary.errors <= 5
    assert summary.mean_answers is not None
    # The bounds let two items be known, or average over labels: a run may lie a little below.
    assert 0.9 * least < summary.mean_answers < (1.5 if instance.groups == 2 else 2.5) * least


@pytest.mark.parametrize("levels", [[0.1, 0.9], [[0.1, 0.9]], [[0.1], [0.9]], [[0.1, np.nan]] * 2])
def test_levels_that_are_none_are_refused(levels: object) -> None:
    procedure = start(
        "told-levels", Problem(3, 2), np.random.default_rng(0), delta=0.1, levels=levels
    )
    with pytest.raises(InvalidInput, match="levels must be"):
        next(procedure)


def test_groups_that_are_told_to_be_the_same_are_not_told_apart() -> None:
    levels = [[0.2, 0.5], [0.2, 0.5]]
    procedure = start(
        "told-levels", Problem(3, 2), np.random.default_rng(0), delta=0.1, levels=levels
    )
    with pytest.raises(StopIteration) as end:
        next(procedure)
    assert end.value.value.status == "stalled"


@pytest.mark.parametrize(
    ("oracle", "said"),
    [
        (gaussian([[0.0], [9.0], [0.0]], sigma=1.0, rng=1), "subGaussian with sigma = 1"),
        (bernoulli([[0.1], [0.9], [0.1]], rng=1), "never leave their scale"),
    ],
)
def test_the_certificate_names_all_that_the_proof_uses(oracle: Oracle, said: str) -> None:
    high = 9.0 if isinstance(oracle.problem.kind, Number) else 0.9
    levels = [[high - 0.8], [high]]
    rng = np.random.default_rng(0)
    ended = run(told_levels(oracle.problem, 0.1, rng, levels=levels), oracle)
    assert ended.result is not None
    assert ended.result.certificate is not None
    stated = " ".join(ended.result.certificate.assumptions)
    assert said in stated
    assert "skip" in stated
