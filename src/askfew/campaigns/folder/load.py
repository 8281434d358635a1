"""Reading a campaign's folder: campaign.toml, items.csv, questions.csv and pictures."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path, PurePosixPath, PureWindowsPath

from askfew.campaigns.folder.settings_file import parse_settings, place_of
from askfew.campaigns.folder.table_file import Row, read_table, read_text
from askfew.campaigns.inputs import Inputs, what_is_wrong
from askfew.campaigns.records import (
    LARGEST_PICTURE,
    CampaignFolder,
    Item,
    Question,
    check_group,
    check_id,
    check_picture,
)
from askfew.errors import InvalidInput, located, shown

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
        # An item may be shown by its id; a question cannot be asked by one.
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
            # Two groups for one item are worse than a repeated line, and have their own sentence.
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


def read_picture(folder: Path, name: str) -> bytes:
    """The bytes of a picture, by its path relative to the folder; it must be inside the folder."""
    # By the rules of both systems: a folder may be written on one and read on the other.
    for path in (PurePosixPath(name), PureWindowsPath(name)):
        if path.anchor or ".." in path.parts:
            raise _outside(name)
    try:
        data = _picture_bytes(os.path.realpath(folder, strict=True), folder / name)
    except OSError as error:
        raise InvalidInput(
            "image must be a file in the folder",
            f"{shown(name)} ({error.strerror})",
            "copy it there, or fix the name",
        ) from None
    if data is None:
        raise _outside(name)
    check_picture(data, name)
    return data


def _picture_bytes(folder: str, path: Path) -> bytes | None:
    """The bytes of the file, with symbolic links followed; None if it is outside the folder."""
    # A link inside the folder may lead outside, and a folder may come from a stranger.
    real = Path(os.path.realpath(path, strict=True))
    if not real.is_relative_to(folder):
        return None
    if not real.is_file():  # a pipe would block
        raise FileNotFoundError(0, "not a file")
    with real.open("rb") as file:
        # One byte more, so that check_picture sees a larger file.
        return file.read(LARGEST_PICTURE + 1)


def _outside(name: str) -> InvalidInput:
    return InvalidInput(
        "image must be a path inside the folder", shown(name), "copy the picture into the folder"
    )
