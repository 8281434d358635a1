"""Trials of the experiments: the paper's procedures with a referee, and fixed budgets.

CR and CBC are tried alone, and BanditClustering as one after the other. If CR names an item of the
wrong group, CBC would never end, so the referee stops there (the authors' "emergency stop"). The
procedures do not see the referee, and a stopped run counts as unfinished; none is dropped.

A method with a fixed budget gets larger and larger budgets until it errs rarely enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from askfew.algorithms import find_method
from askfew.algorithms.paper import candidate_row, cluster_by_candidates
from askfew.driver import RunEnd, run
from askfew.experiments.study import Measure
from askfew.simulation import Engine, Instance, Run, RunSummary, Trial, World, repeat, try_method

__all__ = [
    "first_sufficient_budget",
    "measure_by_budget",
    "trials_at",
    "try_bandit_clustering",
    "try_candidate_row",
    "try_cluster_by_candidates",
]

CAP = 10**9
"""A run of the paper's procedures is stopped at this many answers. A plain choice: hundreds of
times what they need, so only runs that would never end are stopped."""


def try_candidate_row(world: World, rng: np.random.Generator, *, delta: float) -> Run:
    """CR(delta) alone: right if its item is in the other group than item 0."""
    ended = run(candidate_row(world.oracle.problem, delta, rng), world.oracle, max_answers=CAP)
    right = ended.result is not None and bool(world.labels[ended.result] == 1)
    return _judged(ended, right)


def try_cluster_by_candidates(world: World, rng: np.random.Generator, *, delta: float) -> Run:
    """CBC(delta) alone, given the first item that is truly in the other group."""
    return _cluster(world, rng, delta, int(np.argmax(world.labels)))


def try_bandit_clustering(world: World, rng: np.random.Generator, *, delta: float) -> Run:
    """BanditClustering(delta), stopped by the referee if CR errs."""
    found = run(candidate_row(world.oracle.problem, delta / 2, rng), world.oracle, max_answers=CAP)
    if found.result is None or world.labels[found.result] == 0:
        return Run("budget", False, found.meter.answers, found.meter.batches)
    rest = _cluster(world, rng, delta / 2, found.result)
    return Run(
        rest.status,
        rest.correct,
        found.meter.answers + rest.answers,
        found.meter.batches + rest.batches,
    )


def _cluster(world: World, rng: np.random.Generator, delta: float, i_c: int) -> Run:
    procedure = cluster_by_candidates(world.oracle.problem, delta, i_c, rng)
    ended = run(procedure, world.oracle, max_answers=CAP)
    right = ended.result is not None and np.array_equal(ended.result[0], world.labels)
    return _judged(ended, right)


def _judged(ended: RunEnd[Any], right: bool) -> Run:
    return Run(ended.status, right, ended.meter.answers, ended.meter.batches)


def trials_at(delta: float) -> dict[str, Trial]:
    """The paper's procedures (CR and CBC with half of delta, as BanditClustering runs them), and
    frugal, each by the name of its curve.
    """
    half = delta / 2
    return {
        f"CR({half:g})": partial(try_candidate_row, delta=half),
        f"CBC({half:g})": partial(try_cluster_by_candidates, delta=half),
        f"BanditClustering({delta:g})": partial(try_bandit_clustering, delta=delta),
        f"frugal({delta:g})": partial(try_method, method="frugal", delta=delta),
    }


def first_sufficient_budget(
    instance: Instance,
    method: str,
    budgets: Sequence[int],
    error_rate: float,
    runs: int,
    seed: int,
    engine: Engine,
    *,
    options: Mapping[str, object] | None = None,
) -> list[Run]:
    """The runs at the first budget with an error of at most ``error_rate``, or at the last one."""
    results: list[Run] = []
    for budget in budgets:
        trial = partial(
            try_method, method=find_method(method), delta=0.5, budget=budget, options=options
        )
        results = repeat(instance, trial, runs=runs, seed=seed, engine=engine)
        if RunSummary.of(results).error_rate <= error_rate:
            break
    return results


def measure_by_budget(
    instance: Instance, method: str, budgets: Sequence[int], error_rate: float
) -> Measure:
    """Measure by raising the budget until the method errs rarely enough."""

    def measure(runs: int, seed: int, engine: Engine) -> list[Run]:
        return first_sufficient_budget(instance, method, budgets, error_rate, runs, seed, engine)

    return measure
