"""A table as CSV. Numbers are written so that they are read back bit for bit.

A spreadsheet would run a text that begins like a formula. Such a text gets a ``'`` in front, which
spreadsheets do not show, and which is removed when the text is read.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from datetime import datetime

__all__ = ["text_of_cell", "written"]

_FORMULA = re.compile(r"'*[=+\-@\s]")
_NEUTRAL = re.compile(r"'+[=+\-@\s]")


def written(columns: Iterable[str], rows: Iterable[Sequence[object]]) -> str:
    """The whole table as text.

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
    """A value as it is written: whole numbers without '.0', times as ISO 8601."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, str) and _FORMULA.match(value):
        return f"'{value}"
    return "" if value is None else value


def text_of_cell(cell: str) -> str:
    """A text as it was before ``written`` protected it.

    >>> print(written(("item",), [("=1+2",), ("'=1+2",), ("'tis",)]), end="")
    item
    '=1+2
    ''=1+2
    'tis
    >>> text_of_cell("'=1+2"), text_of_cell("''=1+2"), text_of_cell("'tis"), text_of_cell("=1+2")
    ('=1+2', "'=1+2", "'tis", '=1+2')
    """
    return cell[1:] if _NEUTRAL.match(cell) else cell
