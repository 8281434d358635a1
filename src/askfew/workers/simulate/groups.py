"""Which group a rehearsal pretends each item to be in."""

from __future__ import annotations

import csv
from collections.abc import Callable
from io import StringIO
from pathlib import Path

from askfew.campaigns.folder.text_file import read_text
from askfew.errors import InvalidInput
from askfew.workers.simulate.chance import chance

__all__ = ["Groups", "groups_from_file", "random_groups"]

_LARGEST = 50_000_000

Groups = Callable[[str], int]
"""The group, 0 or 1, of an item by its id."""


def random_groups(seed: int, share: float = 0.5) -> Groups:
    """Group 1 with probability ``share``; the seed and the item's id decide."""
    return lambda item: int(chance(seed, "group", item).random() < share)


def groups_from_file(path: Path) -> Groups:
    """The columns id and group of a CSV file; there must be two different groups."""
    rows = csv.DictReader(StringIO(read_text(path, most=_LARGEST)))
    if not {"id", "group"} <= set(rows.fieldnames or ()):
        raise InvalidInput(
            f"{path}: the columns id and group must be there",
            ", ".join(rows.fieldnames or ()) or "none",
            "name them in the first line",
        )
    written = {row["id"]: row["group"] for row in rows}
    names = sorted(set(written.values()))
    if len(names) != 2:
        raise InvalidInput(f"{path}: there must be two groups", len(names), "mend the column")

    def group(item: str) -> int:
        if item not in written:
            raise InvalidInput(f"{path}: every item must have a group", repr(item), "add it")
        return names.index(written[item])

    return group
