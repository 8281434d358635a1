"""The value of each setting: what it may be, and the sentence if it is something else."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Callable, Mapping
from functools import partial
from numbers import Integral, Real
from typing import Any, Literal, get_args

from askfew.algorithms import METHODS, check_delta
from askfew.answers import KINDS, AnswerKind
from askfew.errors import InvalidInput, nearest, shown
from askfew.evidence.decisions import Error
from askfew.rule import Rule

__all__ = [
    "HALF_WAY",
    "LONGEST_TEXT",
    "Groups",
    "Repeats",
    "check_key",
    "is_storable",
    "read_kind",
    "read_options",
    "read_setting",
]

LONGEST_TEXT = 10_000
"""Characters of a text that a worker is shown. A round number."""
_LONGEST_NAME = 80
"""The length of the column (``db/schema``)."""
_MOST = 10**9
"""Fits PostgreSQL's INTEGER, which ends at 2**31 - 1."""
_MOST_GROUPS = 100
"""A round number."""
HALF_WAY = 0.5
_YEAR = 366 * 24 * 3600
"""Seconds: the longest lease and time-out."""

Groups = int | list[int] | Literal["auto"]
Repeats = Literal["fresh", "same"]


def read_setting(key: str, value: object) -> Any:
    """The value as the field of Settings holds it; InvalidInput if it is not allowed.

    >>> read_setting("lease_seconds", 600)
    600.0
    """
    check_key(key)
    return _READERS[key](value)


def check_key(key: str) -> None:
    """Refuse a key that is no setting."""
    if key not in _READERS:
        raise InvalidInput("settings must be known keys", shown(key), nearest(str(key), _READERS))


def _name(value: object) -> str:
    # The same name may be typed as other code points on another system.
    name = unicodedata.normalize("NFC", value) if isinstance(value, str) else ""
    sane = all(char in " -_." or unicodedata.category(char)[0] in "LMN" for char in name)
    edges = name[:1].isalnum() and name[-1:] != " "
    if not (sane and edges and len(name) <= _LONGEST_NAME):
        raise InvalidInput(
            f"name must be 1 to {_LONGEST_NAME} letters, digits, spaces or - _ .,"
            " with a letter or digit first and no space last",
            shown(value),
            'write for example name = "birds 2"',
        )
    return name


def _delta(value: object) -> float:
    number = _real(value)
    if number is None:
        raise InvalidInput("delta must be a number", shown(value), "write for example 0.05")
    check_delta(number)
    return number


def _real(value: object) -> float | None:
    if not isinstance(value, Real) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:  # an int larger than any float
        return math.inf


def _between(
    key: str, least: float, most: float, example: float, value: object, *, above: bool = False
) -> float:
    number = _real(value)
    if number is None or not least <= number <= most or (above and number == least):
        raise InvalidInput(
            f"{key} must be a number {'above' if above else 'of at least'} {least:g}"
            f" and at most {most:,}",
            shown(value),
            f"write for example {key} = {example}",
        )
    return number


def _whole(key: str, least: int, most: int, example: int, value: object) -> int:
    number = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None
    if number is None or not least <= number <= most:
        raise InvalidInput(
            f"{key} must be a whole number from {least} to {most:,}",
            shown(value),
            f"write for example {key} = {example}",
        )
    return number


def _method(value: object) -> str:
    if not isinstance(value, str) or value not in METHODS:
        word = value if isinstance(value, str) else ""
        raise InvalidInput(
            "method must be one that askfew knows", shown(value), nearest(word, METHODS)
        )
    return value


def _groups(value: object) -> Groups:
    """A number, a list in order, or "auto".

    >>> _groups(3), _groups([4, 2, 4]), _groups("auto")
    (3, [2, 4], 'auto')
    """
    if value == "auto":
        return "auto"
    wanted: list[Any] = list(value) if isinstance(value, list | tuple) else [value]
    right = all(isinstance(each, Integral) and not isinstance(each, bool) for each in wanted)
    if not wanted or not right or not all(2 <= each <= _MOST_GROUPS for each in wanted):
        raise InvalidInput(
            f'groups must be a whole number from 2 to {_MOST_GROUPS}, a list of such, or "auto"',
            shown(value),
            "write for example groups = 2",
        )
    if isinstance(value, list | tuple):
        return sorted({int(each) for each in wanted})
    return int(wanted[0])


