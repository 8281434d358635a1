"""Many independent runs on one family of problems, in parallel, from one seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import numpy as np

from askfew.algorithms import Method, find_method, start, takes_option
from askfew.driver import run
from askfew.errors import InvalidBatch, InvalidInput
from askfew.records import Batch, Ints, Oracle, Status, Tally
from askfew.simulation.engines import Engine, local
from askfew.simulation.instances import Instance, World
from askfew.simulation.referee import judge

__all__ = [
    "FINISHED",
    "Family",
    "Run",
    "Trial",
    "draw_anchors",
    "repeat",
    "simulate_runs",
    "try_method",
]

FINISHED: tuple[Status, ...] = ("done", "undecided", "no-consensus")
"""Endings by itself; the others were stopped."""


@dataclass(frozen=True, slots=True)
class Run:
    """How one run ended, as a referee who knows the truth sees it."""

    status: Status
    correct: bool
    """Whether no label is wrong."""
    answers: int
    batches: int
    by_phase: dict[str, int] = field(default_factory=dict)
    decided: float = 1.0
    """Share of the items that have a label that counts."""
    wrong_share: float = 0.0
    """Share of those labels that are wrong."""
    class_accuracy: float | None = None
    """Share of those labels that agree with the planted groups; None where there are none."""

    @property
    def finished(self) -> bool:
        """Whether it ended by itself, with all that it could find."""
        return self.status in FINISHED

    def to_dict(self) -> dict[str, object]:
        """As one row of a table: the answers of every phase in a column of its own."""
        row = {name: getattr(self, name) for name in self.__slots__ if name != "by_phase"}
        phases = {f"answers in {phase}": n for phase, n in self.by_phase.items() if phase}
        return row | phases


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
    method: str | Method,
    delta: float,
    max_answers: int = 10**8,
    budget: int | None = None,
    anchors: int = 0,
    options: Mapping[str, object] | None = None,
) -> Run:
    """Run a method on a world and compare its labels with the truth.

    ``anchors`` random items of each group are known to it. A method that is told a cap on the
    answers of a cell (the option ``per_cell``) and asks for more is broken: InvalidBatch.
    """
    options, oracle, problem = options or {}, world.oracle, world.oracle.problem
    cap = options.get("per_cell")
    if isinstance(cap, int):
        oracle = _Capped(oracle, cap)
    known: dict[str, object] = {}
    if anchors != 0:
        known["anchors"] = draw_anchors(world.labels, anchors, rng)
    if takes_option(method, "levels") and "levels" not in options:
        known["levels"] = world.levels  # a yardstick that must know them is told them
    procedure = start(method, problem, rng, delta=delta, budget=budget, **known, **options)
    ended = run(procedure, oracle, max_answers=max_answers)
    status = ended.status if ended.result is None else ended.result.status
    verdict, meter = judge(ended.result, world), ended.meter
    return Run(
        status,
        verdict.wrong == 0,
        meter.answers,
        meter.batches,
        meter.by_phase,
        verdict.decided,
        verdict.wrong_share,
        verdict.class_accuracy,
    )


class _Capped:
    """An oracle that holds a method to its cap on the answers of any (item, question)."""

    def __init__(self, oracle: Oracle, cap: int) -> None:
        self.problem = oracle.problem
        self._oracle, self._cap = oracle, cap
        self._asked = np.zeros(self.problem.items * self.problem.questions, dtype=np.int32)

    def __call__(self, batch: Batch, /) -> Tally:
        cells = batch.items * self.problem.questions + batch.questions
        np.add.at(self._asked, cells, batch.repeats)
        worst = int(self._asked[cells].max(initial=0))
        if worst > self._cap:
            raise InvalidBatch(
                f"a method that is told per_cell must ask no cell more than {self._cap} times",
                worst,
                "mend the method",
            )
        return self._oracle(batch)


def draw_anchors(labels: Ints, each: int, rng: np.random.Generator) -> dict[int, int]:
    """``each`` random items of each group, and their groups."""
    smallest = int(np.bincount(labels).min())
    if not 0 < each <= smallest:
        raise InvalidInput(
            f"anchors of each group must be from 1 to the {smallest} items of the smallest group",
            each,
            "know fewer of them",
        )
    return {
        int(item): group
        for group in range(int(labels.max()) + 1)
        for item in rng.choice(np.flatnonzero(labels == group), each, replace=False)
    }


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
    instance: Family,
    method: str | Method,
    *,
    delta: float,
    runs: int,
    seed: int = 0,
    jobs: int = 1,
    max_answers: int = 10**8,
    budget: int | None = None,
    anchors: int = 0,
    options: Mapping[str, object] | None = None,
    watch: Callable[[Iterator[Run]], Iterator[Run]] = iter,
) -> list[Run]:
    """Runs of one method on this machine; a yardstick that must know the gap is told it.

    The method is looked up here: what one process calls by a name, another may not know.
    """
    function, known = find_method(method), dict[str, object]()
    if isinstance(instance, Instance) and takes_option(function, "gap"):
        known["gap"] = instance.gap * instance.width
    trial = partial(
        try_method,
        method=function,
        delta=delta,
        max_answers=max_answers,
        budget=budget,
        anchors=anchors,
        options={**known, **(options or {})},
    )
    return repeat(instance, trial, runs=runs, seed=seed, engine=local(jobs), watch=watch)


def _one_run(family: Family, trial: Trial, seed: int, index: int) -> Run:
    for_world, for_method = np.random.SeedSequence(seed, spawn_key=(index,)).spawn(2)
    return trial(family.draw(for_world), np.random.default_rng(for_method))
