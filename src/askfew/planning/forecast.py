"""Forecasts of answers and money: a method is simulated on instances drawn from ranges.

``plan`` is the entry point for users (``askfew.plan``), ``forecast`` the one for commands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from askfew.algorithms import check_delta
from askfew.answers import AnswerKind, YesNo
from askfew.errors import InvalidInput
from askfew.planning.defaults import default_unknown
from askfew.planning.owner_knowledge import OwnerKnowledge
from askfew.planning.ranges import Range, Unknown
from askfew.planning.theory_params import least_mean
from askfew.rule import Rule
from askfew.simulation import Family, Run, World, local, repeat, try_method

__all__ = ["Forecast", "Simulation", "forecast", "forecast_curves", "plan"]

CORNER_RUNS = 400
"""The most runs for the hardest corner. A plain choice: of 400 runs the 90 % figure has a standard
error of 1.5 percentiles, and the corner's runs are the slowest."""


@dataclass(frozen=True)
class Forecast:
    """The answers that a campaign will ask for: over the ranges, in their hardest corner, by phase.

    ``least`` is a lower bound on the mean answers of any method that certifies the group of every
    item, for the middle of the ranges; None for methods that do not promise this. ``decided`` is
    the mean share of the items that get a label, ``no_consensus`` the share of the campaigns that
    find no split. ``everything`` is the cost of asking every cell ``repeats`` times, which promises
    nothing.
    """

    unknown: Unknown
    told: OwnerKnowledge
    method: str
    delta: float
    price: float
    runs: int
    median: float
    q90: float
    hardest_median: float
    hardest_q90: float
    by_phase: dict[str, float]
    cap: int | None
    chance_under_cap: float | None
    least: float | None
    repeats: int
    decided: float
    no_consensus: float

    @property
    def everything(self) -> int:
        """Answers for every question of every item, ``repeats`` times."""
        return self.unknown.items * self.unknown.questions * self.repeats

    def __str__(self) -> str:
        rows = {
            "half of all campaigns stay under": self.median,
            "90 % stay under": self.q90,
            "in the hardest corner, 90 % stay under": self.hardest_q90,
        }
        if self.least is not None:
            rows["no method can do with less on average (mid-range)"] = self.least
        rows[f"asking everything {self.repeats} times, no promise"] = self.everything
        return "\n".join(
            f"{name:<50} {answers:>10,.0f} answers {answers * self.price:>10,.2f}"
            for name, answers in rows.items()
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values, money beside answers."""
        figures = ("median", "q90", "hardest_median", "hardest_q90", "least", "everything")
        answers = {name: getattr(self, name) for name in figures}
        money = {
            f"{name}_money": None if each is None else each * self.price
            for name, each in answers.items()
        }
        told = {"anchors": list(self.told.anchors), "defining": self.told.defining}
        rule = None if self.told.rule is None else self.told.rule.to_dict()
        plain = {**asdict(replace(self, told=OwnerKnowledge())), "told": {**told, "rule": rule}}
        return {**plain, "everything": self.everything, **money}


@dataclass(frozen=True)
class Simulation:
    """How campaigns are simulated: the method with its options, and what its owner knows.

    ``answers`` is the kind of answer that the cuts of a given rule are about; None for the kind
    that the simulated people give.
    """

    method: str = "frugal"
    options: Mapping[str, object] = field(default_factory=dict)
    told: OwnerKnowledge = field(default_factory=OwnerKnowledge)
    answers: AnswerKind | None = None
    delta: float = 0.05
    seed: int = 0
    jobs: int = -1

    def over(self, unknown: Unknown) -> Family:
        """Problems drawn from the ranges."""
        return self.told.worlds(unknown, self.answers or unknown.kind)

    def hardest(self, unknown: Unknown) -> Family:
        """The hardest problem in the ranges."""
        return self.told.hardest(unknown, self.answers or unknown.kind)

    def run(
        self, family: Family, runs: int, watch: Callable[[Iterator[Run]], Iterator[Run]] = iter
    ) -> list[Run]:
        """Simulate that many campaigns."""
        trial = partial(
            _try_told, told=self.told, method=self.method, delta=self.delta, options=self.options
        )
        return repeat(
            family, trial, runs=runs, seed=self.seed, engine=local(self.jobs), watch=watch
        )


def forecast(
    unknown: Unknown,
    simulation: Simulation,
    *,
    price: float = 0.0,
    cap: int | None = None,
    repeats: int = 5,
    runs: int = 1000,
    watch: Callable[[Iterator[Run]], Iterator[Run]] = iter,
) -> Forecast:
    """Simulate campaigns on instances drawn from the ranges, and on the hardest instance.

    A run that reaches its generous cap on answers counts with that cap.
    """
    told, delta = simulation.told, simulation.delta
    told.check(unknown.items, unknown.questions)
    check_delta(delta)
    if not (math.isfinite(price) and price >= 0):
        raise InvalidInput("price, per answer, must be at least 0", price, "pass what you pay")
    if cap is not None and cap < 1:
        raise InvalidInput("cap must be at least 1 answer", cap, "say how many you can pay")
    if repeats < 1:
        raise InvalidInput("repeats must be at least 1", repeats, "say how often to ask each cell")
    over_ranges = simulation.run(simulation.over(unknown), runs, watch)
    corner = simulation.run(simulation.hardest(unknown), min(runs, CORNER_RUNS))
    # Runs that hit their cap count with it: leaving them out would make the forecast too low.
    costs, hardest = _costs(over_ranges), _costs(corner)
    return Forecast(
        unknown=unknown,
        told=told,
        method=simulation.method,
        delta=delta,
        price=price,
        runs=runs,
        median=float(np.median(costs)),
        q90=float(np.quantile(costs, 0.9)),
        hardest_median=float(np.median(hardest)),
        hardest_q90=float(np.quantile(hardest, 0.9)),
        by_phase=_mean_by_phase(over_ranges),
        cap=cap,
        chance_under_cap=None if cap is None else float(np.mean(costs <= cap)),
        # The bound is for methods that certify the group of every item, which rule does not do.
        least=least_mean(unknown.middle(), delta) if simulation.method == "frugal" else None,
        repeats=repeats,
        decided=float(np.mean([run.decided for run in over_ranges])),
        no_consensus=float(np.mean([run.status == "no-consensus" for run in over_ranges])),
    )


def forecast_curves(
    unknown: Unknown, simulation: Simulation, *, runs: int, points: int = 6
) -> dict[float, list[tuple[float, float, float]]]:
    """For each of three shares: points (gap, median answers, what 90 % of runs stay under)."""
    curves: dict[float, list[tuple[float, float, float]]] = {}
    at_all = (0.0, 0.5, 1.0) if unknown.groups == 2 else (1.0,)  # more groups have equal sizes
    # fromkeys: the ends of a range may be the same, and are then simulated once.
    for share in dict.fromkeys(round(unknown.share.at(at), 6) for at in at_all):
        curves[share] = []
        for gap in dict.fromkeys(unknown.gap.at(at) for at in np.linspace(0, 1, points).tolist()):
            here = replace(unknown, gap=Range(gap, gap), share=Range(share, share))
            costs = _costs(simulation.run(simulation.over(here), runs))
            low, high = np.quantile(costs, [0.5, 0.9])
            curves[share].append((gap, float(low), float(high)))
    return curves


def _try_told(
    world: World,
    rng: np.random.Generator,
    *,
    told: OwnerKnowledge,
    method: str,
    delta: float,
    options: Mapping[str, object],
) -> Run:
    # Drawn anew in each world: the items of one world are not those of another.
    known = {**options, **told.options(world, rng)}
    return try_method(world, rng, method=method, delta=delta, options=known)


def _costs(runs: Sequence[Run]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array([run.answers for run in runs])


def _mean_by_phase(runs: Sequence[Run]) -> dict[str, float]:
    phases = dict.fromkeys(phase for run in runs for phase in run.by_phase)
    return {phase: float(np.mean([run.by_phase.get(phase, 0) for run in runs])) for phase in phases}


Guess = float | tuple[float, float]
"""A number, or both ends of a range."""


def plan(
    items: int,
    questions: int,
    *,
    gap: Guess | None = None,
    share: Guess | None = None,
    useful: Guess | None = None,
    answers: AnswerKind | None = None,
    groups: int = 2,
    spread: float | None = None,
    method: str = "frugal",
    options: Mapping[str, object] | None = None,
    anchors: int = 0,
    defining: int = 0,
    rule: Rule | None = None,
    delta: float = 0.05,
    price: float = 0.0,
    cap: int | None = None,
    repeats: int = 5,
    runs: int = 1000,
    seed: int = 0,
    jobs: int = -1,
) -> Forecast:
    """Forecast the answers and the money of a campaign before its first answer.

    ``gap`` is how far the two groups' means differ on a useful question, in the answers' units;
    ``share`` is the small group's part of the items; ``useful`` is how many questions separate.
    Each may be a number or a range ``(low, high)``, and has a default. ``spread`` is how far items
    of a group differ, in gaps. ``options`` are those of the method. ``anchors`` items of each group
    are known beforehand, ``defining`` questions define the split, and a given ``rule`` is applied
    as it is.

    >>> bill = plan(60, 10, gap=(0.6, 0.8), useful=(2, 4), price=0.02, runs=20, jobs=1)
    >>> bool(bill.least < bill.median <= bill.q90)
    True
    """
    kind = YesNo() if answers is None else answers
    told = OwnerKnowledge((anchors,) * groups if anchors else (), defining, rule)
    told.check(items, questions)
    unknown = default_unknown(
        kind,
        items,
        questions,
        method=method,
        gap=_range("gap", gap),
        share=_range("share", share),
        useful=_range("useful", useful),
        groups=groups,
        spread=spread,
        told=told,
    )
    simulation = Simulation(
        method=method,
        options={"groups": groups, **(options or {})} if groups > 2 else options or {},
        told=told,
        answers=kind,
        delta=delta,
        seed=seed,
        jobs=jobs,
    )
    return forecast(unknown, simulation, price=price, cap=cap, repeats=repeats, runs=runs)


def _range(name: str, guess: Guess | None) -> Range | None:
    match guess:
        case None:
            return None
        case (low, high):
            return Range.named(name, low, high)
        case _:
            return Range.named(name, guess, guess)
