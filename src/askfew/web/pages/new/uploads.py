"""Uploaded files into items and questions, with the same sentences as a campaign's folder."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TypeVar

from askfew.campaigns.contents import check_group, check_items, check_questions
from askfew.campaigns.folder.load import read_items, read_questions
from askfew.campaigns.folder.pictures import check_picture
from askfew.campaigns.records import Item, Question
from askfew.campaigns.sentences import shown
from askfew.errors import InvalidInput

__all__ = ["anchored", "items_from", "questions_from"]

T = TypeVar("T")


def items_from(table: bytes | None, pictures: Iterable[tuple[str, bytes]]) -> tuple[Item, ...]:
    """Items of a CSV file and the pictures it names; without one, every picture is an item."""
    by_name = _by_name(pictures)
    if table:
        return _through_file("items.csv", table, lambda path: read_items(path, _among(by_name)))
    if not by_name:
        raise InvalidInput("there must be items", "none", "choose a CSV file, or pictures")
    names = sorted(by_name, key=_in_human_order)
    if len(names) < 2:
        raise InvalidInput("there must be at least two items", 1, "choose more pictures")
    stems = [PurePosixPath(name).stem for name in names]
    uses = Counter(stems)
    items = tuple(
        Item(stem if uses[stem] == 1 else name, image=by_name[name], image_name=name)
        for name, stem in zip(names, stems, strict=True)
    )
    check_items(items)
    return items


def questions_from(table: bytes | None, lines: str) -> tuple[Question, ...]:
    """Questions of a CSV file, or one a line; one that defines the split begins with a star."""
    typed = [line.strip() for line in lines.splitlines() if line.strip()]
    if table and typed:
        raise InvalidInput(
            "questions must come as a file or as typed lines", "both", "take one of them away"
        )
    if table:
        return _through_file("questions.csv", table, read_questions)
    if not typed:
        raise InvalidInput(
            "there must be at least one question", "none", "type one a line, or choose a CSV file"
        )
    questions = tuple(
        Question(f"q{number}", line.lstrip("* "), line.startswith("*"))
        for number, line in enumerate(typed, start=1)
    )
    check_questions(questions)
    return questions


def anchored(items: tuple[Item, ...], lines: str) -> tuple[Item, ...]:
    """The items, with the groups of those that are known: ``item, group``, one a line.

    >>> [item.group for item in anchored((Item("a"), Item("b")), "b, owls")]
    ['', 'owls']
    """
    known: dict[str, str] = {}
    ids = {item.id for item in items}
    for line in filter(None, map(str.strip, lines.splitlines())):
        name, comma, group = (part.strip() for part in line.rpartition(","))
        if not (comma and name and group):
            raise InvalidInput(
                "a known item must be written as item, group", shown(line), "put a comma between"
            )
        if name not in ids:
            raise InvalidInput(
                "a known item must be one of the items", shown(name), "write its id as it is there"
            )
        if known.setdefault(name, group) != group:
            raise InvalidInput(
                "an item must be in one group", f"{shown(name)} in two", "keep the right one"
            )
        check_group(group)
    return tuple(replace(item, group=known.get(item.id, item.group)) for item in items)


def _through_file(name: str, data: bytes, read: Callable[[Path], T]) -> T:
    """Files are read where files are; sentences then name the file alone."""
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        try:
            return read(path)
        except InvalidInput as error:
            expected, got, do = error.args
            raise InvalidInput(str(expected).replace(f"{folder}/", ""), got, do) from None


def _by_name(pictures: Iterable[tuple[str, bytes]]) -> dict[str, bytes]:
    by_name: dict[str, bytes] = {}
    for name, data in pictures:
        last = _last(name)
        if last in by_name:
            raise InvalidInput(
                "pictures must have different names", f"{shown(last)} twice", "rename one of them"
            )
        by_name[last] = data
    return by_name


def _among(by_name: Mapping[str, bytes]) -> Callable[[str], bytes]:
    def picture(name: str) -> bytes:
        if _last(name) not in by_name:
            raise InvalidInput(
                "image must be one of the chosen pictures", shown(name), "choose it, too"
            )
        data = by_name[_last(name)]
        check_picture(data, name)
        return data

    return picture


def _last(name: str) -> str:
    """Browsers leave out folders, or not: the file's own name decides."""
    return PurePosixPath(name.replace("\\", "/")).name


def _in_human_order(name: str) -> list[tuple[int, str]]:
    """2.png before 10.png."""
    parts = re.split(r"(\d+)", name.lower())
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]
