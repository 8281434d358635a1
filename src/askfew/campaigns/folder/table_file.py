"""Reading text files and CSV tables; every error has a file and a line."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

from askfew.campaigns.setting_values import LONGEST_TEXT
from askfew.errors import InvalidInput, located, nearest, shown

__all__ = ["Row", "decoded", "read_table", "read_text", "separator_of"]


def read_text(path: Path, *, most: int) -> str:
    """The text of a file of at most ``most`` bytes; InvalidInput begins with file and line."""
    return decoded(_read_bytes(path, most), str(path))


def decoded(data: bytes, name: str) -> str:
    """The text of a file's bytes; InvalidInput begins with its name and the line."""
    data = data.removeprefix(codecs.BOM_UTF8)  # spreadsheets write one
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{name} line {_line(data[: error.start].decode())}: the text must be UTF-8",
            f"the byte 0x{data[error.start]:02X}",
            "save the file as UTF-8 (in a spreadsheet: CSV UTF-8)",
        ) from None
    before, nul, _ = text.partition("\0")
    if nul:
        raise InvalidInput(
            f"{name} line {_line(before)}: the text must be plain",
            "a NUL character",
            "take it out, or save the file as UTF-8 if it is UTF-16",
        )
    return text


def _read_bytes(path: Path, most: int) -> bytes:
    try:
        # A pipe or a device may block when it is read.
        if path.exists() and not path.is_file():
            raise InvalidInput(f"{path}: this must be a file", "something else", "move it away")
        with path.open("rb") as file:
            data = file.read(most + 1)
    except FileNotFoundError:
        raise InvalidInput(f"{path}: this file must exist", "none", "check its name") from None
    except OSError as error:
        raise InvalidInput(
            f"{path}: this file must be readable", error.strerror, "fix its permissions"
        ) from error
    if len(data) > most:
        raise InvalidInput(
            f"{path}: this file must have at most {most:,} bytes", "more", "make it smaller"
        )
    return data


def _line(before: str) -> int:
    """The number of the line on which this text ends."""
    return len(re.findall(r"\r\n|\r|\n", before)) + 1


_MOST_BYTES = 10**9
"""The largest table that is read, as a whole, into memory. A round number."""

_SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab"}

Row = tuple[int, dict[str, str]]
"""A line number, and the fields by column, without space around them."""


def separator_of(table: str) -> str:
    r"""What separates the columns of a table, by its first line.

    Where the comma is the decimal sign, spreadsheets write CSV files with semicolons.

    >>> separator_of("id;text\n1;a, b\n"), separator_of("id,text\n"), separator_of("name\n")
    (';', ',', ',')
    """
    first = re.search(r"[^\r\n]+", table)
    return next((mark for mark in _SEPARATORS if first and mark in first[0]), ",")


def read_table(path: Path, needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> list[Row]:
    """All rows. Columns may be in any order; optional ones may be missing or empty."""
    text = read_text(path, most=_MOST_BYTES)
    mark = separator_of(text)
    records = _records(path, text, mark)
    line, header = next(records, (1, []))
    with located(f"{path} line {line}"):
        columns = _columns(header, needed, optional)
    rows = []
    for line, fields in records:
        with located(f"{path} line {line}"):
            rows.append((line, dict.fromkeys(optional, "") | _fields(columns, fields, mark)))
    return rows


def _records(path: Path, text: str, mark: str) -> Iterator[tuple[int, list[str]]]:
    """Every record with its line; blank lines are left out. Quoted fields may have line breaks."""
    file = io.StringIO(text, newline="")
    reader = csv.reader(file, delimiter=mark, strict=True, skipinitialspace=True)
    while True:
        # The line on which the record begins; the reader knows only where it ends.
        line = reader.line_num + 1
        try:
            record = next(reader, None)
        except csv.Error as error:
            # Usually a quote that is never closed, which swallows the rest of the file.
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


def _fields(columns: tuple[str, ...], fields: list[str], mark: str) -> dict[str, str]:
    if len(fields) != len(columns):
        word = _SEPARATORS[mark]
        raise InvalidInput(
            f"a row must have {len(columns)} fields ({','.join(columns)})",
            len(fields),
            f'put a text with {word}s in "quotes", and a {word} for every empty field',
        )
    for name, value in zip(columns, fields, strict=True):
        if len(value) > LONGEST_TEXT:
            raise InvalidInput(
                f"{name} must have at most {LONGEST_TEXT:,} characters",
                f"{len(value):,}",
                "shorten it",
            )
    return dict(zip(columns, fields, strict=True))
