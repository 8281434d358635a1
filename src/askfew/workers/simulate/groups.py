"""Which group a rehearsal pretends each item to be in."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path

from askfew.campaigns.folder.text_file import read_text
from askfew.errors import InvalidInput
from askfew.workers.simulate.chance import chance

__all__ = ["Groups", "digits_told", "groups_from_file", "random_groups"]

_LARGEST = 50_000_000

Groups = Callable[[str], int]
"""The group, a number from 0, of an item by its id."""


def random_groups(seed: int, share: float = 0.5, groups: int = 2) -> Groups:
    """The seed and the item's id decide: group 1 with probability ``share``, or, of more than two
    groups, any.
    """
    if groups == 2:
        return lambda item: int(chance(seed, "group", item).random() < share)
    return lambda item: int(chance(seed, "group", item).integers(groups))


def digits_told(questions: Sequence[str], groups: int) -> dict[str, int]:
    """Which binary digit of a group's number each question is about, in turn: so any two groups
    differ on a question, if there are as many questions as digits.

    >>> digits_told(["swims", "flies", "sings"], groups=3)
    {'swims': 0, 'flies': 1, 'sings': 0}
    """
    digits = (groups - 1).bit_length()
    return {question: place % digits for place, question in enumerate(questions)}


def groups_from_file(path: Path) -> tuple[Groups, int]:
    """The columns id and group of a CSV file, and how many groups there are: at least two."""
    rows = csv.DictReader(StringIO(read_text(path, most=_LARGEST)))
    if not {"id", "group"} <= set(rows.fieldnames or ()):
        raise InvalidInput(
            f"{path}: the columns id and group must be there",
            ", ".join(rows.fieldnames or ()) or "none",
            "name them in the first line",
        )
    written = {row["id"]: row["group"] for row in rows}
    names = sorted(set(written.values()))
    if len(names) < 2:
        raise InvalidInput(f"{path}: there must be two groups", len(names), "mend the column")

    def group(item: str) -> int:
        if item not in written:
            raise InvalidInput(f"{path}: every item must have a group", repr(item), "add it")
        return names.index(written[item])

    return group, len(names)
