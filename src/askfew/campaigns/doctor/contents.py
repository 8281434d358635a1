"""What a campaign is about must be such as could have been created: every row, every text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from sqlalchemy import Connection, Table, and_, select

from askfew.campaigns.contents import check_items, check_questions
from askfew.campaigns.db.schema import (
    answers,
    campaigns,
    images,
    items,
    questions,
    refusals,
    slots,
    steps,
    workers,
)
from askfew.campaigns.doctor.rows import check_row
from askfew.campaigns.folder.pictures import check_picture
from askfew.campaigns.forecast import CrowdForecast
from askfew.campaigns.records import Item, Question
from askfew.campaigns.settings import Settings
from askfew.errors import InvalidInput

__all__ = ["about_problems", "content_problems", "row_problems"]

_AT_ONCE = 5000
_ENOUGH = 20
"""Rows that are named before the rest is left out."""


def row_problems(connection: Connection, campaign: int) -> list[str]:
    """Every field of every row is of its type and within its bounds."""
    return list(islice(_row_problems(connection, campaign), _ENOUGH))


def _row_problems(connection: Connection, campaign: int) -> Iterator[str]:
    for table in (campaigns, items, questions, workers, steps, slots, answers, refusals):
        names = tuple(column.name for column in table.columns)
        number = table.c.id if table is campaigns else table.c.campaign
        rows = connection.execute(
            select(table).where(number == campaign).execution_options(yield_per=_AT_ONCE)
        )
        for row in rows.mappings():
            try:
                check_row(table, dict(row), names)
            except InvalidInput as error:
                yield f"{error} ({_which(table, row)})"


def _which(table: Table, row: Any) -> str:
    return " ".join(f"{key.name} {row[key.name]!r}"[:80] for key in table.primary_key) or "a row"


def about_problems(row: Any, settings: Settings) -> Iterator[str]:
    """The campaign's own row: its name, how it was made, what was forecast."""
    if settings.name != row.name:
        yield f"its settings are of another campaign ({settings.name!r})"
    if not isinstance(json.loads(row.recipe), dict):
        yield "its recipe is no table"
    if row.forecast is not None:
        try:
            CrowdForecast.from_json(row.forecast)
        except InvalidInput as error:
            yield f"its forecast cannot be read: {error}"
    over = row.state in ("ended", "closed")
    if row.outcome is not None and not over:
        yield f"it has a result, but is {row.state}"
    if row.closing is not None and not over:
        yield f"it has the plans of its end, but is {row.state}"


def content_problems(connection: Connection, campaign: int) -> Iterator[str]:
    """Items and questions are numbered from 0, and such as a folder's would be taken."""
    here = connection.execute(
        select(items.c.number, items.c.id, items.c.text, items.c.image)
        .where(items.c.campaign == campaign)
        .order_by(items.c.number)
    ).all()
    asked = connection.execute(
        select(questions.c.number, questions.c.id, questions.c.text)
        .where(questions.c.campaign == campaign)
        .order_by(questions.c.number)
    ).all()
    for what, rows in (("items", here), ("questions", asked)):
        if [row.number for row in rows] != list(range(len(rows))):
            yield f"its {what} are not numbered 0 to {len(rows) - 1}"
    try:
        check_items([Item(row.id, row.text) for row in here])
        check_questions([Question(row.id, row.text) for row in asked])
        for digest in {row.image for row in here} - {None}:
            content = connection.execute(
                select(images.c.content).where(images.c.hash == digest)
            ).scalar_one_or_none()
            check_picture(content or b"", digest)
    except InvalidInput as error:
        yield str(error)
    lost = connection.execute(
        select(refusals.c.step, refusals.c.slot)
        .outerjoin(
            slots,
            and_(
                slots.c.campaign == refusals.c.campaign,
                slots.c.step == refusals.c.step,
                slots.c.number == refusals.c.slot,
            ),
        )
        .where(refusals.c.campaign == campaign, slots.c.number.is_(None))
    )
    for row in lost:
        yield f"a refusal is about slot {row.step}-{row.slot}, which is not there"