def _one_of(key: str, words: tuple[str, ...], value: object) -> str:
    if not isinstance(value, str) or value not in words:
        said = " or ".join(f'"{word}"' for word in words)
        raise InvalidInput(f"{key} must be {said}", shown(value), "choose one")
    return value


def _margin(value: object) -> float:
    number = _real(value)
    if number is None or not 0 < number <= HALF_WAY:
        raise InvalidInput(
            "margin must be a number above 0 and at most 0.5",
            shown(value),
            "write 0.5 for a cut half-way between the groups",
        )
    return number


def _if_any(read: Callable[[object], Any], value: object) -> Any:
    """Read a setting that may be left out (None)."""
    return None if value is None else read(value)


def _rule(value: object) -> Rule:
    return value if isinstance(value, Rule) else Rule.from_dict(value)


def read_kind(value: object) -> AnswerKind:
    """The kind of answers that a setting names; a kind itself is returned as it is.

    >>> read_kind("yes-no"), read_kind({"scale": [1, 5]}), read_kind({"number": {"sigma": 2.0}})
    (YesNo(), Scale(low=1.0, high=5.0), Number(sigma=2.0))
    """
    try:
        kind = value if isinstance(value, AnswerKind) else _kind_of(value)
    except InvalidInput as error:
        expected, got, do = error.args
        raise InvalidInput(f"answers: {expected}", got, do) from error
    # The ends of a scale may differ by so little that half its width is rounded to 0; a method
    # cannot use noise without width.
    if kind is None or not kind.sigma > 0:
        *most, last = (each.written for each in KINDS)
        raise InvalidInput(
            f"answers must be {', '.join(most)} or {last}",
            shown(value),
            "write for example answers = { scale = [1, 5] }",
        )
    return kind


def _kind_of(value: object) -> AnswerKind | None:
    found = (each.from_setting(value) for each in KINDS)
    return next((kind for kind in found if kind is not None), None)


def _kind(value: object) -> AnswerKind:
    """The kind in the form that a store gives back, because seals cover that form."""
    return read_kind(read_kind(value).setting)


def read_options(value: object) -> dict[str, Any]:
    """A copy of the options, which must be a table of values that JSON can hold."""
    try:
        if not isinstance(value, Mapping):
            raise TypeError
        copy: dict[str, Any] = json.loads(json.dumps(dict(value), allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput(
            "options must be a table of numbers, texts, true and false",
            shown(value),
            "write options = { name = value }, or leave it out",
        ) from None
    return copy


def _guidelines(value: object) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_TEXT or not is_storable(value):
        raise InvalidInput(
            f"guidelines must be a text of at most {LONGEST_TEXT:,} characters",
            shown(value),
            "shorten it, or link to a page",
        )
    return value


def is_storable(text: str) -> bool:
    """Whether every store can hold the text: PostgreSQL takes neither NUL nor lone surrogates."""
    return not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in text)


_READERS: dict[str, Callable[[object], Any]] = {
    "name": _name,
    "delta": _delta,
    "answers": _kind,
    "max_answers": partial(_whole, "max_answers", 1, _MOST, 5000),
    "answers_per_worker_and_cell": partial(_whole, "answers_per_worker_and_cell", 1, _MOST, 1),
    "price": partial(_between, "price", 0, _MOST, 0.02),
    "seed": partial(_whole, "seed", 0, 2**63 - 1, 7),
    "lease_seconds": partial(_between, "lease_seconds", 0, _YEAR, 600, above=True),
    "step_timeout": partial(_between, "step_timeout", 0, _YEAR, 3600),
    "method": _method,
    "groups": _groups,
    "error": partial(_one_of, "error", get_args(Error)),
    "per_cell": partial(_if_any, partial(_whole, "per_cell", 1, _MOST, 12)),
    "tolerance": partial(_between, "tolerance", 0, _MOST, 0.05),
    "audit": partial(_whole, "audit", 0, _MOST, 300),
    "limit": partial(_if_any, partial(_whole, "limit", 1, _MOST, 100)),
    "margin": _margin,
    "repeats": partial(_one_of, "repeats", get_args(Repeats)),
    "rule": partial(_if_any, _rule),
    "people": partial(_if_any, partial(_whole, "people", 1, _MOST, 12)),
    "gold": partial(_between, "gold", 0, 0.5, 0.1),
    "options": read_options,
    "guidelines": _guidelines,
}
