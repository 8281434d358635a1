"""A forecast, by simulation, of the answers and people that a campaign will need.

A worker may answer a cell (item, question) only a few times, so the cell that is asked most decides
how many distinct workers are needed. If the owner says how many ``people`` there are, the simulated
campaigns have no more, and the forecast says how many of them finished, and what would help.
"""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from askfew.algorithms import takes_option
from askfew.campaigns.forecast_runs import FINISHED, SimulatedCampaign, simulate_campaigns
from askfew.campaigns.records import Item, Question
from askfew.campaigns.settings import Settings
from askfew.errors import InvalidInput

if TYPE_CHECKING:  # slow to import, and needed only when a campaign is created
    from askfew.planning import Range, Unknown
    from askfew.planning.owner_knowledge import OwnerKnowledge

__all__ = [
    "FINISHED",
    "RUNS_FOR_NINE_IN_TEN",
    "CrowdForecast",
    "Remedy",
    "Sizes",
    "crowd_forecast",
    "unknown_of",
]

RUNS = 20
"""The most simulated campaigns."""
_SECONDS = 2.0
"""CPU seconds of this thread after which no more runs are begun, so that nobody waits long. CPU
time, because by the wall clock a busy machine would give another forecast. A plain choice."""
_FEW_RUNS = 10
"""Simulated campaigns for each remedy. A round number."""
_REMEDY_SECONDS = 3.0
"""CPU seconds for the remedies of each kind. A plain choice."""
RUNS_FOR_NINE_IN_TEN = 20
"""With fewer simulated campaigns the most expensive tenth is unknown, and the most expensive one is
quoted."""
_LIKELY = 0.8
"""The share of simulated campaigns that must finish for the people to be called enough. A plain
choice."""
_FEW_PEOPLE = 5
"""With at most this many, they may be language models, and are told about ``repeats = "same"``. A
plain choice: it decides only what is said."""
_FEWEST_ITEMS = 3
"""Fewer items cannot be simulated: two items in two groups leave nothing to ask."""

Kind = Literal["people", "questions", "defining", "share", "same"]


@dataclass(frozen=True)
class Sizes:
    """What a forecast needs to know of a campaign's items and questions."""

    items: int
    questions: int
    anchors: tuple[int, ...] = ()
    """The number of anchors of each group."""
    defining: int = 0
    """The number of questions that define the split."""

    @classmethod
    def of(cls, items: Sequence[Item], questions: Sequence[Question]) -> Sizes:
        """The sizes of a campaign that is to be created.

        >>> Sizes.of([Item("a", group="x"), Item("b", group="y"), Item("c")], [Question("q", "?")])
        Sizes(items=3, questions=1, anchors=(1, 1), defining=0)
        """
        known = Counter(item.group for item in items if item.group)
        defining = sum(question.defines for question in questions)
        return cls(len(items), len(questions), tuple(known.values()), defining)


@dataclass(frozen=True)
class Remedy:
    """A change with which a campaign would finish.

    ``number`` people in all, ``number`` more questions that tell the groups apart or that define
    the split, ``error = "share"``, or ``repeats = "same"`` with ``number`` more questions.
    """

    kind: Kind
    number: int
    finished: int
    """How many of the ``simulated`` campaigns finished."""
    simulated: int


