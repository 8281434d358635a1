"""What the parts of the dashboard show, read from the store and kept for a moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import Request

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.flags import Flag, flags_of
from askfew.campaigns.forecast_words import upper_words
from askfew.campaigns.gold import GoldScore, gold_scores
from askfew.campaigns.reading.knowledge import guesses_of
from askfew.campaigns.reading.split import Split, split_of
from askfew.campaigns.reading.tallies import Tallies, tallies_of
from askfew.estimates.guesses import Guesses
from askfew.web.pages.caches import PageCaches, caches_of
from askfew.web.pages.dashboard.standing import Standing, standing_of
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

__all__ = ["Bill", "Details", "Mark", "Summary", "View"]


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
    """Answers so far, against what was to be expected."""

    fill: float
    """Answers so far, as a share of the bar's width."""
    marks: tuple[Mark, ...]
    typical: int | None
    """Answers that half of all campaigns like this stay under, if that was forecast."""
    forecast: tuple[str, ...]
    """What the forecast rests on."""


@dataclass(frozen=True)
class Summary:
    """The head of the dashboard."""

    standing: Standing
    ending: Ending
    sentence: str
    phase: Phase | None
    phases: tuple[tuple[Phase, str], ...]
    """Each with: past, now, or ahead. Empty where the method has no such phases."""
    bill: Bill


@dataclass(frozen=True, eq=False)
class Details:
    """Standing, tallies and guesses that belong together."""

    standing: Standing
    tallies: Tallies
    guesses: Guesses
    split: Split | None
    flags: Mapping[int, tuple[Flag, ...]]
    """By item."""
    gold: Mapping[str, GoldScore]
    """By worker."""


class View:
    """One campaign, as the owner sees it."""

    def __init__(self, request: Request, campaign: Campaign) -> None:
        self.campaign, self.settings = campaign, campaign.settings
        self._caches: PageCaches = caches_of(request)

    def standing(self) -> Standing:
        """The newest, or one a moment old."""
        make = standing_of
        return self._caches.standings.get(self.settings.name, lambda: make(self.campaign))

    def details(self) -> Details:
        """The newest, or as old as is affordable for a campaign of this size."""
        return self._caches.details.get(self.settings.name, self._details)

    def changed(self) -> None:
        """Look again at once: the owner has just changed something."""
        self._caches.changes.add(self.settings.name)

    def summary(self) -> Summary:
        """Words and figures."""
        standing = self.standing()
        ending = ending_of(standing.status.state, standing.outcome, self.campaign.anchors)
        course = course_of(self.settings)
        going = ending.kind in ("running", "paused")
        phase = phase_of(standing.status.phase, course) if going else None
        return Summary(
            standing,
            ending,
            _sentence(standing, ending, phase),
            phase,
            _course(phase, ending, course),
            self._bill(standing),
        )

    def _details(self) -> Details:
        standing = standing_of(self.campaign)
        with self.campaign.database.snapshot() as connection:
            guesses = guesses_of(connection, self.campaign, standing.known)
            split = split_of(connection, self.campaign, standing.known, guesses)
            flags: dict[int, tuple[Flag, ...]] = {}
            for each in flags_of(connection, self.campaign.id):
                flags[each.item] = (*flags.get(each.item, ()), each)
            gold = gold_scores(connection, self.campaign.id, self.campaign.gold_cells())
        tallies = tallies_of(self.campaign, standing.labels)
        return Details(standing, tallies, guesses, split, flags, gold)

    def _bill(self, standing: Standing) -> Bill:
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
        """What no method can do without; known for two groups, and not of very small campaigns."""
        problem = self.campaign.problem
        if problem.items < 3 or self.settings.groups != 2:
            return 0.0
        return least_answers(self.settings, problem)


def _sentence(standing: Standing, ending: Ending, phase: Phase | None) -> str:
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
