"""What a campaign's answers say, for people: groups, questions by what they separate, workers."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import func, select

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.reading.independence import qualified
from askfew.campaigns.reading.status import Status, WorkerStatus, status_of
from askfew.campaigns.tables.schema import answers, refusals, steps
from askfew.campaigns.tables.snapshot import snapshot
from askfew.records import Floats, Ints

__all__ = ["Findings", "LabelledItem", "RankedQuestion", "WorkerShare", "findings_of"]

_NORMAL_95 = 1.96


@dataclass(frozen=True)
class LabelledItem:
    """An item, its group (None while undecided) and what speaks for it."""

    id: str
    text: str
    image: str | None
    group: int | None
    evidence: float | None
    answers: int
    represents: bool
    """Whether it stands for its group: others are labelled by not being like it, or like it."""


@dataclass(frozen=True)
class RankedQuestion:
    """How far the groups' mean answers lie apart on a question, with a 95 % interval."""

    id: str
    text: str
    answers: int
    gap: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class WorkerShare:
    """What one worker contributed, and the largest part they have in any item's answers."""

    name: str
    answers: int
    skips: int
    seconds: float | None
    agreement: float | None
    """Share of their answers, on the best question, that fall on the side of the item's label."""
    largest_share: float
    revoked: bool
    reused: int
    """Answers of theirs that were taken over from another campaign."""


@dataclass(frozen=True)
class Findings:
    """All that a report shows."""

    status: Status
    outcome: dict[str, Any] | None
    certificate_text: str | None
    """The warnings, and the promise; None where nothing is promised."""
    threshold: float | None
    items: tuple[LabelledItem, ...]
    questions: tuple[RankedQuestion, ...]
    workers: tuple[WorkerShare, ...]
    by_phase: dict[str, int]


@dataclass(frozen=True, eq=False)
class _Answers:
    item: Ints
    question: Ints
    worker: Ints
    value: Floats
    seconds: Floats
    number: dict[str, int]
    """Which number stands for which worker."""


def findings_of(campaign: Campaign) -> Findings:
    """Read the answers and add them up."""
    outcome = campaign.outcome()
    with snapshot(campaign.database) as connection:
        known = connection.execute(
            select(steps.c.known)
            .where(steps.c.campaign == campaign.id, steps.c.known.is_not(None))
            .order_by(steps.c.number.desc())
            .limit(1)
        ).scalar()
        latest: dict[str, Any] = json.loads(known) if known else {}
        told = _read_answers(connection, campaign.id)
        phases = _by_phase(connection, campaign.id)
        skipped = connection.execute(
            select(refusals.c.worker, func.count().label("times"))
            .where(refusals.c.campaign == campaign.id)
            .group_by(refusals.c.worker)
        )
        skips = {row.worker: int(row.times) for row in skipped}
    status = status_of(campaign)
    source = outcome or latest
    undecided = [-1] * campaign.problem.items
    labels = np.array(source.get("labels") or undecided, dtype=np.int64)
    questions = _ranked(campaign, told, labels)
    return Findings(
        status=status,
        outcome=outcome,
        certificate_text=qualified((outcome or {}).get("certificate_text"), status.warnings),
        threshold=latest.get("threshold"),
        items=_labelled(campaign, told, labels, source),
        questions=questions,
        workers=tuple(
            _share(worker, skips.get(worker.name, 0), told, labels) for worker in status.workers
        ),
        by_phase=phases,
    )


def _read_answers(connection: Any, campaign: int) -> _Answers:
    rows = connection.execute(
        select(
            answers.c.item, answers.c.question, answers.c.worker, answers.c.value, answers.c.seconds
        ).where(answers.c.campaign == campaign, answers.c.retracted.is_(False))
    ).all()
    columns = list(zip(*rows, strict=True)) or [(), (), (), (), ()]
    number = {name: i for i, name in enumerate(dict.fromkeys(columns[2]))}
    return _Answers(
        np.array(columns[0], dtype=np.int64),
        np.array(columns[1], dtype=np.int64),
        np.array([number[name] for name in columns[2]], dtype=np.int64),
        np.array(columns[3], dtype=np.float64),
        np.array(columns[4], dtype=np.float64),  # None becomes NaN
        number,
    )


