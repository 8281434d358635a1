"""Find the function that a command names, and see how it wants to be called."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from askfew.errors import InvalidInput

__all__ = ["Function", "load_function"]


@dataclass(frozen=True)
class Function:
    """``f(item, question)``, or ``f(batch)`` with a list of cells; sync or async."""

    name: str
    call: Callable[..., Any]
    batched: bool
    is_async: bool


def load_function(name: str) -> Function:
    """The function ``module:function``; modules are also looked for in the current folder.

    >>> load_function("operator:add").batched
    False
    """
    module_name, colon, attribute = name.partition(":")
    if not (module_name and colon and attribute):
        raise InvalidInput(
            "a function must be written module:function", repr(name), "say for example judge:answer"
        )
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:  # whatever the user's module does when imported
        raise InvalidInput(
            f"the function {name} must be importable",
            f"{type(error).__name__} ({error})",
            "check its name, and that Python finds it from this folder",
        ) from error
    if not callable(found):
        raise InvalidInput(f"{name} must be a function", repr(found)[:100], "name another")
    return Function(name, found, _takes_batch(name, found), _is_async(found))


def _takes_batch(name: str, function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # some built-in functions say nothing about themselves
        return False
    needed = [
        each
        for each in parameters
        if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
        and each.default is each.empty
    ]
    if len(needed) > 2 or (not needed and not any(p.kind is p.VAR_POSITIONAL for p in parameters)):
        raise InvalidInput(
            f"{name} must take (item, question), or (batch)",
            f"{len(needed)} arguments",
            "write def f(item, question)",
        )
    return len(needed) == 1


def _is_async(function: Callable[..., Any]) -> bool:
    call = getattr(function, "__call__", None)  # noqa: B004 (an object's own, if it is async)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)
