"""Warnings about workers who repeat themselves. It reads answers; ``askfew.checks`` judges them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from askfew.answer_warnings import ALONE, REPEATS, AnswerWarning, sentence
from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.database import Connection
from askfew.campaigns.db.queries.answers import is_alone, repeated_answers
from askfew.campaigns.db.queries.campaigns import outcome_of
from askfew.campaigns.db.queries.steps import newest_step
from askfew.checks.independence import Repeats, judge_repeats

__all__ = [
    "qualified",
    "repeats_of",
    "warnings_about",
    "warnings_of",
]


def qualified(certificate: str | None, warnings: Sequence[AnswerWarning]) -> str | None:
    """The certificate's text with the warnings against it put first.

    >>> alone = AnswerWarning(ALONE, {"worker": "ann", "repeats": 7, "differ": 0.0})
    >>> qualified("All right.", [alone]).splitlines()
    ['WARNING: all answers are by worker ann, ... by hand.', 'All right.']
    """
    if certificate is None:
        return None
    return "\n".join([*(f"WARNING: {sentence(each)}." for each in warnings), certificate])


def warnings_about(campaign: Campaign, worker: str | None) -> tuple[AnswerWarning, ...]:
    """The warnings about one worker, or about all, by the labels known now."""
    with campaign.database.snapshot() as connection:
        outcome, newest = outcome_of(connection, campaign.id), newest_step(connection, campaign.id)
        labels: Sequence[int] = () if outcome is None else outcome.labels
        if outcome is None and newest is not None and newest.known is not None:
            labels = newest.known.labels.tolist()
        return warnings_of(connection, campaign, labels, worker)


def warnings_of(
    connection: Connection, campaign: Campaign, labels: Sequence[int], worker: str | None = None
) -> tuple[AnswerWarning, ...]:
    """The warnings about workers (or one worker) who repeat themselves, given these labels.

    Also a warning about a worker who gave all answers alone and hardly contradicted itself: a test
    cannot tell a repeating worker from a consistent one then.
    """
    # With one answer per cell nobody repeats anything.
    if campaign.settings.answers_per_worker_and_cell == 1:
        return ()
    # Other methods than rule assume that the items of a group are alike.
    alike = campaign.settings.method != "rule"
    repeats = repeats_of(connection, campaign.id, labels, worker, alike=alike)
    promise = "groups" if alike else "rule"
    flagged = [_repeating(name, each, promise) for name, each in repeats.items() if each.suspect]
    if not flagged and labels and min(labels) >= 0:
        flagged = [
            AnswerWarning(
                ALONE,
                {"worker": name, "repeats": each.repeats, "differ": round(each.differ, 4)},
            )
            for name, each in repeats.items()
            if each.quiet and is_alone(connection, campaign.id, name)
        ]
    return tuple(flagged)


def _repeating(worker: str, repeats: Repeats, promise: str) -> AnswerWarning:
    numbers = {
        "repeats": repeats.varied,
        "differ": round(repeats.varied_differ, 4),
        "usual": round(repeats.usual, 4),
    }
    return AnswerWarning(REPEATS, {"worker": worker, **numbers, "promise": promise})


def repeats_of(
    connection: Connection,
    campaign: int,
    labels: Sequence[int],
    worker: str | None = None,
    *,
    alike: bool = True,
) -> dict[str, Repeats]:
    """The verdict on every worker (or one) who answered some cell twice, from items with a label.

    ``alike``: whether the method assumes that the items of a group are alike.
    """
    rows = repeated_answers(connection, campaign, worker)
    blocks: dict[str, dict[tuple[int, int], list[list[float]]]] = {}
    for (name, item, question), told in groupby(rows, key=lambda row: row[:3]):
        if labels and labels[item] >= 0:
            block = blocks.setdefault(name, {}).setdefault((labels[item], question), [])
            block.append([value for *_, value in told])
    return {name: judge_repeats(each.values(), alike=alike) for name, each in blocks.items()}