@dataclass(frozen=True)
class CrowdForecast:
    """What simulated campaigns of this size needed.

    ``typical`` figures are medians; ``most`` figures are exceeded by one in ten (by none, if there
    were fewer runs than RUNS_FOR_NINE_IN_TEN). ``assumed`` says in words what was simulated.
    """

    typical_workers: int
    most_workers: int
    typical_answers: int
    most_answers: int
    assumed: str
    runs: tuple[tuple[int, int], ...] = ()
    """For each simulated campaign: answers before its method could say how many are left, and in
    all."""
    finished: int | None = None
    """Simulated campaigns that certified FINISHED of the items; None if an older askfew made it."""
    within_cap: int | None = None
    """Those that finished with at most ``max_answers``."""
    people: int | None = None
    """The owner's setting."""
    remedies: tuple[Remedy, ...] = ()
    """What would help, if the people are too few."""

    @property
    def simulated(self) -> int:
        """The number of simulated campaigns."""
        return len(self.runs)

    @property
    def enough_people(self) -> bool:
        """Whether most of the simulated campaigns finished."""
        return self.finished is None or self.finished >= _LIKELY * self.simulated

    def left(self, answers: int) -> int | None:
        """The number of answers still to come, for a method that cannot tell yet; None if unknown.

        It is the median of what was left in the simulated campaigns that were still searching after
        this many answers. If none was, the answers are noisier than assumed, and the rest of the
        campaign is taken to be longer in the same proportion.
        """
        searching = [total - answers for before, total in self.runs if before > answers]
        if not searching:
            searching = [
                math.ceil(answers * (total / before - 1)) for before, total in self.runs if before
            ]
        left = math.ceil(np.median(searching)) if searching else 0
        return left if left > 0 else None

    def to_dict(self) -> dict[str, Any]:
        """The forecast as JSON-ready values, without the single runs."""
        values = {name: value for name, value in asdict(self).items() if name != "runs"}
        return {**values, "simulated": self.simulated}

    def to_json(self) -> str:
        """The forecast as a store keeps it."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> CrowdForecast:
        """Read what ``to_json`` wrote; InvalidInput for anything else."""
        try:
            values = json.loads(text)
            runs = tuple((before, total) for before, total in values.pop("runs"))
            remedies = tuple(Remedy(**each) for each in values.pop("remedies", ()))
            forecast = cls(**values, runs=runs, remedies=remedies)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise InvalidInput("a forecast must be as it was kept", repr(error), "none") from None
        kept = forecast.to_dict()
        numbers = [kept[name] for name in kept.keys() - {"assumed", "remedies"}]
        numbers += [each for run in runs for each in run]
        numbers += [n for each in remedies for n in (each.number, each.finished, each.simulated)]
        if not all(each is None or (type(each) is int and each >= 0) for each in numbers):
            raise InvalidInput("a forecast must be of whole numbers", numbers[:9], "none")
        if not isinstance(forecast.assumed, str) or not all(
            each.kind in get_args(Kind) for each in remedies
        ):
            raise InvalidInput("a forecast must say what it assumed", forecast.assumed, "none")
        return forecast


def crowd_forecast(
    settings: Settings,
    sizes: Sizes,
    expected: Mapping[str, Range] | None = None,
    *,
    seconds: float = _SECONDS,
    watch: Callable[[Iterator[SimulatedCampaign]], Iterator[SimulatedCampaign]] = iter,
) -> CrowdForecast:
    """Simulate campaigns with these settings, and with as many anchors and defining questions.

    ``expected`` may say what the owner knows of ``gap``, ``share`` and ``useful``.
    """
    unknown = unknown_of(settings, sizes, expected or {})
    told = _told(settings, sizes)
    ran = list(
        watch(simulate_campaigns(settings, unknown, told, RUNS, time.thread_time() + seconds))
    )
    most = 0.9 if len(ran) >= RUNS_FOR_NINE_IN_TEN else 1.0
    quantiles = np.quantile([(each.cell, each.answers) for each in ran], [0.5, most], axis=0)
    (cell, most_cell), (answers, most_answers) = quantiles.T.tolist()
    per_worker = settings.answers_per_worker_and_cell
    forecast = CrowdForecast(
        typical_workers=math.ceil(cell / per_worker),
        most_workers=math.ceil(most_cell / per_worker),
        typical_answers=math.ceil(answers),
        most_answers=math.ceil(most_answers),
        assumed=_assumed(unknown, told, sum(each.in_vain for each in ran), len(ran)),
        runs=tuple((each.searched, each.answers) for each in ran),
        finished=sum(each.finished for each in ran),
        within_cap=sum(each.finished and each.answers <= settings.max_answers for each in ran),
        people=settings.people,
    )
    if settings.people is None or forecast.enough_people:
        return forecast
    return replace(forecast, remedies=tuple(_remedies(settings, unknown, told)))


def unknown_of(settings: Settings, sizes: Sizes, expected: Mapping[str, Range]) -> Unknown:
    """What is simulated for a campaign: what its owner expects, and defaults for the rest."""
    from askfew.planning.defaults import default_unknown

    told = _told(settings, sizes)
    items = max(sizes.items, _FEWEST_ITEMS)
    groups = _groups(settings.arguments())
    return default_unknown(
        settings.answers,
        items,
        sizes.questions,
        method=settings.method,
        groups=min(groups, items, 2 ** min(sizes.questions, 10)),
        gap=expected.get("gap"),
        share=expected.get("share"),
        useful=expected.get("useful"),
        told=told,
    )


def _told(settings: Settings, sizes: Sizes) -> OwnerKnowledge:
    from askfew.planning.owner_knowledge import OwnerKnowledge

    return OwnerKnowledge(sizes.anchors, sizes.defining, settings.rule)


def _assumed(unknown: Unknown, told: OwnerKnowledge, in_vain: int, runs: int) -> str:
    """What was simulated, in words."""
    groups = f"smaller group {unknown.share} of the items"
    if unknown.groups > 2:
        groups = f"{unknown.groups} groups"
    spread = f", items of a group that differ by {unknown.spread:g} of it" if unknown.spread else ""
    known = f", {told}" if str(told) else ""
    lost = f"; {in_vain} of {runs} found no split" if in_vain else ""
    return (
        f"gap {unknown.gap}{spread}, {groups}, {unknown.useful} of"
        f" {unknown.questions} questions useful{known}{lost}"
    )


def _groups(options: Mapping[str, Any]) -> int:
    """The number of groups to simulate: the setting's, or the fewest that it allows."""
    groups = options.get("groups", 2)
    if isinstance(groups, int):
        return groups
    return 2 if isinstance(groups, str) else min(groups)


