"""What the parts of the dashboard show, read from the store and kept for a moment."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import Request

from askfew.algorithms import CLAIM_VERSIONS
from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.queries.answers import count_by_time
from askfew.campaigns.db.queries.campaigns import get_campaign
from askfew.campaigns.db.queries.workers import flags_of
from askfew.campaigns.forecast_words import upper_words
from askfew.campaigns.gold import GoldScore, gold_scores
from askfew.campaigns.naming import in_names
from askfew.campaigns.reading.independence import qualified
from askfew.campaigns.reading.knowledge import Knowledge, cells_of, guesses_of, knowledge_of
from askfew.campaigns.reading.split import Split, split_of
from askfew.campaigns.reading.status import CampaignStatus, status_of
from askfew.campaigns.reading.tallies import Tallies, tallies_of
from askfew.campaigns.records import Flag, StoredOutcome
from askfew.campaigns.steps.advance import GOING
from askfew.estimates.guesses import Guesses
from askfew.records import Ints
from askfew.web.pages.caches import PageCaches, caches_of
from askfew.web.pages.forecasts import least_answers
from askfew.web.pages.words import (
    Ending,
    Phase,
    course_of,
    ending_of,
    explained,
    phase_of,
    promise_of,
)

__all__ = [
    "Bill",
    "Curve",
    "DashboardData",
    "DashboardHead",
    "Details",
    "Mark",
    "View",
    "dashboard_data",
    "details_of",
]

_POINTS = 240
"""Points of the curve of answers. A plain choice: a point for every two or three pixels."""
_SILENCE = 300.0
"""Seconds without an answer after which the page says that nobody answers. A plain choice."""


@dataclass(frozen=True)
class Curve:
    """Answers over time: by ``times[i]`` there were ``counts[i]``."""

    times: list[float]
    counts: list[int]


@dataclass(frozen=True, eq=False)
class DashboardData:
    """The status, what is known of every item, and how the answers came in."""

    status: CampaignStatus
    known: Knowledge
    curve: Curve
    certificate_text: str | None
    """The warnings, and the promise; None where nothing is promised."""
    silent: bool
    """Whether questions are open, people have come, and nobody has answered for minutes."""
    outdated: bool
    """Whether it was begun under another claim, and does not go on with this askfew."""

    @property
    def version(self) -> str:
        """A string that changes whenever there is something new to show."""
        status = self.status
        leases = sum(worker.leases for worker in status.workers)
        people = (len(status.workers), sum(worker.revoked for worker in status.workers))
        parts = (
            self.silent,
            status.state,
            status.steps,
            status.answers,
            status.open,
            leases,
            *people,
            zlib.crc32("\n".join(self.known.groups).encode()),
        )
        return "-".join(str(part) for part in parts)

    @property
    def outcome(self) -> StoredOutcome | None:
        """What the method found, once it has ended."""
        return self.known.outcome

    @property
    def labels(self) -> Ints:
        """-1 where an item has none."""
        return self.known.labels

    def represents(self, item: int) -> bool:
        """Whether the item stands for its group: the others were excluded from it."""
        return self.outcome is not None and item in self.outcome.representatives


def dashboard_data(campaign: Campaign) -> DashboardData:
    """Read it from the store."""
    status = status_of(campaign)
    with campaign.database.snapshot() as connection:
        known = knowledge_of(connection, campaign)
        points = count_by_time(connection, campaign.id, _POINTS)
        recipe = get_campaign(connection, campaign.id).recipe_dict
    curve = Curve([time for time, _ in points], [count for _, count in points])
    outcome = known.outcome
    return DashboardData(
        status=status,
        known=known,
        curve=curve,
        certificate_text=in_names(
            qualified(None if outcome is None else outcome.certificate_text, status.warnings),
            known.own_names,
            known.groups,
        ),
        silent=status.state == "running"
        and bool(status.open and status.workers and curve.times)
        and campaign.clock() - curve.times[-1] > _SILENCE,
        outdated=status.state in GOING
        and recipe.get("claim") != CLAIM_VERSIONS.get(campaign.settings.method),
    )


@dataclass(frozen=True)
class Mark:
    """A figure on the bar of answers."""

    kind: str
    word: str
    answers: float
    at: float
    """Where it stands on the bar: a share of its width."""


@dataclass(frozen=True)
class Bill:
    """Answers so far, against the forecast and the cap."""

    fill: float
    """Answers so far, as a share of the bar's width."""
    marks: tuple[Mark, ...]
    typical: int | None
    """Answers that half of all campaigns like this stay under, if that was forecast."""
    forecast: tuple[str, ...]
    """What the forecast rests on."""


