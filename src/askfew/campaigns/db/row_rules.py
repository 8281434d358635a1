"""What every field of a row must be; most of it follows from the schema.

The same rules are used for a file that is imported and for a store that the doctor examines.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import Boolean, Column, Double, Integer, LargeBinary, String

from askfew.campaigns.contents import check_group, check_id, check_name, check_text
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
from askfew.campaigns.sentences import shown
from askfew.campaigns.settings import is_storable
from askfew.errors import InvalidInput

__all__ = ["check_row"]

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
