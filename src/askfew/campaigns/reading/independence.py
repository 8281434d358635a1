"""Do a campaign's workers repeat themselves? Reads the answers; ``askfew.checks`` judges them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby

from sqlalchemy import Connection, func, select

from askfew.answer_warnings import ALONE, REPEATS, AnswerWarning, sentence
from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.schema import answers, campaigns
from askfew.campaigns.steps.counted import counted
from askfew.campaigns.steps.log import newest_step
from askfew.checks.independence import Repeats, judge_repeats

__all__ = [
    "qualified",
    "repeats_of",
    "warnings_about",
    "warnings_of",
]


def qualified(certificate: str | None, warnings: Sequence[AnswerWarning]) -> str | None:
    """The certificate's text as it may be shown: what speaks against it comes first.

    >>> alone = AnswerWarning(ALONE, {"worker": "ann", "repeats": 7, "differ": 0.0})
    >>> qualified("All right.", [alone]).splitlines()
    ['WARNING: all answers are by worker ann, ... by hand.', 'All right.']
    """
    if certificate is None:
        return None
    return "\n".join([*(f"WARNING: {sentence(each)}." for each in warnings), certificate])


def warnings_about(campaign: Campaign, worker: str | None) -> tuple[AnswerWarning, ...]:
    """What is to be said of one worker, or of every one, by what is known now."""
    with campaign.database.snapshot() as connection:
        outcome = connection.execute(
            select(campaigns.c.outcome).where(campaigns.c.id == campaign.id)
        ).scalar_one()
        newest = newest_step(connection, campaign.id)
        found = outcome or (newest.known if newest is not None else None)
        labels = (json.loads(found).get("labels") or []) if found else []
        return warnings_of(connection, campaign, labels, worker)


def warnings_of(
    connection: Connection, campaign: Campaign, labels: Sequence[int], worker: str | None = None
) -> tuple[AnswerWarning, ...]:
    """One about every worker (or that one) who is flagged, under these labels; and about one who
    decided them all alone and hardly contradicted itself, which no test can see through.
    """
    if campaign.settings.answers_per_worker_and_cell == 1:
        return ()
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
            if each.quiet and _is_alone(connection, campaign.id, name)
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
    """The verdict on every worker, or one, who answered some cell twice, by items with a group.

    ``alike`` says that items of a group are assumed to be.
    """
    here = [counted(campaign)]
    if worker is not None:
        here.append(answers.c.worker == worker)
    cell = (answers.c.worker, answers.c.item, answers.c.question)
    repeated = select(answers.c.worker).where(*here).group_by(*cell).having(func.count() > 1)
    rows = connection.execute(
        select(*cell, answers.c.value)
        .where(*here, answers.c.worker.in_(repeated))
        .order_by(*cell, answers.c.step, answers.c.slot)
    )
    blocks: dict[str, dict[tuple[int, int], list[list[float]]]] = {}
    for (name, item, question), told in groupby(rows, key=lambda row: tuple(row[:3])):
        if labels and labels[item] >= 0:
            block = blocks.setdefault(name, {}).setdefault((labels[item], question), [])
            block.append([row.value for row in told])
    return {name: judge_repeats(each.values(), alike=alike) for name, each in blocks.items()}


def _is_alone(connection: Connection, campaign: int, worker: str) -> bool:
    others = select(answers.c.worker).where(
        answers.c.campaign == campaign,
        answers.c.retracted.is_(False),
        answers.c.worker != worker,
    )
    return connection.execute(others.limit(1)).first() is None
