"""The result of a campaign, item by item, final or so far; and an overview of all campaigns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from askfew.answer_warnings import AnswerWarning
from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.queries.answers import count_by_item, totals_by_campaign
from askfew.campaigns.db.queries.campaigns import all_campaigns, get_campaign
from askfew.campaigns.db.queries.steps import newest_step
from askfew.campaigns.reading.independence import qualified, warnings_of
from askfew.campaigns.reading.knowledge import ItemState, Knowledge, guesses_of, knowledge_of
from askfew.campaigns.reading.rules import rule_lines
from askfew.campaigns.reading.status import in_ids
from askfew.campaigns.store import Store
from askfew.estimates.guesses import Guesses

__all__ = ["RESULT_COLUMNS", "CampaignResult", "ItemResult", "Overview", "overview_of", "result_of"]

RESULT_COLUMNS: dict[str, type] = {
    "item": str,
    "group": str,
    "state": str,
    "guess": str,
    "confidence": float,
    "undecided": str,
    "evidence": float,
    "answers": int,
}
"""The columns of the table of all items; groups are given by name."""


@dataclass(frozen=True)
class ItemResult:
    """One item: its group (None while undecided), and what it rests on."""

    item: str
    group: int | None
    state: ItemState
    guess: int
    """The item's group, or the likeliest one."""
    confidence: float
    """The estimated probability of the guess: from a model, not a promise."""
    undecided: str | None
    """Why it has no group, if known."""
    evidence: float | None
    """Evidence for the label in nats, if the method gives it."""
    answers: int
    """The number of answers about this item."""


@dataclass(frozen=True)
class CampaignResult:
    """The result of a campaign; ``status`` is None until the method has ended."""

    name: str
    state: str
    status: str | None
    reason: str
    answers: int
    question: str | None
    """The id of the question that separates best."""
    certificate: Mapping[str, Any] | None
    certificate_text: str | None
    """The warnings, then the promise, which is about certified labels only."""
    group_names: tuple[str, ...]
    rule: dict[str, Any] | None
    """The rule that labels follow, once there is one."""
    rule_text: str | None
    """The rule in words."""
    items: tuple[ItemResult, ...]
    warnings: tuple[AnswerWarning, ...] = ()
    """Reasons to distrust the certificate."""
    checks: Mapping[str, Any] | None = None
    """What the answers say about the split and about the assumptions."""

    @property
    def groups(self) -> list[list[str]]:
        """The ids of the items of each group."""
        count = max((each.group for each in self.items if each.group is not None), default=-1) + 1
        return [[each.item for each in self.items if each.group == g] for g in range(count)]

    @property
    def undecided(self) -> list[ItemResult]:
        """The items without a group."""
        return [each for each in self.items if each.group is None]

    @property
    def rows(self) -> list[tuple[object, ...]]:
        """The rows of the table of all items, with RESULT_COLUMNS."""
        return [
            (
                each.item,
                None if each.group is None else self.group_names[each.group],
                each.state,
                self.group_names[each.guess],
                each.confidence,
                each.undecided,
                each.evidence,
                each.answers,
            )
            for each in self.items
        ]

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON-ready values."""
        return asdict(self)


def result_of(campaign: Campaign) -> CampaignResult:
    """The result from the outcome; before that, from what the method knew at the newest step."""
    with campaign.database.snapshot() as connection:
        row = get_campaign(connection, campaign.id)
        newest = newest_step(connection, campaign.id)
        counts = count_by_item(connection, campaign.id)
        known = knowledge_of(connection, campaign)
        guesses = guesses_of(connection, campaign, known)
        warnings = warnings_of(connection, campaign, known.labels.tolist())
    outcome = known.outcome
    question = known.question
    return CampaignResult(
        name=row.name,
        state=row.state,
        status=outcome.status if outcome else None,
        reason=in_ids(
            outcome.reason if outcome else (newest.why if newest is not None else ""), campaign
        ),
        answers=sum(counts.values()),
        question=None if question is None else campaign.questions[question].id,
        certificate=outcome.certificate if outcome else None,
        certificate_text=qualified(outcome.certificate_text, warnings) if outcome else None,
        group_names=known.groups,
        rule=None if known.rule is None else known.rule.to_dict(),
        rule_text="\n".join(rule_lines(known.divisions)) or None,
        items=tuple(
            _item(campaign, known, guesses, number, counts.get(number, 0))
            for number in range(len(campaign.items))
        ),
        warnings=warnings,
        checks=outcome.checks if outcome else None,
    )


def _item(
    campaign: Campaign, known: Knowledge, guesses: Guesses, number: int, answered: int
) -> ItemResult:
    label = int(known.labels[number])
    return ItemResult(
        campaign.items[number].id,
        label if label >= 0 else None,
        known.state(number),
        int(guesses.groups[number]),
        # More digits would promise more than a fitted model knows.
        round(float(guesses.confidence[number]), 4),
        known.why_undecided.get(number) if label < 0 else None,
        known.evidence[number] if known.evidence else None,
        answered,
    )


@dataclass(frozen=True)
class Overview:
    """One campaign: its state, and how many answers it has."""

    name: str
    state: str
    answers: int
    max_answers: int


def overview_of(store: Store) -> list[Overview]:
    """An overview of all campaigns, oldest first."""
    with store.database.snapshot() as connection:
        totals = totals_by_campaign(connection)
        rows = all_campaigns(connection)
    return [
        Overview(
            row.name, row.state, totals.get(row.id, (0, 0.0))[0], row.settings_dict["max_answers"]
        )
        for row in rows
    ]
