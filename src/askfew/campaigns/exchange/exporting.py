"""What a campaign has been told, as rows: the long table, crowd-kit's, Label Studio's tasks."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.queries.answers import counted_answers
from askfew.campaigns.db.queries.contents import find_picture
from askfew.campaigns.db.queries.slots import open_cells
from askfew.campaigns.exchange.formats import crowd_kit, label_studio

__all__ = ["LONG_COLUMNS", "crowd_kit_rows", "label_studio_tasks", "long_rows"]

LONG_COLUMNS: dict[str, type] = {
    "item": str,
    "question": str,
    "worker": str,
    "answer": float,
    "seconds": float,
    "cost": float,
    "time": datetime,
}

LongRow = tuple[str, str, str, float, float | None, float | None, datetime]


def long_rows(campaign: Campaign) -> list[LongRow]:
    """Every answer of a closed step, in the order of steps and slots: LONG_COLUMNS. Times are UTC.

    Not in order of arrival: where people take longer to say no, the first answers would be biased,
    for whoever takes only so many of a cell.
    """
    with campaign.database.snapshot() as connection:
        return [
            (
                campaign.items[row.item].id,
                campaign.questions[row.question].id,
                row.worker,
                row.value,
                row.seconds,
                row.cost,
                datetime.fromtimestamp(row.time, UTC),
            )
            for row in counted_answers(connection, campaign.id)
        ]


def crowd_kit_rows(campaign: Campaign) -> list[tuple[str, str, float]]:
    """The same for crowd-kit: task, worker, label."""
    return [
        (crowd_kit.join_task(item, question), worker, answer)
        for item, question, worker, answer, *_ in long_rows(campaign)
    ]


def label_studio_tasks(campaign: Campaign) -> list[dict[str, Any]]:
    """One task an open slot: a question that waits for three answers is three tasks.

    What workers hold just now is left out.
    """
    with campaign.database.snapshot() as connection:
        waiting = open_cells(connection, campaign.id)
        shown = {campaign.items[item].image for item, _ in waiting} - {None}
        pictures = {digest: find_picture(connection, str(digest)) for digest in shown}
    tasks = []
    for number, asked in waiting:
        item, question = campaign.items[number], campaign.questions[asked]
        picture = pictures[item.image] if item.image else None
        text = item.text or ("" if picture else item.id)
        tasks.append(label_studio.task(item.id, text, picture, question.id, question.text))
    return tasks