@dataclass(frozen=True)
class DashboardHead:
    """The head of the dashboard."""

    standing: DashboardData
    ending: Ending
    sentence: str
    phase: Phase | None
    phases: tuple[tuple[Phase, str], ...]
    """Each with: past, now, or ahead. Empty where the method has no such phases."""
    bill: Bill


@dataclass(frozen=True, eq=False)
class Details:
    """DashboardData, tallies and guesses that belong together."""

    standing: DashboardData
    tallies: Tallies
    guesses: Guesses
    split: Split | None
    flags: Mapping[int, tuple[Flag, ...]]
    """By item."""
    gold: Mapping[str, GoldScore]
    """By worker."""


def details_of(campaign: Campaign) -> Details:
    """Read them from the store."""
    standing = dashboard_data(campaign)
    with campaign.database.snapshot() as connection:
        cells = cells_of(connection, campaign).sums()
        guesses = guesses_of(connection, campaign, standing.known, cells)
        split = split_of(connection, campaign, standing.known, guesses, cells)
        flags: dict[int, tuple[Flag, ...]] = {}
        for each in flags_of(connection, campaign.id):
            flags[each.item] = (*flags.get(each.item, ()), each)
        gold = gold_scores(connection, campaign.id, campaign.gold_cells())
    tallies = tallies_of(campaign, standing.labels, cells)
    return Details(standing, tallies, guesses, split, flags, gold)


class View:
    """One campaign, as the owner sees it."""

    def __init__(self, request: Request, campaign: Campaign) -> None:
        self.campaign, self.settings = campaign, campaign.settings
        self._caches: PageCaches = caches_of(request)

    def standing(self) -> DashboardData:
        """The standing, at most about a second old."""
        make = dashboard_data
        return self._caches.standings.get(self.settings.name, lambda: make(self.campaign))

    def details(self) -> Details:
        """The details; older for a large campaign, which takes longer to read."""
        over = self.standing().status.state not in GOING  # no undecided items below "All sorted"
        return self._caches.details.get(
            self.settings.name, lambda: details_of(self.campaign), over=over
        )

    def changed(self) -> None:
        """Read everything again: the owner has just changed something."""
        self._caches.changes.add(self.settings.name)

    def summary(self) -> DashboardHead:
        """The head of the dashboard."""
        standing = self.standing()
        ending = ending_of(standing.status.state, standing.outcome, self.campaign.anchors)
        course = course_of(self.settings)
        going = ending.kind in ("running", "paused")
        phase = phase_of(standing.status.phase, course) if going else None
        return DashboardHead(
            standing,
            ending,
            _sentence(standing, ending, phase),
            phase,
            _course(phase, ending, course),
            self._bill(standing),
        )

    def _bill(self, standing: DashboardData) -> Bill:
        status, settings = standing.status, self.settings
        figures = [("least", "lower bound", self._least())]
        foreseen = status.forecast
        if foreseen is not None:
            figures += [("typical", "forecast", float(foreseen["typical_answers"]))]
            upper = upper_words(foreseen["simulated"])
            figures += [("most", upper, float(foreseen["most_answers"]))]
        figures += [("cap", "cap", float(settings.max_answers))]
        # The cap may be far away: then the bar ends a little beyond what is likely.
        likely = max(figure for _, _, figure in figures[:-1])
        end = min(float(settings.max_answers), max(1.25 * likely, 1.1 * status.answers, 10.0))
        marks = tuple(
            Mark(kind, word, figure, figure / end) for kind, word, figure in figures if figure > 0
        )
        return Bill(
            status.answers / end,
            tuple(mark for mark in marks if mark.at <= 1.0),
            None if foreseen is None else foreseen["typical_answers"],
            () if foreseen is None else tuple(foreseen["text"]),
        )

    def _least(self) -> float:
        """The lower bound on answers; 0 if it is not known (more groups, very small campaigns)."""
        if self.settings.groups != 2:
            return 0.0
        return least_answers(self.settings, self.campaign.problem)


def _sentence(standing: DashboardData, ending: Ending, phase: Phase | None) -> str:
    status = standing.status
    if standing.outcome is not None:
        return f"{explained(ending, standing.outcome)} {promise_of(standing.known)}".strip()
    if ending.kind != "running":
        return ending.sentence
    if not status.workers:
        return "Everything is ready. Invite people, and questions are handed out as they come."
    return phase.sentence if phase is not None else status.why


def _course(
    phase: Phase | None, ending: Ending, phases: tuple[Phase, ...]
) -> tuple[tuple[Phase, str], ...]:
    """How far along the method is, if it has phases."""
    if ending.kind in ("done", "undecided"):
        return tuple((phase, "past") for phase in phases)
    if phase not in phases:
        return ()
    now = phases.index(phase)
    words = ["past" if n < now else "now" if n == now else "ahead" for n in range(len(phases))]
    return tuple(zip(phases, words, strict=True))
