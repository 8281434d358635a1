"""Reading a campaign's folder: campaign.toml, items.csv, questions.csv and pictures."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from askfew.campaigns.contents import check_group, check_id
from askfew.campaigns.folder.pictures import read_picture
from askfew.campaigns.folder.settings_file import parse_settings, place_of
from askfew.campaigns.folder.table_file import Row, read_table, read_text
from askfew.campaigns.inputs import Inputs, what_is_wrong
from askfew.campaigns.records import CampaignFolder, Item, Question
from askfew.campaigns.sentences import located, shown
from askfew.errors import InvalidInput

__all__ = ["read_folder", "read_items", "read_questions"]

_YES_OR_NO = {"yes": True, "no": False, "": False}
_MOST_SETTINGS = 64_000
"""The most bytes of campaign.toml: guidelines are short, and the parser is slow on odd texts."""


def read_folder(path: str | Path) -> CampaignFolder:
    """The campaign in a folder; InvalidInput begins with file and line."""
    folder = Path(path)
    if not os.path.isdir(folder):
        raise InvalidInput(
            f"{folder}: this must be a campaign's folder",
            "a file" if os.path.exists(folder) else "none",
            "'askfew new' creates one",
        )
    file = folder / "campaign.toml"
    text = read_text(file, most=_MOST_SETTINGS)
    settings = parse_settings(file, text)
    campaign = CampaignFolder(
        settings,
        read_items(folder / "items.csv", partial(read_picture, folder)),
        read_questions(folder / "questions.csv"),
    )
    wrong = what_is_wrong(settings, Inputs.of(campaign.items, campaign.questions))
    if wrong is not None:
        name, error = wrong
        tables = {"items": folder / "items.csv", "questions": folder / "questions.csv"}
        # Anchors and defining questions are in the tables, every other setting in campaign.toml.
        with located(str(tables.get(name) or place_of(file, text, "campaign", name))):
            raise error
    return campaign


def read_items(path: Path, picture: Callable[[str], bytes]) -> tuple[Item, ...]:
    """The items of a CSV file; ``picture`` returns the bytes of a picture by its name."""
    rows = read_table(path, ("id", "text"), ("image", "group"))
    _check_ids(path, rows)
    _check_enough(path, rows, 2, "two items")
    items = []
    for line, fields in rows:
        name, image = fields["image"], None
        if name:
            with located(f"{path} line {line}"):
                image = picture(name)
        with located(f"{path} line {line}"):
            check_group(fields["group"])
        items.append(Item(fields["id"], fields["text"], image, name, fields["group"]))
    return tuple(items)


def read_questions(path: Path) -> tuple[Question, ...]:
    """The questions of a CSV file."""
    rows = read_table(path, ("id", "text"), ("defines",))
    _check_ids(path, rows)
    _check_enough(path, rows, 1, "one question")
    for line, fields in rows:
        if not fields["text"]:
            raise InvalidInput(
                f"{path} line {line}: a question must have a text", "none", "write what is asked"
            )
        if fields["defines"].lower() not in _YES_OR_NO:
            raise InvalidInput(
                f"{path} line {line}: defines must be yes, no or empty",
                shown(fields["defines"]),
                "write yes if the question defines the split",
            )
    return tuple(
        Question(fields["id"], fields["text"], _YES_OR_NO[fields["defines"].lower()])
        for _, fields in rows
    )


def _check_ids(path: Path, rows: list[Row]) -> None:
    first: dict[str, Row] = {}
    for line, fields in rows:
        name = fields["id"]
        with located(f"{path} line {line}"):
            check_id(name)
        if name in first:
            _check_one_group(path, first[name], (line, fields))
            raise InvalidInput(
                f"{path} line {line}: an id must be used once",
                f"{shown(name)} again, first used on line {first[name][0]}",
                "change one of the two",
            )
        first[name] = line, fields


def _check_one_group(path: Path, first: Row, again: Row) -> None:
    """Refuse an item that comes twice with different groups, by a sentence of its own."""
    (before, one), (line, other) = first, again
    groups = one.get("group", ""), other.get("group", "")
    if all(groups) and groups[0] != groups[1]:
        raise InvalidInput(
            f"{path} line {line}: an item must be in one group",
            f"{shown(one['id'])} in {shown(groups[1])} and, on line {before}, in"
            f" {shown(groups[0])}",
            "keep the one that is right",
        )


def _check_enough(path: Path, rows: list[Row], least: int, words: str) -> None:
    if len(rows) < least:
        raise InvalidInput(
            f"{path} line {rows[-1][0] if rows else 1}: there must be at least {words}",
            len(rows),
            "add rows below the first, which names the columns",
        )
