"""Many independent runs of a method, in parallel and from one seed, and their summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import numpy as np
import scipy

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
    "RunSummary",
    "Trial",
    "draw_anchors",
    "error_interval",
    "repeat",
    "simulate_runs",
    "try_method",
]

FINISHED: tuple[Status, ...] = ("done", "undecided", "no-consensus")
"""The statuses of runs that ended by themselves; others were stopped."""


@dataclass(frozen=True, slots=True)
class Run:
    """How one run ended, judged by a referee who knows the truth."""

    status: Status
    correct: bool
    """Whether no label is wrong."""
    answers: int
    batches: int
    by_phase: dict[str, int] = field(default_factory=dict)
    decided: float = 1.0
    """The share of the items that the run labelled, without anchors."""
    wrong_share: float = 0.0
    """The share of those labels that are wrong."""
    class_accuracy: float | None = None
    """The share of those labels that agree with the planted groups; None if there are none."""

    @property
    def finished(self) -> bool:
        """Whether the run ended by itself."""
        return self.status in FINISHED

    def to_dict(self) -> dict[str, object]:
        """As one row of a table, with a column for the answers of each phase."""
        row = {name: getattr(self, name) for name in self.__slots__ if name != "by_phase"}
        phases = {f"answers in {phase}": n for phase, n in self.by_phase.items() if phase}
        return row | phases


class Family(Protocol):
    """Problems to draw worlds from, such as an Instance or a range of instances."""

    def draw(self, seed: np.random.SeedSequence) -> World:
        """Draw the world of this seed."""


Trial = Callable[[World, np.random.Generator], Run]
"""Runs something on a world and judges it."""


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

    The method is told the groups of ``anchors`` random items of each group. InvalidBatch is raised
    if it asks for more answers of a cell than its option ``per_cell`` allows.
    """
    options, oracle, problem = options or {}, world.oracle, world.oracle.problem
    cap = options.get("per_cell")
    if isinstance(cap, int):
        # The referee counts by itself: a method that breaks its cap must not be measured as if it
        # kept it.
        oracle = _Capped(oracle, cap)
    known: dict[str, object] = {}
    if anchors != 0:
        known["anchors"] = draw_anchors(world.labels, anchors, rng)
    if takes_option(method, "levels") and "levels" not in options:
        known["levels"] = world.levels  # only for the yardstick that must know them
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
    """An oracle that raises InvalidBatch if a cell is asked more often than its cap."""

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
                "fix the method",
            )
        return self._oracle(batch)


def draw_anchors(labels: Ints, each: int, rng: np.random.Generator) -> dict[int, int]:
    """Draw ``each`` random items of each group, with their groups."""
    smallest = int(np.bincount(labels).min())
    if not 0 < each <= smallest:
        raise InvalidInput(
            f"anchors of each group must be from 1 to the {smallest} items of the smallest group",
            each,
            "use fewer anchors",
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
    """Run the trial on ``runs`` worlds, in order. ``watch`` sees the results (a progress bar).

    Each run has its own child of the seed, so results do not depend on the engine or the order.
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
    """Run one method many times on this machine. A yardstick that needs the gap is told it.

    The method is looked up here, because another process may not know its name.
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
    # By the number of the run alone: two methods with one seed meet the same worlds.
    for_world, for_method = np.random.SeedSequence(seed, spawn_key=(index,)).spawn(2)
    return trial(family.draw(for_world), np.random.default_rng(for_method))


def error_interval(errors: int, runs: int, level: float = 0.95) -> tuple[float, float]:
    """Clopper-Pearson interval of an error rate.

    >>> low, high = error_interval(0, 100)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    tail = (1 - level) / 2  # scipy.stats has this function, but takes a second to import
    low = scipy.special.betaincinv(errors, runs - errors + 1, tail) if errors > 0 else 0.0
    high = scipy.special.betaincinv(errors + 1, runs - errors, 1 - tail) if errors < runs else 1.0
    return float(low), float(high)


@dataclass(frozen=True)
class RunSummary:
    """Cost and error of a set of runs.

    Means and quantiles of answers are over finished runs (None if there is none), except
    ``mean_answers_all``; everything else is over all runs. ``errors`` is the number of runs with a
    wrong label, ``wrong_share`` the mean share of wrong labels, ``decided`` the mean share of items
    with a label, and ``class_accuracy`` the mean share of labels that agree with the planted groups
    (over runs that have labels).
    """

    mean_answers: float | None
    mean_answers_all: float
    median_answers: float | None
    q05_answers: float | None
    q95_answers: float | None
    max_answers_seen: int
    errors: int
    error_rate: float
    error_interval: tuple[float, float]
    decided: float
    wrong_share: float
    class_accuracy: float | None
    no_consensus: int
    unfinished: int
    mean_batches: float

    @classmethod
    def of(cls, runs: Sequence[Run]) -> RunSummary:
        """Summarize one or more runs."""
        answers = np.array([run.answers for run in runs])
        # A run that was stopped would have cost more, nobody knows how much; it is counted apart.
        finished = answers[[run.finished for run in runs]]
        accuracies = [run.class_accuracy for run in runs if run.class_accuracy is not None]
        errors = sum(not run.correct for run in runs)
        q05, median, q95 = np.quantile(finished, [0.05, 0.5, 0.95]) if len(finished) else [None] * 3
        return cls(
            mean_answers=float(finished.mean()) if len(finished) else None,
            mean_answers_all=float(answers.mean()),
            median_answers=None if median is None else float(median),
            q05_answers=None if q05 is None else float(q05),
            q95_answers=None if q95 is None else float(q95),
            max_answers_seen=int(answers.max()),
            errors=errors,
            error_rate=errors / len(runs),
            error_interval=error_interval(errors, len(runs)),
            decided=float(np.mean([run.decided for run in runs])),
            wrong_share=float(np.mean([run.wrong_share for run in runs])),
            class_accuracy=float(np.mean(accuracies)) if accuracies else None,
            no_consensus=sum(run.status == "no-consensus" for run in runs),
            unfinished=len(runs) - len(finished),
            mean_batches=float(np.mean([run.batches for run in runs])),
        )
