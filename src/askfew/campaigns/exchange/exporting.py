"""Exporting answers, open questions or a whole campaign, in every format."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.queries.answers import counted_answers
from askfew.campaigns.db.queries.contents import find_picture
from askfew.campaigns.db.queries.slots import open_cells
from askfew.campaigns.exchange import crowd_kit, label_studio
from askfew.campaigns.exchange.files import (
    csv_text,
    write_parquet,
    write_whole,
)
from askfew.campaigns.exchange.moving import export_campaign
from askfew.errors import InvalidInput

__all__ = [
    "FORMATS",
    "LONG_COLUMNS",
    "Format",
    "crowd_kit_rows",
    "label_studio_tasks",
    "long_rows",
    "text_of",
    "write_export",
]

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
    """Every answer of a closed step as LONG_COLUMNS, by step and slot. Times are UTC.

    Not in order of arrival: if people take longer to say no, a reader who takes only the first few
    answers of each cell would get too many yes.
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
    """The same answers for crowd-kit: task, worker, label."""
    return [
        (crowd_kit.join_task(item, question), worker, answer)
        for item, question, worker, answer, *_ in long_rows(campaign)
    ]


def label_studio_tasks(campaign: Campaign) -> list[dict[str, Any]]:
    """One task for each open slot: a cell that waits for three answers gives three tasks.

    Leased slots are left out.
    """
    with campaign.database.snapshot() as connection:
        # A leased slot has its own worker: a second answer from Label Studio would find it taken.
        waiting = open_cells(connection, campaign.id)
        shown = {campaign.items[item].image for item, _ in waiting} - {None}
        pictures = {digest: find_picture(connection, str(digest)) for digest in shown}
    tasks = []
    for number, asked in waiting:
        item, question = campaign.items[number], campaign.questions[asked]
        picture = pictures[item.image] if item.image else None
        text = item.text or ("" if picture else item.id)  # something must be shown
        tasks.append(label_studio.task(item.id, text, picture, question.id, question.text))
    return tasks


def _csv(campaign: Campaign) -> Written:
    answers = long_rows(campaign)
    return csv_text(LONG_COLUMNS, answers), len(answers)


def _crowd_kit(campaign: Campaign) -> Written:
    labels = crowd_kit_rows(campaign)
    return csv_text(crowd_kit.COLUMNS, labels), len(labels)


def _label_studio(campaign: Campaign) -> Written:
    tasks = label_studio_tasks(campaign)
    return json.dumps(tasks, indent=2) + "\n", len(tasks)


def _interface(campaign: Campaign) -> Written:
    settings, pictures = campaign.settings, bool(campaign.pictures)
    return label_studio.interface(settings.answers, settings.guidelines, pictures=pictures), None


def _rule(campaign: Campaign) -> Written:
    """The rule of a campaign that has ended.

    Only then does the rule name the answers that taught it, which must not be reused with it.
    """
    outcome = campaign.outcome()
    if outcome is None or outcome.rule is None:
        raise InvalidInput(
            "a campaign must have ended with a rule",
            f"{campaign.settings.name!r}, {campaign.state}, which has none",
            "wait for its end, or see what 'askfew result' says",
        )
    return json.dumps(outcome.rule, indent=1) + "\n", None


def _parquet(campaign: Campaign, out: Path) -> int:
    answers = long_rows(campaign)
    write_parquet(out, LONG_COLUMNS, answers)
    return len(answers)


Written = tuple[str, int | None]
"""A text, and its number of rows; None if it has no rows."""


@dataclass(frozen=True)
class Format:
    """A format: the ending of its files, and a function that gives the text or writes the file."""

    ending: str
    media_type: str
    about: str
    text: Callable[[Campaign], Written] | None = None
    write: Callable[[Campaign, Path], int | None] | None = None


FORMATS = {
    "csv": Format(".csv", "text/csv", "one row per answer", _csv),
    "parquet": Format(
        ".parquet", "application/vnd.apache.parquet", "the same as Parquet", write=_parquet
    ),
    "crowd-kit": Format(".csv", "text/csv", "task, worker, label", _crowd_kit),
    "label-studio": Format(".json", "application/json", "open questions as tasks", _label_studio),
    "label-studio-interface": Format(
        ".xml", "application/xml", "how to show those tasks", _interface
    ),
    "rule": Format(".json", "application/json", "what was learnt, for new items", _rule),
    "campaign": Format(
        ".askfew",
        "application/octet-stream",
        "the whole campaign, for another store",
        write=export_campaign,
    ),
}
"""Of several formats with one ending, a file name with that ending means the first."""


def write_export(campaign: Campaign, kind: str, out: Path) -> int | None:
    """Write one of FORMATS to a file; returns the number of rows, None if it has no rows."""
    write = FORMATS[kind].write
    if write is not None:
        return write(campaign, out)
    text, rows = text_of(campaign, kind)
    write_whole(out, text.encode())
    return rows


def text_of(campaign: Campaign, kind: str) -> Written:
    """The text and its number of rows, for a format that is text."""
    text = FORMATS[kind].text
    assert text is not None, f"{kind} is no text"
    return text(campaign)
