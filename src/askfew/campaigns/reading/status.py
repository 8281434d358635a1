"""The status of a campaign, in numbers and in a sentence."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from askfew.answer_warnings import AnswerWarning
from askfew.campaigns.campaign import Campaign, Shown
from askfew.campaigns.db.database import Connection
from askfew.campaigns.db.queries.answers import answers_by_worker, count_and_cost
from askfew.campaigns.db.queries.campaigns import get_campaign, name_of
from askfew.campaigns.db.queries.gold import gold_cost
from askfew.campaigns.db.queries.slots import (
    leases_by_worker,
    most_asked_of_a_cell,
    slots_by_state,
)
from askfew.campaigns.db.queries.steps import newest_step
from askfew.campaigns.db.queries.workers import revocations
from askfew.campaigns.forecast import CrowdForecast
from askfew.campaigns.forecast_words import forecast_sentences
from askfew.campaigns.reading.independence import warnings_of
from askfew.campaigns.reading.knowledge import knowledge_of
from askfew.campaigns.slots.states import SlotState
from askfew.campaigns.steps.advance import GOING
from askfew.records import Snapshot

__all__ = ["CampaignStatus", "WorkerStatus", "in_ids", "status_of"]


@dataclass(frozen=True)
class WorkerStatus:
    """What one worker has done."""

    name: str
    answers: int
    leases: int
    seconds: float | None
    """The mean time of an answer."""
    revoked: bool
    reused: int
    """How many of their answers come from a reused campaign."""


@dataclass(frozen=True)
class CampaignStatus:
    """The status of a campaign at one moment."""

    name: str
    state: str
    phase: str
    why: str
    steps: int
    answers: int
    max_answers: int
    cost: float
    expected: float | None
    """The expected number of answers still to come."""
    expected_by: Literal["method", "forecast"] | None
    """Where ``expected`` comes from: the method, or the forecast while the method cannot tell."""
    forecast: dict[str, Any] | None
    """The forecast made when it was created: typical_answers, most_answers, typical_workers ...,
    and ``text``, the same in sentences."""
    open: int
    leased: int
    decided: int
    items: int
    workers: tuple[WorkerStatus, ...]
    workers_needed: int
    """The fewest distinct workers with which the open step can finish."""
    reused: str | None
    """The name of the reused campaign, if there is one and it is in this store."""
    warnings: tuple[AnswerWarning, ...] = ()
    """Reasons to distrust the certificate."""

    @property
    def reused_answers(self) -> int:
        """How many answers come from a reused campaign."""
        return sum(worker.reused for worker in self.workers)

    @property
    def too_few_workers(self) -> bool:
        """Whether the open step needs more workers than have joined so far."""
        return self.workers_needed > sum(not worker.revoked for worker in self.workers)

    def to_dict(self) -> dict[str, Any]:
        """The status as JSON-ready values."""
        own = {"reused_answers": self.reused_answers, "too_few_workers": self.too_few_workers}
        return {**asdict(self), **own}


def status_of(campaign: Campaign) -> CampaignStatus:
    """The status, read in one snapshot, so that the numbers fit together."""
    with campaign.database.snapshot() as connection:
        row = get_campaign(connection, campaign.id)
        newest = newest_step(connection, campaign.id)
        known = None if newest is None else newest.known
        knowledge = knowledge_of(connection, campaign)
        outcome, labels = knowledge.outcome, knowledge.labels.tolist()
        why = "" if newest is None else newest.why
        if outcome is not None and outcome.reason:
            why = outcome.reason
        count, cost = count_and_cost(connection, campaign.id)
        states = {} if newest is None else slots_by_state(connection, campaign.id, newest.number)
        forecast = None if row.forecast is None else CrowdForecast.from_json(row.forecast)
        expected, expected_by = None, None
        if row.state in GOING:  # otherwise no more answers will come
            expected, expected_by = _expected(known, forecast, count, states)
        return CampaignStatus(
            name=row.name,
            state=row.state,
            phase=knowledge.phase,
            why=in_ids(why, campaign),
            steps=0 if newest is None else newest.number + 1,
            answers=count,
            max_answers=campaign.settings.max_answers,
            cost=cost + gold_cost(connection, campaign.id),
            expected=expected,
            expected_by=expected_by,
            forecast=None
            if forecast is None
            else {
                **forecast.to_dict(),
                "text": forecast_sentences(forecast, campaign.settings),
            },
            open=states.get(SlotState.OPEN, 0),
            leased=states.get(SlotState.LEASED, 0),
            decided=sum(label >= 0 for label in labels),
            items=campaign.problem.items,
            workers=_workers(connection, campaign.id),
            workers_needed=math.ceil(
                most_asked_of_a_cell(connection, campaign.id)
                / campaign.settings.answers_per_worker_and_cell
            ),
            reused=name_of(connection, row.reused),
            warnings=warnings_of(connection, campaign, labels),
        )


def _expected(
    known: Snapshot | None, forecast: CrowdForecast | None, count: int, states: dict[int, int]
) -> tuple[float | None, Literal["method", "forecast"] | None]:
    """The answers still to come, at least as many as slots wait, and where the number is from."""
    waiting = states.get(SlotState.OPEN, 0) + states.get(SlotState.LEASED, 0)
    if known is not None and known.expected is not None:
        # The method gave the number before this step's answers came: take those off.
        left = known.expected - states.get(SlotState.ANSWERED, 0)
        return max(left, float(waiting)), "method"
    foreseen = None if forecast is None else forecast.left(count)
    return (None, None) if foreseen is None else (float(max(foreseen, waiting)), "forecast")


def _workers(connection: Connection, campaign: int) -> tuple[WorkerStatus, ...]:
    told = answers_by_worker(connection, campaign)
    held = leases_by_worker(connection, campaign)
    admitted = revocations(connection, campaign)
    # Workers of a reused campaign have answers here, but may never have joined this one.
    return tuple(
        WorkerStatus(
            name=name,
            answers=told[name].answers if name in told else 0,
            leases=held.get(name, 0),
            seconds=told[name].seconds if name in told else None,
            revoked=admitted.get(name, False),
            reused=told[name].reused if name in told else 0,
        )
        for name in [*admitted, *sorted(told.keys() - admitted.keys())]
    )


_ITEMS = re.compile(r"(?:(?<=\bitems )|(?<=\bmostly ))\[([\d, ]+)\]")
_ITEM = re.compile(r"(?<=\bitem )\d+")
_QUESTION = re.compile(r"(?<=\bquestion )\d+|(?<=\bbest so far )\d+")


def in_ids(why: str, campaign: Campaign) -> str:
    """The method's sentence with ids instead of the numbers of items and questions."""
    # Methods know only numbers. Their sentences are stored that way, and so are translated here.
    several = _ITEMS.sub(lambda found: _named(found[1], campaign.items), why)
    one = _ITEM.sub(lambda found: _named(found[0], campaign.items), several)
    return _QUESTION.sub(lambda found: _named(found[0], campaign.questions), one)


def _named(numbers: str, shown: Sequence[Shown]) -> str:
    ids = [shown[int(n)].id for n in re.findall(r"\d+", numbers) if int(n) < len(shown)]
    return " and ".join(ids) or numbers
