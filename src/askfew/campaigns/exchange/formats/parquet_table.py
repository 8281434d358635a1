"""A table as Parquet, by pyarrow (an extra)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from askfew.campaigns.exchange.formats.whole_file import whole_file
from askfew.errors import InvalidInput, MissingExtra

__all__ = ["read", "write"]


def write(path: Path, columns: Mapping[str, type], rows: Iterable[Sequence[object]]) -> None:
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


def read(path: Path) -> tuple[list[str], list[tuple[Any, ...]]]:
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
