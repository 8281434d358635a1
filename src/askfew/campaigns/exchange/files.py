"""Writing files as a whole, and tables as CSV or Parquet, which are also read.

Readers see the old file or the new one, never half of it. Numbers in CSV are written so that they
are read back bit for bit. A spreadsheet would run a text that begins like a formula: such a text
gets a ``'`` in front, which spreadsheets do not show, and which is removed when the text is read.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from askfew.errors import InvalidInput, MissingExtra

__all__ = [
    "csv_text",
    "read_parquet",
    "text_of_cell",
    "whole_file",
    "write_parquet",
    "write_whole",
]


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary path beside the file, renamed to the file's name if all went well."""
    # In the same folder, because a rename is atomic only within one file system.
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield beside
        os.replace(beside, path)
    except OSError as error:
        raise InvalidInput(
            f"{path}: a file must be writable here", error.strerror, "choose another place"
        ) from error
    finally:
        beside.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes) -> None:
    """Write the content, all of it or none."""
    with whole_file(path) as beside:
        beside.write_bytes(content)


_FORMULA = re.compile(r"'*[=+\-@\s]")
_NEUTRAL = re.compile(r"'+[=+\-@\s]")


def csv_text(columns: Iterable[str], rows: Iterable[Sequence[object]]) -> str:
    """The whole table as text.

    >>> print(csv_text(("item", "answer"), [("a,b", 1.0), ("c", 0.25), ("d", None)]), end="")
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
    # Above 2**53 a float no longer tells every whole number from the next.
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, datetime):
        return value.isoformat()
    # A spreadsheet would run it as a formula, and the text may be a stranger's.
    if isinstance(value, str) and _FORMULA.match(value):
        return f"'{value}"
    return "" if value is None else value


def text_of_cell(cell: str) -> str:
    """A text as it was before ``csv_text`` protected it.

    >>> print(csv_text(("item",), [("=1+2",), ("'=1+2",), ("'tis",)]), end="")
    item
    '=1+2
    ''=1+2
    'tis
    >>> text_of_cell("'=1+2"), text_of_cell("''=1+2"), text_of_cell("'tis"), text_of_cell("=1+2")
    ('=1+2', "'=1+2", "'tis", '=1+2')
    """
    return cell[1:] if _NEUTRAL.match(cell) else cell


def write_parquet(
    path: Path, columns: Mapping[str, type], rows: Iterable[Sequence[object]]
) -> None:
    """Write the whole table; each column has its type, even if all its values are missing."""
    pyarrow, parquet = _pyarrow()
    types = {
        str: pyarrow.string(),
        int: pyarrow.int64(),
        float: pyarrow.float64(),
        datetime: pyarrow.timestamp("us", tz="UTC"),
    }
    schema = pyarrow.schema([(name, types[kind]) for name, kind in columns.items()])
    table = pyarrow.Table.from_pylist(
        [dict(zip(columns, row, strict=True)) for row in rows], schema=schema
    )
    with whole_file(path) as beside:
        parquet.write_table(table, beside)


def read_parquet(path: Path) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The names of the columns, and all rows."""
    pyarrow, parquet = _pyarrow()
    try:
        table = parquet.read_table(path)
        columns = [each.to_pylist() for each in table.columns]
    # Parquet has times after the year 9999 and nanoseconds, and Python's datetime has neither.
    except (OSError, ValueError, OverflowError, pyarrow.ArrowException) as error:
        raise InvalidInput(
            f"{path}: this must be a Parquet file, with times of the years 1 to 9999",
            f"an error ({(str(error).strip() or type(error).__name__).splitlines()[0]})",
            "write it again",
        ) from None
    return list(table.column_names), list(zip(*columns, strict=True))


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra(
            "Parquet needs the package pyarrow", "none", "pip install 'askfew[parquet]'"
        ) from None
    return pyarrow, pyarrow.parquet