def _by_phase(connection: Any, campaign: int) -> dict[str, int]:
    rows = connection.execute(
        select(steps.c.known, steps.c.counts)
        .where(steps.c.campaign == campaign, steps.c.closed.is_not(None))
        .order_by(steps.c.number)
    )
    phases: dict[str, int] = {}
    for known, counts in rows:
        phase = json.loads(known)["phase"] if known else "answers"
        phases[phase] = phases.get(phase, 0) + int(np.frombuffer(counts, dtype="<i8").sum())
    return phases


def _labelled(
    campaign: Campaign, told: _Answers, labels: Ints, source: dict[str, Any]
) -> tuple[LabelledItem, ...]:
    evidence = source.get("evidence")
    representatives = (source.get("certificate") or {}).get("representatives", ())
    count = np.bincount(told.item, minlength=campaign.problem.items)
    return tuple(
        LabelledItem(
            item.id,
            item.text,
            item.image,
            int(labels[i]) if labels[i] >= 0 else None,
            evidence[i] if evidence else None,
            int(count[i]),
            i in representatives,
        )
        for i, item in enumerate(campaign.items)
    )


def _ranked(campaign: Campaign, told: _Answers, labels: Ints) -> tuple[RankedQuestion, ...]:
    ranked = [
        _separation(campaign, told, labels, number) for number in range(campaign.problem.questions)
    ]
    return tuple(sorted(ranked, key=lambda each: -(each.gap or 0.0)))


def _separation(campaign: Campaign, told: _Answers, labels: Ints, number: int) -> RankedQuestion:
    question = campaign.questions[number]
    here = told.question == number
    values, group = told.value[here], labels[told.item[here]]
    first, second = values[group == 0], values[group == 1]
    if min(len(first), len(second)) < 2:
        return RankedQuestion(question.id, question.text, len(values), None, None, None)
    gap = float(second.mean() - first.mean())
    half = _NORMAL_95 * math.sqrt(first.var() / len(first) + second.var() / len(second))
    # Which group is called second is a matter of naming: report the size of the gap.
    low, high = (gap - half, gap + half) if gap >= 0 else (-gap - half, -gap + half)
    return RankedQuestion(question.id, question.text, len(values), abs(gap), low, high)


def _share(worker: WorkerStatus, skips: int, told: _Answers, labels: Ints) -> WorkerShare:
    own = told.worker == told.number.get(worker.name, -1)
    seconds = told.seconds[own]
    seconds = seconds[np.isfinite(seconds)]
    by_item = np.bincount(told.item, minlength=len(labels))
    own_by_item = np.bincount(told.item[own], minlength=len(labels))
    asked_twice = by_item >= 2
    shares = own_by_item[asked_twice] / by_item[asked_twice]
    return WorkerShare(
        name=worker.name,
        answers=int(own.sum()),
        skips=skips,
        seconds=float(np.median(seconds)) if len(seconds) else None,
        agreement=_agreement(told, labels, own),
        largest_share=float(shares.max()) if len(shares) else 0.0,
        revoked=worker.revoked,
        reused=worker.reused,
    )


def _agreement(told: _Answers, labels: Ints, own: Any) -> float | None:
    """On the most answered question: how often an answer lies on its group's side of the middle."""
    decided = labels[told.item] >= 0 if len(told.item) else np.zeros(0, dtype=np.bool_)
    if not (own & decided).any():
        return None
    number = int(np.bincount(told.question[decided]).argmax())
    here = decided & (told.question == number)
    group = labels[told.item]
    means = [told.value[here & (group == g)] for g in (0, 1)]
    mine = here & own
    if min(len(each) for each in means) == 0 or not mine.any():
        return None
    first, second = (float(each.mean()) for each in means)
    side = (told.value[mine] > (first + second) / 2) == (second > first)
    return float((side == (group[mine] == 1)).mean())
