"""Reading answers from a file: askfew's own table, crowd-kit's, or a Label Studio export.

A file is read and checked as a whole before any of its answers is used.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from askfew.campaigns.exchange import crowd_kit, label_studio
from askfew.campaigns.exchange.files import read_parquet, text_of_cell
from askfew.campaigns.folder.table_file import read_table, read_text, separator_of
from askfew.campaigns.records import check_name
from askfew.errors import InvalidInput, located, nearest, shown

__all__ = ["ANSWER_FORMATS", "TellRow", "header_of", "read_answers"]

_NEEDED = ("item", "question", "worker", "answer")
_OPTIONAL = ("seconds", "cost", "time")
_TEXTS = ("item", "question", "worker")
_MOST_BYTES = 10**9
"""The largest file that is read, as a whole, into memory. A round number."""


@dataclass(frozen=True)
class TellRow:
    """One answer of a file; ``place`` is the file and the line.

    ``mark`` distinguishes it from other answers of the same worker about the same cell, in any
    file: a time, or Label Studio's number. It is empty if the file has neither.
    """

    place: str
    item: str
    question: str
    worker: str
    answer: object
    seconds: float | None = None
    cost: float | None = None
    mark: str = ""


def header_of(path: Path) -> set[str]:
    """The names in the first line of a CSV file, from which its format is recognized."""
    text = read_text(path, most=_MOST_BYTES)
    first = text.partition("\n")[0]
    return {name.strip().lower() for name in first.split(separator_of(text))}


def read_answers(path: Path, kind: str) -> list[TellRow]:
    """All answers of a file in one of ANSWER_FORMATS, in the file's order."""
    rows = list(ANSWER_FORMATS[kind](path))
    for row in rows:
        with located(row.place):
            check_name(row.worker)
    return rows


def _csv(path: Path) -> Iterator[TellRow]:
    for line, fields in read_table(path, _NEEDED, _OPTIONAL):
        # Only texts were protected from spreadsheets when they were exported; numbers never are.
        texts = {name: text_of_cell(fields[name]) for name in _TEXTS}
        yield _long_row(f"{path} line {line}", {**fields, **texts})


def _parquet(path: Path) -> Iterator[TellRow]:
    columns, rows = read_parquet(path)
    for name in columns:
        if name not in (*_NEEDED, *_OPTIONAL):
            raise InvalidInput(
                f"{path}: columns must be among {','.join((*_NEEDED, *_OPTIONAL))}",
                shown(name),
                f"take it out, or {nearest(name, (*_NEEDED, *_OPTIONAL))}",
            )
    for name in _NEEDED:
        if name not in columns:
            raise InvalidInput(
                f"{path}: there must be a column {name}", shown(",".join(columns)), "add it"
            )
    for number, row in enumerate(rows, 1):
        fields = dict.fromkeys(_OPTIONAL, "") | dict(zip(columns, row, strict=True))
        yield _long_row(f"{path} row {number}", fields)


def _crowd_kit(path: Path) -> Iterator[TellRow]:
    for line, fields in read_table(path, tuple(crowd_kit.COLUMNS)):
        place = f"{path} line {line}"
        with located(place):
            item, question = crowd_kit.split_task(text_of_cell(fields["task"]))
        worker = text_of_cell(fields["worker"])
        yield TellRow(place, item, question, worker, fields["label"])


def _label_studio(path: Path) -> Iterator[TellRow]:
    text = read_text(path, most=_MOST_BYTES)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise InvalidInput(
            f"{path} line {line}: this must be JSON", f"an error ({error})", "export it again"
        ) from None
    with located(str(path)):
        for number, each in label_studio.read_annotations(document):
            yield TellRow(
                f"{path} task {number}",
                each.item,
                each.question,
                each.worker,
                each.answer,
                each.seconds,
                mark=each.key,
            )


ANSWER_FORMATS = {
    "csv": _csv,
    "parquet": _parquet,
    "crowd-kit": _crowd_kit,
    "label-studio": _label_studio,
}


def _long_row(place: str, fields: Mapping[str, Any]) -> TellRow:
    with located(place):
        return TellRow(
            place,
            item=_text(fields["item"]),
            question=_text(fields["question"]),
            worker=_text(fields["worker"]),
            answer=fields["answer"],
            seconds=_number("seconds", fields["seconds"]),
            cost=_number("cost", fields["cost"]),
            mark=_time(fields["time"]),
        )


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _number(name: str, value: object) -> float | None:
    if value is None or value == "":
        return None
    try:
        # Parquet has numbers here, CSV has texts.
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not (math.isfinite(number) and number >= 0):
        raise InvalidInput(
            f"{name} must be empty or a number, at least 0", shown(value), "fix it, or empty it"
        )
    return number


def _time(value: object) -> str:
    """The time in UTC, as text. It only distinguishes answers; they are stored as told now."""
    if value is None or value == "":
        return ""
    try:
        time = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError:
        raise InvalidInput(
            "time must be empty or like 2026-01-31T12:00:00+00:00", shown(value), "fix it"
        ) from None
    # In UTC, so that one moment has one text whatever zone it was written in.
    return (time if time.tzinfo is None else time.astimezone(UTC)).isoformat()
