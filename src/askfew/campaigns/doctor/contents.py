"""What a campaign is about must be such as could have been created: every row, every text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from askfew.campaigns.contents import check_items, check_questions
from askfew.campaigns.db.database import Connection
from askfew.campaigns.db.queries.campaigns import CampaignRow
from askfew.campaigns.db.queries.contents import find_picture, items_of, questions_of
from askfew.campaigns.db.queries.soundness import refusals_without_slot, rows_about_nothing
from askfew.campaigns.db.queries.tables import CONTENT_TABLES, columns_of, keys_of, rows_of
from askfew.campaigns.db.row_rules import check_row
from askfew.campaigns.folder.pictures import check_picture
from askfew.campaigns.forecast import CrowdForecast
from askfew.campaigns.naming import read_names
from askfew.campaigns.records import Item, Question
from askfew.campaigns.settings import Settings
from askfew.errors import InvalidInput

__all__ = ["about_problems", "content_problems", "row_problems"]

_ENOUGH = 20
"""Rows that are named before the rest is left out."""


def row_problems(connection: Connection, campaign: int) -> list[str]:
    """Every field of every row is of its type and within its bounds."""
    return list(islice(_row_problems(connection, campaign), _ENOUGH))


def _row_problems(connection: Connection, campaign: int) -> Iterator[str]:
    for table in ("campaigns", *CONTENT_TABLES):
        for row in rows_of(connection, table, campaign):
            try:
                check_row(table, row, columns_of(table))
            except InvalidInput as error:
                yield f"{error} ({_which(table, row)})"


def _which(table: str, row: dict[str, Any]) -> str:
    return " ".join(f"{key} {row[key]!r}"[:80] for key in keys_of(table)) or "a row"


def about_problems(row: CampaignRow, settings: Settings) -> Iterator[str]:
    """The campaign's own row: its name, how it was made, what was forecast."""
    if settings.name != row.name:
        yield f"its settings are of another campaign ({settings.name!r})"
    try:
        read_names(row.names)
    except InvalidInput as error:
        yield f"its groups' names cannot be read: {error}"
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
    here, asked = items_of(connection, campaign), questions_of(connection, campaign)
    for what, rows in (("items", here), ("questions", asked)):
        if [row.number for row in rows] != list(range(len(rows))):
            yield f"its {what} are not numbered 0 to {len(rows) - 1}"
    try:
        check_items([Item(row.id, row.text) for row in here])
        check_questions([Question(row.id, row.text) for row in asked])
        for digest in {row.image for row in here} - {None}:
            picture = find_picture(connection, str(digest))
            check_picture(b"" if picture is None else picture.content, str(digest))
    except InvalidInput as error:
        yield str(error)
    yield from rows_about_nothing(connection, campaign, len(here), len(asked))
    for step, slot in refusals_without_slot(connection, campaign):
        yield f"a refusal is about slot {step}-{slot}, which is not there"
