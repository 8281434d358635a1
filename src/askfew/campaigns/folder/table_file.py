"""Read a CSV file row by row, each row with the line it begins on."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from askfew.campaigns.folder.text_file import read_text
from askfew.campaigns.sentences import located, nearest, shown
from askfew.campaigns.settings import LONGEST_TEXT
from askfew.errors import InvalidInput

__all__ = ["Row", "read_table"]

_MOST_BYTES = 10**9

Row = tuple[int, dict[str, str]]
"""A line number, and the fields of every known column, without space around them."""


def read_table(path: Path, needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> list[Row]:
    """All rows. The columns may stand in any order; optional ones may be left out, or empty."""
    records = _records(path, read_text(path, most=_MOST_BYTES))
    line, header = next(records, (1, []))
    with located(f"{path} line {line}"):
        columns = _columns(header, needed, optional)
    rows = []
    for line, fields in records:
        with located(f"{path} line {line}"):
            rows.append((line, dict.fromkeys(optional, "") | _fields(columns, fields)))
    return rows


def _records(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """Every record that is not a blank line; a quoted field may hold line breaks."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
    while True:
        line = reader.line_num + 1
        try:
            record = next(reader, None)
        except csv.Error as error:
            if "field larger" in str(error):
                raise InvalidInput(
                    f"{path} line {line}: a text must have at most {LONGEST_TEXT:,} characters",
                    f"more than {csv.field_size_limit():,}",
                    "shorten it, or close its quotes",
                ) from None
            raise InvalidInput(
                f"{path} line {line}: this must be a row of a CSV file",
                f"an error ({error})",
                "check its quotes (double them inside a quoted text)",
            ) from None
        if record is None:
            return
        if len(record) > 1 or "".join(record).strip():
            yield line, [each.strip() for each in record]


def _columns(
    header: list[str], needed: tuple[str, ...], optional: tuple[str, ...]
) -> tuple[str, ...]:
    known = (*needed, *optional)
    may = f" (and may name {','.join(optional)})" if optional else ""
    columns = tuple(name.lower() for name in header)
    if len(columns) == 1 and any(mark in columns[0] for mark in ";\t"):
        raise InvalidInput("columns must be separated by commas", shown(columns[0]), "save as CSV")
    for name in needed:
        if name not in columns:
            raise InvalidInput(
                f"the first row must name the columns {','.join(needed)}" + may,
                shown(",".join(header)),
                f"add the column {name}",
            )
    for index, name in enumerate(columns):
        if name not in known:
            raise InvalidInput(
                f"columns must be among {','.join(known)}",
                shown(header[index]),
                f"take it out, or {nearest(name, known)}",
            )
        if name in columns[:index]:
            raise InvalidInput("a column must come once", f"{name} twice", "take one out")
    return columns


def _fields(columns: tuple[str, ...], fields: list[str]) -> dict[str, str]:
    if len(fields) != len(columns):
        raise InvalidInput(
            f"a row must have {len(columns)} fields ({','.join(columns)})",
            len(fields),
            'put a text with commas in "quotes", and a comma for every empty field',
        )
    for name, value in zip(columns, fields, strict=True):
        if len(value) > LONGEST_TEXT:
            raise InvalidInput(
                f"{name} must have at most {LONGEST_TEXT:,} characters",
                f"{len(value):,}",
                "shorten it",
            )
    return dict(zip(columns, fields, strict=True))
