"""Moving a whole campaign from one store to another, with the same state.

Leases are not moved: slots that were leased at the export are open in the other store. An exception
is an answer that was taken back and not given again: its slot stays with its worker.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.database import Connection
from askfew.campaigns.db.queries.campaigns import find_campaign, get_campaign, insert_campaign
from askfew.campaigns.db.queries.contents import insert_picture, pictures_of
from askfew.campaigns.db.queries.tables import (
    CONTENT_TABLES,
    check_row,
    columns_of,
    insert_rows,
    rows_of,
)
from askfew.campaigns.doctor.examine import examine
from askfew.campaigns.exchange.campaign_file import CampaignReader, CampaignWriter
from askfew.campaigns.exchange.files import whole_file
from askfew.campaigns.records import LARGEST_PICTURE, check_picture
from askfew.campaigns.settings import Settings
from askfew.campaigns.slots.lease import add_campaign, strip_campaign
from askfew.campaigns.slots.states import SlotState
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput, located, shown

__all__ = ["export_campaign", "import_campaign"]

_KEPT = ("settings", "recipe", "state", "outcome", "created", "forecast", "closing", "names")
_NUMBERED = {"answers": ("id",), "slots": ("lease",), "gold": ("lease",)}
"""Columns with ids that begin with the campaign's number, which differs in another store."""
_PICTURES = "images/"


def export_campaign(campaign: Campaign, path: Path) -> None:
    """Write the campaign to a file, in its state at one moment."""
    with whole_file(path) as beside, campaign.database.snapshot() as connection:
        writer = CampaignWriter(beside)
        row = get_campaign(connection, campaign.id)
        kept = {key: getattr(row, key) for key in _KEPT}
        writer.add("campaign.json", [json.dumps(_in_text(kept), indent=2).encode()])
        for table in CONTENT_TABLES:
            rows = rows_of(connection, table, campaign.id)
            writer.add_rows(table, map(partial(_portable, table), rows))
        for picture in pictures_of(connection, campaign.id):
            writer.add(f"{_PICTURES}{picture.hash}", [picture.content])
        writer.finish()


def import_campaign(store: Store, path: Path, name: str | None = None) -> Campaign:
    """Read a campaign from a file into a store, under its own or another name.

    All of it or nothing: the file must be undamaged, every field must follow the rules in
    ``db/queries/tables.py``, and the doctor must find the campaign sound.
    """
    with CampaignReader(path) as reader:
        with located(str(path)):
            about, settings = _about(reader.document("campaign.json"), name)
        with store.database.write() as connection:
            # Before the long work, and within the same transaction, so that nobody takes the name
            # meanwhile.
            _check_new(connection, settings.name)
            _insert_pictures(connection, reader, path)
            campaign = insert_campaign(connection, **about, imported=store.clock())
            for table in CONTENT_TABLES:
                rows = _checked_rows(reader, table, path)
                insert_rows(connection, table, map(partial(_placed, table, campaign), rows))
            # Before the commit: an unsound campaign is rolled back.
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
    document = {"names": None, **_from_text(document)}  # files of format 2 have no names
    check_row("campaigns", document, _KEPT)
    try:
        written = json.loads(document["settings"])
        if not isinstance(written, dict):
            raise TypeError("it is not a table")
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidInput("settings must be a table in JSON", str(error), "export again") from None
    settings = Settings.from_dict(written if name is None else {**written, "name": name})
    # Written anew: settings from an older version get the later ones, with their defaults.
    kept = {**document, "settings": json.dumps(settings.to_dict()), "name": settings.name}
    return kept, settings


def _insert_pictures(connection: Connection, reader: CampaignReader, path: Path) -> None:
    for part in reader.parts:
        if not part.startswith(_PICTURES):
            continue
        content = reader.content(part, LARGEST_PICTURE)
        with located(str(path)):
            check_picture(content, part)
        # Items refer to pictures by digest: with another name an item would show nothing.
        if insert_picture(connection, content) != part.removeprefix(_PICTURES):
            raise InvalidInput(
                f"{path}: a picture must have its digest for a name", shown(part), "export again"
            )


def _checked_rows(reader: CampaignReader, table: str, path: Path) -> Iterator[dict[str, Any]]:
    columns = tuple(name for name in columns_of(table) if name != "campaign")
    for number, row in enumerate(reader.rows(table), 1):
        with located(f"{path}: {table}.jsonl line {number}"):
            check_row(table, row, columns)
        yield row


def _in_text(kept: dict[str, Any]) -> dict[str, Any]:
    """The row with its plans as text, which they can be because they are JSON."""
    closing = kept["closing"]
    return {**kept, "closing": None if closing is None else closing.decode()}


def _from_text(about: dict[str, Any]) -> dict[str, Any]:
    closing = about.get("closing")
    if isinstance(closing, str):  # any text: the replay refuses it if it has no plans
        return {**about, "closing": closing.encode(errors="surrogatepass")}
    return about


def _portable(table: str, row: dict[str, Any]) -> dict[str, Any]:
    """The row without the campaign's number and without leases, which only this store knows."""
    own = {key: value for key, value in row.items() if key != "campaign"}
    if table == "answers":
        own["id"] = strip_campaign(own["id"])
    # A slot with a value is answered, or its answer was taken back: it keeps its worker and lease.
    elif table == "gold" or (table == "slots" and own["value"] is not None):
        own["lease"] = strip_campaign(own["lease"])
    elif table == "slots":
        # Leased slots are open in the other store, whose workers have not got them.
        empty = own["state"] == SlotState.EMPTY
        own["state"] = int(SlotState.EMPTY if empty else SlotState.OPEN)
        own.update(worker=None, lease=None, expires=None)
    return own


def _placed(table: str, campaign: int, row: dict[str, Any]) -> dict[str, Any]:
    """The inverse of ``_portable``, for the campaign's number in another store."""
    for key in _NUMBERED.get(table, ()):
        row[key] = None if row[key] is None else add_campaign(campaign, row[key])
    return {**row, "campaign": campaign}


def _check_new(connection: Connection, name: str) -> None:
    if find_campaign(connection, name) is not None:
        raise InvalidInput(
            "a campaign's name must be new in its store",
            repr(name),
            "import it under another name, or into another store",
        )
