"""A command that is imported when it is used.

Commands need databases, solvers and web servers, which take a second to import. So the whole keeps
only a name, a place and a sentence of each: ``askfew --help`` loads none of them, and a command
loads what it needs itself.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand
from typer.main import get_command, get_group

from askfew.cli.help import Command

__all__ = ["LazyCommand"]


class LazyCommand(TyperCommand):
    """Stands for the command, or the group of commands, at ``module:name`` in ``askfew.cli``."""

    def __init__(self, name: str, place: str, sentence: str, panel: str | None = None) -> None:
        super().__init__(name, help=sentence, rich_help_panel=panel)
        self._called, self._place = name, place

    def load(self) -> Any:
        """The command itself."""
        module, attribute = self._place.split(":")
        found = getattr(import_module(f"askfew.cli.{module}"), attribute)
        if isinstance(found, typer.Typer):
            return get_group(found)
        alone = typer.Typer(add_completion=False)
        alone.command(self._called, cls=Command)(found)
        return get_command(alone)

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """Where parsing begins: from here on it is the command itself."""
        return self.load().make_context(info_name, args, parent, **extra)
