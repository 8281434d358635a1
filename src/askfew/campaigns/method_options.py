"""Checks of the options that a method is given: their names, and the type of each."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from askfew.algorithms import METHODS, methods_with, start, takes_option
from askfew.campaigns.sentences import shown
from askfew.errors import InvalidInput
from askfew.records import Problem

__all__ = ["check_options", "read_options"]

_SET_ELSEWHERE = {
    **dict.fromkeys(("at_work", "delta", "method", "problem", "rng"), "take it out of the options"),
    **dict.fromkeys(
        ("groups", "error", "per_cell", "tolerance", "limit", "margin", "repeats"),
        "write it as a setting of its own, beside options",
    ),
    "given": 'write rule = "FILE", beside options',
    "anchors": "write it in the column group of items.csv",
    "defining": "write yes in the column defines of questions.csv",
}
"""What to do about options that a method takes but that are written elsewhere."""
_MOST = 10**9
"""The largest number of an option. A round number, the same as for settings."""
_TYPES: dict[object, tuple[tuple[type, ...], str]] = {
    "float": ((int, float), "a number"),
    "int": ((int,), "a whole number"),
    "bool": ((bool,), "true or false"),
    "str": ((str,), "a text"),
}


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


def check_options(
    method: str,
    delta: float,
    options: Mapping[str, Any],
    own: Mapping[str, Any] | None = None,
    problem: Problem | None = None,
) -> None:
    """Refuse options that the method does not know or cannot use, and missing ones.

    ``own`` are the options that have their own setting; ``problem`` is what to try them on.

    >>> check_options("told-gap", 0.05, {"gap": "wide"})
    Traceback (most recent call last):
    askfew.errors.InvalidInput: the option gap must be a number, got 'wide': ...
    """
    for name, do in _SET_ELSEWHERE.items():
        if name in options:
            raise InvalidInput("options are what the method alone takes", name, do)
    own = dict(own or {})
    for name in own:
        if not takes_option(method, name):
            raise InvalidInput(
                f"{name} is a setting of another method",
                f"method {method!r}",
                f"leave {name} out" + _or_write(methods_with("given" if name == "rule" else name)),
            )
    parameters = inspect.signature(METHODS[method]).parameters
    for name in options.keys() & parameters.keys():
        _check_type(name, options[name], parameters[name].annotation)
    # Starting a method checks its options. It costs little, because a generator runs nothing
    # before its first Batch is asked for.
    problem = problem or Problem(3, 1)
    start(method, problem, np.random.default_rng(0), delta=delta, **own, **options)


def _or_write(methods: list[str]) -> str:
    return "".join(f', or write method = "{method}"' for method in methods[:1])


def _check_type(name: str, value: object, annotation: object) -> None:
    types, expected = _TYPES.get(getattr(annotation, "__name__", annotation), ((object,), "usable"))
    # True is an int in Python, but no number here.
    right = isinstance(value, types) and (bool in types or not isinstance(value, bool))
    if not right or (isinstance(value, int | float) and abs(value) > _MOST):
        raise InvalidInput(
            f"the option {name} must be {expected}", shown(value), "see the method's options"
        )
