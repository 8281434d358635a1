"""What a campaign has found: item by item, at its end or so far."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import func, select

from askfew.answer_warnings import AnswerWarning
from askfew.campaigns.campaign import Campaign
from askfew.campaigns.reading.independence import qualified, warnings_of
from askfew.campaigns.steps.log import newest_step
from askfew.campaigns.tables.schema import answers, campaigns
from askfew.campaigns.tables.snapshot import snapshot

__all__ = ["ItemResult", "Result", "result_of"]


@dataclass(frozen=True)
class ItemResult:
    """One item: its group (None while undecided), and what that rests on."""

    item: str
    group: int | None
    evidence: float | None
    """In nats, as far as the method says."""
    answers: int
    """About this item."""


@dataclass(frozen=True)
class Result:
    """Where the items stand; ``status`` is None until the method has ended."""

    name: str
    state: str
    status: str | None
    reason: str
    answers: int
    question: str | None
    """The one that separates best."""
    certificate: dict[str, Any] | None
    certificate_text: str | None
    """The warnings, and the promise."""
    items: tuple[ItemResult, ...]
    warnings: tuple[AnswerWarning, ...] = ()
    """What the certificate cannot be trusted about."""

    @property
    def groups(self) -> list[list[str]]:
        """The ids of the items of each group."""
        count = max((each.group for each in self.items if each.group is not None), default=-1) + 1
        return [[each.item for each in self.items if each.group == g] for g in range(count)]

    @property
    def undecided(self) -> list[str]:
        """The ids of the items without a group."""
        return [each.item for each in self.items if each.group is None]

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return asdict(self)


def result_of(campaign: Campaign) -> Result:
    """The outcome, or what the newest step knew if there is none yet."""
    with snapshot(campaign.database) as connection:
        row = connection.execute(select(campaigns).where(campaigns.c.id == campaign.id)).one()
        newest = newest_step(connection, campaign.id)
        told = connection.execute(
            select(answers.c.item, func.count())
            .where(answers.c.campaign == campaign.id, answers.c.retracted.is_(False))
            .group_by(answers.c.item)
        )
        counts = {row[0]: row[1] for row in told}
        outcome = json.loads(row.outcome) if row.outcome else None
        known = json.loads(newest.known) if newest is not None and newest.known else {}
        found = outcome or known
        labels = found.get("labels") or [-1] * len(campaign.items)
        warnings = warnings_of(connection, campaign, labels)
    evidence = found.get("evidence") or [None] * len(campaign.items)
    question = found.get("question")
    return Result(
        name=row.name,
        state=row.state,
        status=outcome["status"] if outcome else None,
        reason=outcome["reason"] if outcome else (newest.why if newest is not None else ""),
        answers=sum(counts.values()),
        question=None if question is None else campaign.questions[question].id,
        certificate=outcome["certificate"] if outcome else None,
        certificate_text=qualified(outcome["certificate_text"], warnings) if outcome else None,
        items=tuple(
            ItemResult(
                item.id,
                labels[number] if labels[number] >= 0 else None,
                evidence[number],
                counts.get(number, 0),
            )
            for number, item in enumerate(campaign.items)
        ),
        warnings=warnings,
    )
