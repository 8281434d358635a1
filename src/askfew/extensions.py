"""Functions that others bring: named as module:function, or installed under a name.

A package installs a function by an entry point, in its pyproject.toml:

    [project.entry-points."askfew.methods"]
    mine = "package.module:function"
"""

from __future__ import annotations

import importlib
import sys
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any, Literal

from askfew.errors import InvalidInput

__all__ = ["LOADED", "Group", "find", "installed"]

Group = Literal["askfew.methods", "askfew.oracles", "askfew.workers"]

LOADED: list[ModuleType] = []
"""Modules that were imported by module:function. Another machine may not have them."""


def installed(group: Group) -> dict[str, EntryPoint]:
    """The entry points of installed packages, by name."""
    return {each.name: each for each in entry_points(group=group)}


def find(group: Group, name: str) -> Any:
    """The function of this name, or None if none is installed and it is no module:function.

    >>> find("askfew.workers", "operator:add")(1, 2)
    3
    """
    by_name = installed(group)
    try:
        if name in by_name:
            found = by_name[name].load()
        elif ":" in name:
            found = _of_module(*name.split(":", 1))
        else:
            return None
    except (Exception, SystemExit) as error:  # importing runs foreign code, which may do anything
        raise InvalidInput(
            f"the function {name} must be importable",
            f"{type(error).__name__} ({error})",
            "check its name, and that Python finds it from this folder",
        ) from error
    if not callable(found):
        raise InvalidInput(f"{name} must be a function", repr(found)[:100], "name another")
    return found


def _of_module(module: str, attribute: str) -> Any:
    if "" not in sys.path:
        sys.path.insert(0, "")  # also from the current folder
    loaded = importlib.import_module(module)
    if loaded not in LOADED:
        LOADED.append(loaded)
    found: Any = loaded
    for part in attribute.split("."):
        found = getattr(found, part)
    return found