# What would help.


def _remedies(settings: Settings, unknown: Unknown, told: OwnerKnowledge) -> Iterator[Remedy]:
    """The smallest remedy of each kind with which campaigns finish, if found in time."""
    assert settings.people is not None
    if settings.error == "any" and takes_option(settings.method, "error"):
        yield from _first("share", {1: (replace(settings, error="share"), unknown, told)})
    if told.rule is None:  # otherwise only the rule's questions are asked
        # A model that repeats itself has one answer to a question: evidence takes many of these.
        numbers = (1, 2, 3, 5, 8) if settings.repeats == "fresh" else (4, 8, 12, 16)
        more = {n: (settings, *_more_questions(unknown, told, n)) for n in numbers}
        yield from _first("defining" if told.defining else "questions", more)
    # Half as many again each time, up to about eleven times as many.
    crowds = dict.fromkeys(math.ceil(settings.people * 1.5**n) for n in range(1, 7))
    yield from _first("people", {n: (replace(settings, people=n), unknown, told) for n in crowds})
    if settings.people <= _FEW_PEOPLE and settings.repeats == "fresh":
        yield from _same_repeats(settings, unknown, told)


def _same_repeats(settings: Settings, unknown: Unknown, told: OwnerKnowledge) -> Iterator[Remedy]:
    """``repeats = "same"``, with more questions where those are too few for it."""
    if takes_option(settings.method, "repeats"):
        # No cell is asked twice then, so worlds whose repeats are fresh serve as well.
        same = replace(settings, repeats="same")
        more = (0, 4, 8, 12, 16) if told.rule is None else (0,)
        ways = {n: (same, *_more_questions(unknown, told, n)) for n in more}
        yield from _first("same", ways)


def _first(
    kind: Kind, candidates: Mapping[int, tuple[Settings, Unknown, OwnerKnowledge]]
) -> Iterator[Remedy]:
    """The first candidate with which most simulated campaigns finish."""
    until = time.thread_time() + _REMEDY_SECONDS
    for number, (settings, unknown, told) in candidates.items():
        finished = ran = 0
        for each in simulate_campaigns(settings, unknown, told, _FEW_RUNS, until):
            finished, ran = finished + each.finished, ran + 1
            if finished + _FEW_RUNS - ran < _LIKELY * _FEW_RUNS:
                break  # too few can still finish: this candidate is not enough
        else:
            # Found; or the time is over, and then nothing is promised from fewer runs.
            if ran == _FEW_RUNS:
                yield Remedy(kind, number, finished, ran)
            return


def _more_questions(
    unknown: Unknown, told: OwnerKnowledge, number: int
) -> tuple[Unknown, OwnerKnowledge]:
    """More useful questions; where some define the split, these do, too."""
    useful = replace(
        unknown.useful, low=unknown.useful.low + number, high=unknown.useful.high + number
    )
    defining = told.defining + number if told.defining else 0
    return (
        replace(unknown, questions=unknown.questions + number, useful=useful),
        replace(told, defining=defining),
    )
