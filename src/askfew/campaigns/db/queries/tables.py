"""Whole tables, row by row, for code that copies, moves or examines any table in the same way.

Rows are dictionaries; tables are given by name.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, func, insert, select, text
from sqlalchemy.exc import DataError, IntegrityError

from askfew.campaigns.db.database import Database
from askfew.campaigns.db.schema import answers, campaigns, metadata, refusals, steps
from askfew.errors import InvalidInput

__all__ = [
    "CONTENT_TABLES",
    "columns_of",
    "copy_file",
    "copy_tables",
    "count_rows",
    "insert_rows",
    "keys_of",
    "rows_of",
    "totals",
]

CONTENT_TABLES = (
    *("items", "questions", "workers", "steps", "slots", "answers", "refusals", "flags", "gold"),
)
"""The tables of a campaign, ordered so that no foreign key refers to a row inserted later."""
_ROWS_AT_ONCE = 2000
"""Rows that are in memory at once. A round number."""


def columns_of(table: str) -> tuple[str, ...]:
    """The names of the table's columns."""
    return tuple(column.name for column in metadata.tables[table].columns)


def keys_of(table: str) -> tuple[str, ...]:
    """The names of the columns of the primary key."""
    return tuple(column.name for column in metadata.tables[table].primary_key)


def rows_of(connection: Connection, table: str, campaign: int) -> Iterator[dict[str, Any]]:
    """All rows of a campaign, in a fixed order, read in chunks."""
    which = metadata.tables[table]
    number = which.c.id if which is campaigns else which.c.campaign
    ordered = select(which).where(number == campaign).order_by(*_order(which))
    found = connection.execute(ordered.execution_options(yield_per=_ROWS_AT_ONCE))
    return (dict(row) for row in found.mappings())


def _order(table: Table) -> Iterable[Any]:
    if table is refusals:  # the only table without a primary key
        return (refusals.c.time, refusals.c.step, refusals.c.slot, refusals.c.worker)
    return table.primary_key


def insert_rows(connection: Connection, table: str, rows: Iterator[dict[str, Any]]) -> None:
    """Insert rows; InvalidInput says why they do not fit together."""
    while chunk := list(islice(rows, _ROWS_AT_ONCE)):
        try:
            connection.execute(insert(metadata.tables[table]), chunk)
        except (IntegrityError, DataError) as error:
            raise InvalidInput(
                f"the rows of {table} must fit together",
                str(error.orig).strip().splitlines()[0],
                "export it again",
            ) from error


def count_rows(connection: Connection, campaign: int) -> tuple[int, int]:
    """How many steps a campaign has, and how many answers, taken back or not."""
    count = select(func.count())
    return (
        connection.execute(count.where(steps.c.campaign == campaign)).scalar_one(),
        connection.execute(count.where(answers.c.campaign == campaign)).scalar_one(),
    )


def totals(connection: Connection) -> dict[str, int]:
    """How many campaigns and answers a store has."""
    count = select(func.count())
    return {
        table.name: connection.execute(count.select_from(table)).scalar_one()
        for table in (campaigns, answers)
    }


def copy_tables(source: Connection, target: Connection) -> None:
    """Copy all rows of all tables into another store, which must be empty."""
    for table in metadata.sorted_tables:
        rows = source.execute(
            select(table).order_by(*table.primary_key).execution_options(yield_per=_ROWS_AT_ONCE)
        )
        for chunk in rows.mappings().partitions():
            target.execute(insert(table), [dict(row) for row in chunk])
    if target.dialect.name == "postgresql":
        # Inserting given ids does not move the sequence: the next campaign would get a used id.
        last = "(SELECT max(id) FROM campaigns)"
        sequence = "pg_get_serial_sequence('campaigns', 'id')"
        target.execute(text(f"SELECT setval({sequence}, {last}) WHERE {last} > 0"))


def copy_file(database: Database, path: Path) -> None:
    """Copy a SQLite store to another file by SQLite's own backup, which may run beside writers."""
    borrowed = database.engine.raw_connection()
    try:
        source: Any = borrowed.driver_connection
        with closing(sqlite3.connect(path)) as target:
            source.backup(target)
    finally:
        borrowed.close()
