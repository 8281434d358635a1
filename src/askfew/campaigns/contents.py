"""Checks of items and questions: every store must hold them, every worker must see them."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from askfew.campaigns.folder.pictures import check_picture
from askfew.campaigns.records import Item, Question
from askfew.campaigns.sentences import located, shown
from askfew.campaigns.settings import LONGEST_TEXT, is_storable
from askfew.errors import InvalidInput

__all__ = [
    "check_contents",
    "check_group",
    "check_id",
    "check_items",
    "check_name",
    "check_questions",
    "check_text",
]

_LONGEST_ID = 200
"""Characters. A round number; ids stand in tables, files and addresses."""


def check_contents(items: Sequence[Item], questions: Sequence[Question]) -> None:
    """Refuse items and questions that a campaign's folder would be refused for.

    >>> check_contents([Item("a"), Item("b")], [Question("q", "")])
    Traceback (most recent call last):
    askfew.errors.InvalidInput: question 1: a question must have a text, got none: write what ...
    """
    check_items(items)
    check_questions(questions)


def check_items(items: Sequence[Item]) -> None:
    """Refuse items that a campaign's folder would be refused for."""
    if len(items) < 2:
        raise InvalidInput("there must be at least two items", len(items), "add some")
    for number, item in enumerate(items, 1):
        with located(f"item {number}"):
            check_id(item.id)
            check_text(item.text)
            check_group(item.group)
            if item.image is not None:
                check_picture(item.image, item.image_name or item.id)


def check_questions(questions: Sequence[Question]) -> None:
    """Refuse questions that a campaign's folder would be refused for."""
    if not questions:
        raise InvalidInput("there must be at least one question", 0, "add one")
    for number, question in enumerate(questions, 1):
        with located(f"question {number}"):
            check_id(question.id)
            check_text(question.text)
            if not question.text:
                raise InvalidInput("a question must have a text", "none", "write what is asked")


def check_id(name: str) -> None:
    """Refuse an id that is empty, long, or not on one line: ids stand in tables, files and logs."""
    one_line = all(unicodedata.category(char) not in ("Cc", "Zl", "Zp") for char in name)
    if not 0 < len(name) <= _LONGEST_ID or not one_line or not is_storable(name):
        raise InvalidInput(
            f"an id must be 1 to {_LONGEST_ID} characters on one line",
            shown(name) if name else "none",
            "give every row a short id of its own",
        )


def check_group(name: str) -> None:
    """Refuse a name of a group that could not be an id; an empty one is fine (no anchor)."""
    one_line = all(unicodedata.category(char) not in ("Cc", "Zl", "Zp") for char in name)
    if len(name) > _LONGEST_ID or not one_line or not is_storable(name):
        raise InvalidInput(
            f"a group's name must be at most {_LONGEST_ID} characters on one line",
            shown(name),
            "shorten it, or leave it empty",
        )


def check_text(text: str) -> None:
    """Refuse a text that is too long to be shown, or that a store cannot hold."""
    if len(text) > LONGEST_TEXT or not is_storable(text):
        raise InvalidInput(
            f"a text must have at most {LONGEST_TEXT:,} characters, and no NUL",
            shown(text),
            "shorten it",
        )


def check_name(worker: object) -> str:
    """The worker's name; InvalidInput if some store could not hold it."""
    if isinstance(worker, str) and 1 <= len(worker) <= 200 and worker.isprintable():
        return worker
    raise InvalidInput(
        "a worker's name must have 1 to 200 printable characters", repr(worker)[:300], "name it"
    )
