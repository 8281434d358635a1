"""What a campaign will need, before its first answer: workers and answers, by simulation.

A worker answers a cell (item, question) only so often, so the cell that is asked most decides how
many distinct workers it takes.
"""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from askfew.algorithms import start, takes_option
from askfew.campaigns.settings import Settings
from askfew.driver import run
from askfew.errors import InvalidInput
from askfew.records import Batch, Oracle, Problem, Tally
from askfew.wording import counted

if TYPE_CHECKING:
    from askfew.simulation import Instance, World

__all__ = ["CrowdForecast", "crowd_forecast"]

RUNS = 20
_SECONDS = 1.5
"""Enough runs by then: a forecast must not make anybody wait."""
_OF_THIS_CAMPAIGN = ("anchors", "defining", "given")
"""Options that name its items and questions."""


@dataclass(frozen=True)
class CrowdForecast:
    """What simulated campaigns of this size need: half of them no more than ``typical``, nine in
    ten no more than ``most``. ``assumed`` says in words what was simulated.
    """

    typical_workers: int
    most_workers: int
    typical_answers: int
    most_answers: int
    assumed: str
    runs: tuple[tuple[int, int], ...] = ()
    """Of each simulated campaign: answers before its method could say how many are left, and in
    all."""

    def left(self, answers: int) -> int | None:
        """Answers still to come, as long as the method itself cannot tell; None beyond all bounds.

        It is what was left in the simulated campaigns that were still searching then. Where none
        was, answers tell less than was assumed, and what follows the search grows with it.
        """
        searching = [total - answers for before, total in self.runs if before > answers]
        if not searching:
            searching = [
                math.ceil(answers * (total / before - 1)) for before, total in self.runs if before
            ]
        left = math.ceil(np.median(searching)) if searching else 0
        return left if left > 0 else None

    def to_dict(self) -> dict[str, Any]:
        """For people and programs: without the single runs."""
        return {name: value for name, value in asdict(self).items() if name != "runs"}

    def to_json(self) -> str:
        """As a store keeps it."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> CrowdForecast:
        """What ``to_json`` wrote, or InvalidInput."""
        try:
            values = json.loads(text)
            runs = tuple((before, total) for before, total in values.pop("runs"))
            forecast = cls(**values, runs=runs)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise InvalidInput("a forecast must be as it was kept", repr(error), "none") from None
        numbers = [value for name, value in forecast.to_dict().items() if name != "assumed"]
        numbers += [each for run in runs for each in run]
        if not all(type(each) is int and each >= 0 for each in numbers):
            raise InvalidInput("a forecast must be of whole numbers", numbers[:9], "none")
        if not isinstance(forecast.assumed, str):
            raise InvalidInput("a forecast must say what it assumed", forecast.assumed, "none")
        return forecast


class _Counting:
    """An oracle that counts how often every cell is asked, and how often before labelling."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self.asked = np.zeros((self.problem.items, self.problem.questions), dtype=np.int64)
        self.searched: int | None = None

    @property
    def problem(self) -> Problem:
        return self._oracle.problem

    def __call__(self, batch: Batch, /) -> Tally:
        foreseen = batch.known is not None and batch.known.expected is not None
        if foreseen and self.searched is None:
            self.searched = int(self.asked.sum())
        np.add.at(self.asked, (batch.items, batch.questions), batch.repeats)
        return self._oracle(batch)


def crowd_forecast(settings: Settings, items: int, questions: int) -> CrowdForecast:
    """Simulate a few campaigns with these settings, on groups that differ plainly."""
    from askfew.planning.defaults import typical_instance  # slow, and only who creates simulates

    groups = min(_groups(settings.arguments()), items, 2 ** min(questions, 10))
    instance = typical_instance(settings.answers, items, questions, settings.method, groups)
    until = time.monotonic() + _SECONDS
    ran = []
    for seed in np.random.SeedSequence(settings.seed).spawn(RUNS):
        ran.append(_simulate(instance, settings, seed))
        if time.monotonic() > until:
            break
    quantiles = np.quantile([(each.cell, each.answers) for each in ran], [0.5, 0.9], axis=0)
    (cell, most_cell), (answers, most_answers) = quantiles.T.tolist()
    per_worker = settings.answers_per_worker_and_cell
    of_groups = f", {instance.groups} groups" if instance.groups > 2 else ""
    lost = sum(each.in_vain for each in ran)
    in_vain = f"; {lost} of them found no split" if lost else ""
    return CrowdForecast(
        typical_workers=math.ceil(cell / per_worker),
        most_workers=math.ceil(most_cell / per_worker),
        typical_answers=math.ceil(answers),
        most_answers=math.ceil(most_answers),
        assumed=f"{counted(len(ran), 'simulated campaign')}, gap {instance.gap:g},"
        f" {instance.useful} of {questions} questions useful{of_groups}{in_vain}",
        runs=tuple((each.searched, each.answers) for each in ran),
    )


def _groups(options: Mapping[str, Any]) -> int:
    """How many groups to plant: as many as are looked for, the fewest of several."""
    groups = options.get("groups", 2)
    if isinstance(groups, int):
        return groups
    return 2 if isinstance(groups, str) else min(groups)


@dataclass(frozen=True)
class _Simulated:
    """Answers to the cell that is asked most, before the method foresees its end, and in all."""

    cell: int
    searched: int
    answers: int
    in_vain: bool
    """Whether nothing was certified."""


def _simulate(instance: Instance, settings: Settings, seed: np.random.SeedSequence) -> _Simulated:
    for_world, for_method = seed.spawn(2)
    world, rng = instance.draw(for_world), np.random.default_rng(for_method)
    oracle = _Counting(world.oracle)
    procedure = start(
        settings.method,
        oracle.problem,
        rng,
        delta=settings.delta,
        **_options(settings.arguments(), world, rng),
    )
    ended = run(procedure, oracle, max_answers=settings.max_answers)
    total = int(oracle.asked.sum())
    searched = total if oracle.searched is None else oracle.searched
    in_vain = takes_option(settings.method, "delta") and (
        ended.result is None or not (ended.result.labels >= 0).any()
    )
    return _Simulated(int(oracle.asked.max()), searched, total, in_vain)


def _options(options: Mapping[str, Any], world: World, rng: np.random.Generator) -> dict[str, Any]:
    """The options for a simulated world, where other items are known and other questions useful."""
    from askfew.simulation import draw_anchors

    kept = {name: value for name, value in options.items() if name not in _OF_THIS_CAMPAIGN}
    groups = Counter((options.get("anchors") or {}).values())
    sizes = np.bincount(world.labels)
    if len(groups) == len(sizes):  # else as many groups as in the world are not shown
        each = min(math.ceil(groups.total() / len(groups)), int(sizes.min()))
        kept["anchors"] = draw_anchors(world.labels, each, rng)
    return kept
