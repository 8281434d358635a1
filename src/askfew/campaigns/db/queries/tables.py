"""Whole tables, row by row, for code that copies, moves or examines any table in the same way.

Rows are dictionaries; tables are given by name. What every field of a row must be follows mostly
from the schema; the same rules are for a file that is imported and for a store that the doctor
examines.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Double,
    Integer,
    LargeBinary,
    String,
    Table,
    func,
    insert,
    select,
    text,
)
from sqlalchemy.exc import DataError, IntegrityError

from askfew.campaigns.db.database import Database
from askfew.campaigns.db.schema import (
    answers,
    campaigns,
    flags,
    gold,
    items,
    metadata,
    questions,
    refusals,
    slots,
    steps,
    workers,
)
from askfew.campaigns.records import check_group, check_id, check_name, check_text
from askfew.campaigns.setting_values import is_storable
from askfew.errors import InvalidInput, shown

__all__ = [
    "CONTENT_TABLES",
    "check_row",
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


_LARGEST_INT = 2**31 - 1
"""The largest value of PostgreSQL's INTEGER; SQLite would take more."""
_LAST_TIME = 253_402_300_799.0
"""The end of the year 9999, in seconds since the epoch: Python's datetime ends there."""
_LONGEST_NOTE = 1000
"""Characters of a note that a worker sent, cut by ``intake.storable`` to the same length."""
_STATES = ("running", "paused", "closed", "ended")

_TIMES = (
    *(campaigns.c.created, workers.c.joined, workers.c.seen, workers.c.revoked, steps.c.opened),
    *(steps.c.closed, slots.c.expires, answers.c.time, refusals.c.time, campaigns.c.imported),
    *(flags.c.time, gold.c.asked, gold.c.told),
)
_RULES: dict[Column[Any], Callable[[Any], object]] = {
    **dict.fromkeys(_TIMES, lambda time: _check(0 <= time <= _LAST_TIME, "a time", time)),
    **dict.fromkeys((items.c.id, questions.c.id), check_id),
    items.c.group: check_group,
    **dict.fromkeys((items.c.text, questions.c.text, steps.c.why), check_text),
    **dict.fromkeys((workers.c.name, slots.c.worker, answers.c.worker), check_name),
    **dict.fromkeys((refusals.c.worker, flags.c.worker, gold.c.worker), check_name),
    **dict.fromkeys(
        (answers.c.seconds, answers.c.cost, gold.c.seconds, gold.c.cost),
        lambda amount: _check(amount >= 0, "at least 0", amount),
    ),
    flags.c.reason: lambda text: _check(len(text) <= _LONGEST_NOTE, "short", text),
    answers.c.raw: lambda text: _check(len(text) <= _LONGEST_NOTE, "short", text),
    refusals.c.reason: lambda text: _check(len(text) <= _LONGEST_NOTE, "short", text),
    campaigns.c.state: lambda state: _check(state in _STATES, f"among {_STATES}", state),
}


def check_row(name: str, row: Mapping[str, object], columns: tuple[str, ...]) -> None:
    """Refuse a row with missing or unknown columns, or with a value that cannot be there."""
    table = metadata.tables[name]
    if set(row) != set(columns):
        odd = sorted(map(str, set(row) ^ set(columns)))
        raise InvalidInput(
            f"a row of {table.name} must have the fields {', '.join(columns)}",
            f"{shown(odd[0])} too much or missing",
            "write it as export does",
        )
    for each in columns:
        column, value = table.c[each], row[each]
        if value is None and column.nullable:
            continue
        try:
            _check_type(column, value)
            if column in _RULES:
                _RULES[column](value)
        except InvalidInput as error:
            expected, got, do = error.args
            raise InvalidInput(f"{table.name}.{each}: {expected}", got, do) from None


def _check_type(column: Column[Any], value: object) -> None:
    kind = column.type
    if isinstance(kind, Boolean):
        _check(isinstance(value, bool), "true or false", value)
    elif isinstance(kind, Integer):
        right = isinstance(value, int) and not isinstance(value, bool)  # True is an int in Python
        _check(right and 0 <= value <= _LARGEST_INT, "a whole number, not negative", value)  # type: ignore[operator]
    elif isinstance(kind, Double):
        # JSON may hold a whole number here; beyond 2**53 it would not be the same as a float.
        real = isinstance(value, float) or (type(value) is int and abs(value) <= 2**53)
        _check(real and math.isfinite(value), "a finite number", value)  # type: ignore[arg-type]
    elif isinstance(kind, LargeBinary):
        _check(isinstance(value, bytes), "bytes", value)
    elif isinstance(kind, String):
        most = math.inf if kind.length is None else kind.length
        right = isinstance(value, str) and len(value) <= most and is_storable(value)
        _check(right, f"a text of at most {most:,} characters", value)


def _check(right: bool, expected: str, value: object) -> None:
    if not right:
        raise InvalidInput(f"this must be {expected}", shown(value), "write it as export does")
