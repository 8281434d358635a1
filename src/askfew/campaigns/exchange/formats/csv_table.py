"""A table as CSV: text in and out, numbers so that they come back bit for bit."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import datetime

__all__ = ["written"]


def written(columns: Iterable[str], rows: Iterable[Sequence[object]]) -> str:
    """The whole table.

    >>> print(written(("item", "answer"), [("a,b", 1.0), ("c", 0.25), ("d", None)]), end="")
    item,answer
    "a,b",1
    c,0.25
    d,
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([[_plain(value) for value in row] for row in rows])
    return text.getvalue()


def _plain(value: object) -> object:
    """Whole numbers without their '.0', as people write them; times as ISO 8601."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, datetime):
        return value.isoformat()
    return "" if value is None else value
