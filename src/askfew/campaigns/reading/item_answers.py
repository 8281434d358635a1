"""Items with all their answers, of closed steps only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from askfew.answers import AnswerKind, YesNo
from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.database import Connection
from askfew.campaigns.db.queries import answers as told

__all__ = [
    "AnsweredQuestion",
    "Given",
    "ItemAnswers",
    "answers_about",
    "answers_by_item",
]

_Told = tuple[int, str, float, float | None]
"""Question, worker, value, seconds."""


@dataclass(frozen=True)
class Given:
    """One answer, and who gave it."""

    worker: str
    answer: str
    seconds: float | None


@dataclass(frozen=True)
class AnsweredQuestion:
    """A question and the answers to it about the item."""

    text: str
    mean: str
    given: tuple[Given, ...]


@dataclass(frozen=True)
class ItemAnswers:
    """All answers about an item, the most answered question first, and the reasons of skips."""

    questions: tuple[AnsweredQuestion, ...]
    skips: tuple[tuple[str, int], ...]
    """Each reason, and how often it was given."""


def answers_about(campaign: Campaign, item: int) -> ItemAnswers:
    """Read the answers about one item from the store."""
    with campaign.database.read() as connection:
        rows = told.answers_about(connection, campaign.id, item)
        skips = Counter(told.skips_about(connection, campaign.id, item)).most_common()
    return ItemAnswers(_by_question(campaign, rows), tuple(skips))


def answers_by_item(
    connection: Connection, campaign: Campaign
) -> list[tuple[str, tuple[AnsweredQuestion, ...]]]:
    """All answers of closed steps, by the ids of their items."""
    by_item: dict[int, list[_Told]] = {}
    for each in told.counted_answers(connection, campaign.id):
        row = (each.question, each.worker, each.value, each.seconds)
        by_item.setdefault(each.item, []).append(row)
    return [
        (campaign.items[item].id, _by_question(campaign, rows))
        for item, rows in sorted(by_item.items())
    ]


def _by_question(campaign: Campaign, rows: Iterable[_Told]) -> tuple[AnsweredQuestion, ...]:
    """The answers by question, the most answered question first."""
    kind = campaign.settings.answers
    by_question: dict[int, list[tuple[Given, float]]] = {}
    for question, worker, value, seconds in rows:
        given = Given(worker, kind.spoken(value), seconds)
        by_question.setdefault(question, []).append((given, value))
    return tuple(
        AnsweredQuestion(
            campaign.questions[number].text or campaign.questions[number].id,
            _mean(kind, [value for _, value in all_of_it]),
            tuple(given for given, _ in all_of_it),
        )
        for number, all_of_it in sorted(by_question.items(), key=lambda each: -len(each[1]))
    )


def _mean(kind: AnswerKind, values: list[float]) -> str:
    if isinstance(kind, YesNo):
        return f"{sum(values):.0f} of {len(values)} yes"
    return f"mean {sum(values) / len(values):.3g} of {len(values)}"
