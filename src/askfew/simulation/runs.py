"""Many independent runs on one family of problems, in parallel, from one seed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import numpy as np

from askfew.algorithms import METHODS, start
from askfew.driver import run
from askfew.errors import InvalidInput
from askfew.records import Status
from askfew.simulation.engines import Engine, local
from askfew.simulation.instances import Instance, World

__all__ = ["Family", "Run", "Trial", "repeat", "simulate_runs", "try_method"]


@dataclass(frozen=True, slots=True)
class Run:
    """How one run ended, as a referee who knows the truth sees it."""

    status: Status
    correct: bool
    """Whether it finished by itself with every label right."""
    answers: int
    batches: int
    by_phase: dict[str, int] = field(default_factory=dict)


class Family(Protocol):
    """Problems to draw worlds from: an Instance, or a range of them."""

    def draw(self, seed: np.random.SeedSequence) -> World:
        """A world that the seed decides."""


Trial = Callable[[World, np.random.Generator], Run]
"""Something to be tried on a world and judged."""


def try_method(
    world: World,
    rng: np.random.Generator,
    *,
    method: str,
    delta: float,
    max_answers: int = 10**8,
    budget: int | None = None,
    options: Mapping[str, object] | None = None,
) -> Run:
    """Run a method on a world and compare its labels with the truth."""
    problem = world.oracle.problem
    procedure = start(method, problem, rng, delta=delta, budget=budget, **(options or {}))
    ended = run(procedure, world.oracle, max_answers=max_answers)
    finding = ended.result
    status = ended.status if finding is None else finding.status
    correct = (
        finding is not None and status == "done" and np.array_equal(finding.labels, world.labels)
    )
    meter = ended.meter
    return Run(status, correct, meter.answers, meter.batches, meter.by_phase)


def repeat(
    family: Family,
    trial: Trial,
    *,
    runs: int,
    seed: int = 0,
    engine: Engine | None = None,
    watch: Callable[[Iterator[Run]], Iterator[Run]] = iter,
) -> list[Run]:
    """The trial on ``runs`` worlds, in order. ``watch`` may look on (a progress bar).

    A child of the seed decides each run's world, answers and method, so that results do not depend
    on where or beside what it is computed.
    """
    if runs < 1:
        raise InvalidInput("runs must be at least 1", runs, "pass how many runs to simulate")
    if seed < 0:
        raise InvalidInput("seed must not be negative", seed, "pass for example 0")
    engine = engine or local(1)
    return list(watch(engine(partial(_one_run, family, trial, seed), runs)))


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
    """Runs of one method on this machine; a yardstick that must know the gap is told it."""
    known: dict[str, object] = {}
    if method in METHODS and "gap" in inspect.signature(METHODS[method]).parameters:
        known["gap"] = instance.gap
    trial = partial(
        try_method,
        method=method,
        delta=delta,
        max_answers=max_answers,
        budget=budget,
        options={**known, **(options or {})},
    )
    return repeat(instance, trial, runs=runs, seed=seed, engine=local(jobs), watch=watch)


def _one_run(family: Family, trial: Trial, seed: int, index: int) -> Run:
    for_world, for_method = np.random.SeedSequence(seed, spawn_key=(index,)).spawn(2)
    return trial(family.draw(for_world), np.random.default_rng(for_method))
