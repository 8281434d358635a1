"""Many independent runs of one method on one family of problems, in parallel, from one seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from askfew.algorithms import start
from askfew.driver import run
from askfew.errors import InvalidInput
from askfew.records import Status
from askfew.simulation.instances import Instance

__all__ = ["Run", "one_run", "simulate_runs"]


@dataclass(frozen=True, slots=True)
class Run:
    """How one run ended, as a referee who knows the truth sees it."""

    status: Status
    correct: bool
    """Whether it finished by itself with every label right."""
    answers: int
    batches: int


def one_run(
    index: int,
    instance: Instance,
    method: str,
    *,
    delta: float,
    seed: int,
    max_answers: int,
    budget: int | None,
    options: Mapping[str, object],
) -> Run:
    """The index-th run: a child of the seed decides its world, its answers and its method."""
    for_world, for_method = np.random.SeedSequence(seed, spawn_key=(index,)).spawn(2)
    world = instance.draw(for_world)
    procedure = start(
        method,
        world.oracle.problem,
        np.random.default_rng(for_method),
        delta=delta,
        budget=budget,
        **options,
    )
    ended = run(procedure, world.oracle, max_answers=max_answers)
    finding = ended.result
    status = ended.status if finding is None else finding.status
    correct = (
        finding is not None and status == "done" and np.array_equal(finding.labels, world.labels)
    )
    return Run(status, correct, ended.meter.answers, ended.meter.batches)


def simulate_runs(
    instance: Instance,
    method: str,
    *,
    delta: float,
    runs: int,
    seed: int = 0,
    jobs: int = 1,
    max_answers: int = 10**8,
    budget: int | None = None,
    options: Mapping[str, object] | None = None,
    watch: Callable[[Iterator[Run]], Iterator[Run]] = iter,
) -> list[Run]:
    """All runs, in order, whatever the number of jobs. ``watch`` may look on (a progress bar)."""
    if runs < 1:
        raise InvalidInput("runs must be at least 1", runs, "pass how many runs to simulate")
    if jobs == 0 or jobs < -1:
        raise InvalidInput(
            "jobs must be at least 1, or -1 for all cores", jobs, "pass for example 2"
        )
    task = delayed(one_run)
    settings = {
        "delta": delta,
        "seed": seed,
        "max_answers": max_answers,
        "budget": budget,
        "options": options or {},
    }
    parallel = Parallel(n_jobs=jobs, return_as="generator")
    return list(watch(parallel(task(i, instance, method, **settings) for i in range(runs))))
