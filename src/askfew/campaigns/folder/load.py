"""Read a campaign's folder: campaign.toml, items.csv, questions.csv, and the pictures they name."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from askfew.algorithms import start
from askfew.campaigns.contents import check_id
from askfew.campaigns.folder.pictures import read_picture
from askfew.campaigns.folder.settings_file import parse_settings, place_of
from askfew.campaigns.folder.table_file import Row, read_table
from askfew.campaigns.folder.text_file import read_text
from askfew.campaigns.records import CampaignFolder, Item, Question
from askfew.campaigns.sentences import located, shown
from askfew.campaigns.settings import Settings
from askfew.driver import AskTell
from askfew.errors import InvalidInput
from askfew.records import Problem

__all__ = ["read_folder", "read_items", "read_questions"]

_MOST_SETTINGS = 64_000
"""Bytes of campaign.toml; guidelines are short, and the parser takes its time with odd text."""


def read_folder(path: str | Path) -> CampaignFolder:
    """The campaign in a folder, or InvalidInput whose sentence begins with file and line."""
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
    if settings.options:
        with located(place_of(file, text, "campaign", "options")):
            _try_options(settings, len(campaign.items), len(campaign.questions))
    return campaign


def read_items(path: Path, picture: Callable[[str], bytes]) -> tuple[Item, ...]:
    """The items of a CSV file; ``picture`` gets the bytes of those that it names."""
    rows = read_table(path, ("id", "text"), ("image",))
    _check_ids(path, rows)
    _check_enough(path, rows, 2, "two items")
    items = []
    for line, fields in rows:
        name, image = fields["image"], None
        if name:
            with located(f"{path} line {line}"):
                image = picture(name)
        items.append(Item(fields["id"], fields["text"], image, name))
    return tuple(items)


def read_questions(path: Path) -> tuple[Question, ...]:
    """The questions of a CSV file."""
    rows = read_table(path, ("id", "text"))
    _check_ids(path, rows)
    _check_enough(path, rows, 1, "one question")
    for line, fields in rows:
        if not fields["text"]:
            raise InvalidInput(
                f"{path} line {line}: a question must have a text", "none", "write what is asked"
            )
    return tuple(Question(fields["id"], fields["text"]) for _, fields in rows)


def _check_ids(path: Path, rows: list[Row]) -> None:
    first: dict[str, int] = {}
    for line, fields in rows:
        name = fields["id"]
        with located(f"{path} line {line}"):
            check_id(name)
        if name in first:
            raise InvalidInput(
                f"{path} line {line}: an id must be used once",
                f"{shown(name)} again, first used on line {first[name]}",
                "change one of the two",
            )
        first[name] = line


def _check_enough(path: Path, rows: list[Row], least: int, words: str) -> None:
    if len(rows) < least:
        raise InvalidInput(
            f"{path} line {rows[-1][0] if rows else 1}: there must be at least {words}",
            len(rows),
            "add rows below the first, which names the columns",
        )


def _try_options(settings: Settings, items: int, questions: int) -> None:
    """Ask for the first Batch: only the method itself knows which values it can use."""
    problem, rng = Problem(items, questions, settings.answers), np.random.default_rng(settings.seed)
    AskTell(start(settings.method, problem, rng, delta=settings.delta, **settings.options), problem)
