"""How commands show themselves: a flag takes no value, so its help names none."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup, TyperOption

__all__ = ["Command", "Group"]


class Command(TyperCommand):
    """A command whose flags stand alone in its help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """What it takes."""
        return _plain_flags(super().get_params(ctx))


class Group(TyperGroup):
    """A group of commands, likewise."""

    def get_params(self, ctx: Any) -> list[Any]:
        """What it takes before the command."""
        return _plain_flags(super().get_params(ctx))


def _plain_flags(parameters: list[Any]) -> list[Any]:
    for each in parameters:
        if isinstance(each, TyperOption) and each.is_flag:
            each.metavar = ""  # else Typer writes <bool>, as if one had to say --json true
    return parameters
