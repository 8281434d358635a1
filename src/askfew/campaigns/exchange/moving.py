"""A whole campaign out of one store and into another, with the same state.

Leases stay behind: what workers held when the campaign was exported is open in the other store. But
for what a worker has taken back and not answered again: that stays theirs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, RowMapping, Table, insert, select
from sqlalchemy.exc import DataError, IntegrityError

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.schema import (
    SlotState,
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
from askfew.campaigns.doctor.examine import examine
from askfew.campaigns.doctor.rows import check_row
from askfew.campaigns.exchange.formats.campaign_file import CampaignReader, CampaignWriter
from askfew.campaigns.exchange.formats.whole_file import whole_file
from askfew.campaigns.folder.pictures import LARGEST, check_picture
from askfew.campaigns.sentences import located, shown
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store, insert_image
from askfew.errors import InvalidInput

__all__ = ["export_campaign", "import_campaign"]

_TABLES = (items, questions, workers, steps, slots, answers, refusals)
"""In an order in which they can be inserted."""
_KEPT = ("settings", "recipe", "state", "outcome", "created", "forecast", "closing")
_PICTURES = "images/"
_ROWS_AT_ONCE = 2000


def export_campaign(campaign: Campaign, path: Path) -> None:
    """Write the campaign, as it stands at one moment, to a file."""
    with whole_file(path) as beside, campaign.database.snapshot() as connection:
        writer = CampaignWriter(beside)
        about = connection.execute(select(campaigns).where(campaigns.c.id == campaign.id))
        row = about.mappings().one()
        kept = {key: row[key] for key in _KEPT}
        writer.add("campaign.json", [json.dumps(_in_text(kept), indent=2).encode()])
        for table in _TABLES:
            writer.add_rows(table.name, _rows(connection, table, campaign.id))
        pictures = select(images).where(
            images.c.hash.in_(select(items.c.image).where(items.c.campaign == campaign.id))
        )
        for picture in connection.execute(pictures.order_by(images.c.hash)):
            writer.add(f"{_PICTURES}{picture.hash}", [picture.content])
        writer.finish()


def import_campaign(store: Store, path: Path, name: str | None = None) -> Campaign:
    """Read a campaign from a file into a store, under its own or another name.

    All of it or nothing: the file must be undamaged, every field as the schema and the rules in
    ``doctor/rows.py`` have it, and the campaign sound.
    """
    with CampaignReader(path) as reader:
        with located(str(path)):
            about, settings = _about(reader.document("campaign.json"), name)
        with store.database.write() as connection:
            _check_new(connection, settings.name)
            _insert_pictures(connection, reader, path)
            campaign = connection.execute(
                insert(campaigns).values(**about, imported=store.clock()).returning(campaigns.c.id)
            ).scalar_one()
            for table in _TABLES:
                _insert_rows(connection, table, campaign, _checked_rows(reader, table, path))
            verdict = examine(connection, campaign)
            if verdict.problems:
                raise InvalidInput(
                    f"{path}: a campaign must be sound to be imported",
                    verdict.problems[0],
                    "see what 'askfew doctor' says where it was exported",
                )
    return store.campaign(settings.name)


def _about(document: dict[str, Any], name: str | None) -> tuple[dict[str, Any], Settings]:
    """The campaign's own row, under its own or another name, and its settings."""
    document = _from_text(document)
    check_row(campaigns, document, _KEPT)
    try:
        written = json.loads(document["settings"])
        if not isinstance(written, dict):
            raise TypeError("it is no table")
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidInput("settings must be a table in JSON", str(error), "export again") from None
    settings = Settings.from_dict(written if name is None else {**written, "name": name})
    kept = {**document, "settings": json.dumps(settings.to_dict()), "name": settings.name}
    return kept, settings


def _insert_pictures(connection: Connection, reader: CampaignReader, path: Path) -> None:
    for part in reader.parts:
        if not part.startswith(_PICTURES):
            continue
        content = reader.content(part, LARGEST)
        with located(str(path)):
            check_picture(content, part)
        if insert_image(connection, content) != part.removeprefix(_PICTURES):
            raise InvalidInput(
                f"{path}: a picture must have its digest for a name", shown(part), "export again"
            )


def _checked_rows(reader: CampaignReader, table: Table, path: Path) -> Iterator[dict[str, Any]]:
    columns = tuple(column.name for column in table.columns if column.name != "campaign")
    for number, row in enumerate(reader.rows(table.name), 1):
        with located(f"{path}: {table.name}.jsonl line {number}"):
            check_row(table, row, columns)
        yield row


def _in_text(kept: dict[str, Any]) -> dict[str, Any]:
    """Plans are JSON as they are."""
    closing = kept["closing"]
    return {**kept, "closing": None if closing is None else closing.decode()}


def _from_text(about: dict[str, Any]) -> dict[str, Any]:
    closing = about.get("closing")
    if isinstance(closing, str):  # whatever it says: it is read, and refused, as plans are
        return {**about, "closing": closing.encode(errors="surrogatepass")}
    return about


def _rows(connection: Connection, table: Table, campaign: int) -> Iterator[dict[str, Any]]:
    here = select(table).where(table.c.campaign == campaign)
    ordered = here.order_by(*(table.c[key] for key in _order(table)))
    found = connection.execute(ordered.execution_options(yield_per=_ROWS_AT_ONCE))
    return (_portable(table, row) for row in found.mappings())


def _order(table: Table) -> tuple[str, ...]:
    if table is refusals:
        return ("time", "step", "slot", "worker")
    return tuple(column.name for column in table.primary_key)


def _portable(table: Table, row: RowMapping) -> dict[str, Any]:
    """Without what only this store knows: its number for the campaign, its leases."""
    own = {key: value for key, value in row.items() if key != "campaign"}
    if table is answers:
        own["id"] = _after_number(own["id"])
    elif table is slots and own["value"] is not None:  # answered, or being answered again
        own["lease"] = _after_number(own["lease"])
    elif table is slots:
        empty = own["state"] == SlotState.EMPTY
        own["state"] = int(SlotState.EMPTY if empty else SlotState.OPEN)
        own.update(worker=None, lease=None, expires=None)
    return own


def _after_number(identity: str) -> str:
    """An id begins with the campaign's number, which will be another one."""
    return identity.partition("-")[2]


def _insert_rows(
    connection: Connection, table: Table, campaign: int, rows: Iterator[dict[str, Any]]
) -> None:
    while chunk := list(islice(rows, _ROWS_AT_ONCE)):
        for row in chunk:
            row["campaign"] = campaign
            for key in ("id",) if table is answers else ("lease",) if table is slots else ():
                row[key] = None if row[key] is None else f"{campaign}-{row[key]}"
        try:
            connection.execute(insert(table), chunk)
        except (IntegrityError, DataError) as error:
            raise InvalidInput(
                f"the rows of {table.name} must fit together",
                str(error.orig).strip().splitlines()[0],
                "export it again",
            ) from error


def _check_new(connection: Connection, name: str) -> None:
    there = select(campaigns.c.id).where(campaigns.c.name == name)
    if connection.execute(there).one_or_none() is not None:
        raise InvalidInput(
            "a campaign's name must be new in its store",
            repr(name),
            "import it under another name, or into another store",
        )
