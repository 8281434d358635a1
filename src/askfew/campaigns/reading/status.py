"""Where a campaign stands, in numbers and in a sentence."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sqlalchemy import Connection, Integer, case, cast, func, select, tuple_

from askfew.answer_warnings import AnswerWarning
from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.schema import SlotState, answers, campaigns, slots, steps, workers
from askfew.campaigns.forecast import CrowdForecast
from askfew.campaigns.reading.independence import warnings_of
from askfew.campaigns.reading.knowledge import knowledge_of
from askfew.campaigns.steps.advance import GOING
from askfew.campaigns.steps.log import newest_step
from askfew.campaigns.steps.reuse import REUSED

__all__ = ["CampaignStatus", "WorkerStatus", "status_of"]


@dataclass(frozen=True)
class WorkerStatus:
    """What one worker has done."""

    name: str
    answers: int
    leases: int
    seconds: float | None
    """How long their answers took, on average."""
    revoked: bool
    reused: int
    """Answers of theirs that were taken over from another campaign."""


@dataclass(frozen=True)
class CampaignStatus:
    """A snapshot of a campaign."""

    name: str
    state: str
    phase: str
    why: str
    steps: int
    answers: int
    max_answers: int
    cost: float
    expected: float | None
    """Answers still to come."""
    expected_by: Literal["method", "forecast"] | None
    """Who says so: the method itself, or, as long as it searches, the forecast."""
    forecast: dict[str, Any] | None
    """What was expected when it was created: typical_answers, most_answers, typical_workers ..."""
    open: int
    leased: int
    decided: int
    items: int
    workers: tuple[WorkerStatus, ...]
    workers_needed: int
    """Distinct workers that the open step cannot do without."""
    reused: str | None
    """The campaign whose answers were taken over, by name, if it is in this store."""
    warnings: tuple[AnswerWarning, ...] = ()
    """What the certificate cannot be trusted about."""

    @property
    def reused_answers(self) -> int:
        """Answers that were taken over from another campaign."""
        return sum(worker.reused for worker in self.workers)

    @property
    def too_few_workers(self) -> bool:
        """Whether the open step needs more workers than have come so far."""
        return self.workers_needed > sum(not worker.revoked for worker in self.workers)

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        own = {"reused_answers": self.reused_answers, "too_few_workers": self.too_few_workers}
        return {**asdict(self), **own}


def status_of(campaign: Campaign) -> CampaignStatus:
    """Read it all in one transaction, so that the numbers fit together."""
    with campaign.database.snapshot() as connection:
        row = connection.execute(select(campaigns).where(campaigns.c.id == campaign.id)).one()
        newest = newest_step(connection, campaign.id)
        known = json.loads(newest.known) if newest is not None and newest.known else {}
        knowledge = knowledge_of(connection, campaign)
        outcome, labels = knowledge.outcome or {}, knowledge.labels.tolist()
        count, cost = connection.execute(
            select(func.count(), func.sum(answers.c.cost)).where(
                answers.c.campaign == campaign.id, answers.c.retracted.is_(False)
            )
        ).one()
        states = {} if newest is None else _slots_by_state(connection, campaign.id, newest.number)
        forecast = None if row.forecast is None else CrowdForecast.from_json(row.forecast)
        expected, expected_by = None, None
        if row.state in GOING:
            expected, expected_by = _expected(known, forecast, count, states)
        return CampaignStatus(
            name=row.name,
            state=row.state,
            phase=knowledge.phase,
            why=outcome.get("reason") or (newest.why if newest is not None else ""),
            steps=0 if newest is None else newest.number + 1,
            answers=count,
            max_answers=campaign.settings.max_answers,
            cost=float(cost or 0.0),
            expected=expected,
            expected_by=expected_by,
            forecast=None if forecast is None else forecast.to_dict(),
            open=states.get(SlotState.OPEN, 0),
            leased=states.get(SlotState.LEASED, 0),
            decided=sum(label >= 0 for label in labels),
            items=campaign.problem.items,
            workers=_workers(connection, campaign.id),
            workers_needed=_workers_needed(connection, campaign),
            reused=_reused(connection, row.reused),
            warnings=warnings_of(connection, campaign, labels),
        )


def _slots_by_state(connection: Connection, campaign: int, step: int) -> dict[int, int]:
    """How many slots of the newest step stand where (older steps are settled)."""
    query = (
        select(slots.c.state, func.count())
        .where(slots.c.campaign == campaign, slots.c.step == step)
        .group_by(slots.c.state)
    )
    return {row[0]: row[1] for row in connection.execute(query)}


def _expected(
    known: dict[str, Any], forecast: CrowdForecast | None, count: int, states: dict[int, int]
) -> tuple[float | None, Literal["method", "forecast"] | None]:
    """Answers still to come, never fewer than are open, and who says so."""
    waiting = states.get(SlotState.OPEN, 0) + states.get(SlotState.LEASED, 0)
    if known.get("expected") is not None:
        # The method said so before the step's own answers came.
        left = float(known["expected"]) - states.get(SlotState.ANSWERED, 0)
        return max(left, float(waiting)), "method"
    foreseen = None if forecast is None else forecast.left(count)
    return (None, None) if foreseen is None else (float(max(foreseen, waiting)), "forecast")


def _reused(connection: Connection, number: int | None) -> str | None:
    return connection.execute(
        select(campaigns.c.name).where(campaigns.c.id == number)
    ).scalar_one_or_none()


def _workers(connection: Connection, campaign: int) -> tuple[WorkerStatus, ...]:
    told = {
        row.worker: row
        for row in connection.execute(
            select(
                answers.c.worker,
                func.count().label("answers"),
                func.avg(answers.c.seconds).label("seconds"),
                func.sum(case((REUSED, 1), else_=0)).label("reused"),
            )
            .where(answers.c.campaign == campaign, answers.c.retracted.is_(False))
            .group_by(answers.c.worker)
        )
    }
    held = {
        row.worker: row.leases
        for row in connection.execute(
            select(slots.c.worker, func.count().label("leases"))
            .where(slots.c.campaign == campaign, slots.c.state == SlotState.LEASED)
            .group_by(slots.c.worker)
        )
    }
    admitted = {
        row.name: row.revoked is not None
        for row in connection.execute(
            select(workers.c.name, workers.c.revoked)
            .where(workers.c.campaign == campaign)
            .order_by(workers.c.joined, workers.c.name)
        )
    }
    # Workers of a reused campaign have answers here, and may never have come themselves.
    return tuple(
        WorkerStatus(
            name=name,
            answers=told[name].answers if name in told else 0,
            leases=held.get(name, 0),
            seconds=told[name].seconds if name in told else None,
            revoked=admitted.get(name, False),
            reused=int(told[name].reused) if name in told else 0,
        )
        for name in [*admitted, *sorted(told.keys() - admitted.keys())]
    )


def _workers_needed(connection: Connection, campaign: Campaign) -> int:
    """The most answers one cell of the open step has had and waits for, by so many a worker."""
    open_step = (
        select(func.max(steps.c.number))
        .where(steps.c.campaign == campaign.id, steps.c.closed.is_(None))
        .scalar_subquery()
    )
    # Not a join, for which SQLite would look at all slots once for every cell.
    cell = tuple_(slots.c.item, slots.c.question)
    cells = select(slots.c.item, slots.c.question).where(
        slots.c.campaign == campaign.id, slots.c.step == open_step
    )
    asked = (
        select(func.count().label("asked"))
        .where(slots.c.campaign == campaign.id, slots.c.state != SlotState.EMPTY, cell.in_(cells))
        .group_by(slots.c.item, slots.c.question)
        .subquery()
    )
    most = connection.execute(select(cast(func.max(asked.c.asked), Integer))).scalar() or 0
    return math.ceil(most / campaign.settings.answers_per_worker_and_cell)
