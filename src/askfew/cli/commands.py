"""Every command: its name, where it lives, and what it says of itself in the help of the whole.

Commands need databases, solvers and web servers, which take a second to import. So the whole keeps
only a name, a place and a sentence of each: ``askfew --help`` loads none of them, and a command
loads what it needs itself.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_command, get_group

__all__ = ["COMMANDS", "Command", "Group", "LazyCommand"]


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


_ALONE = {
    "demo": (
        "demo:demo",
        "Two stories: what is asked, what it finds, what it costs; groups of equals, and a rule.",
    ),
    "simulate": (
        "simulate:simulate",
        "Run methods many times on simulated problems: what they cost and how often they err.",
    ),
    "bench": (
        "bench:bench",
        "Measure all methods on all instances, beside one another: answers, errors, what is found.",
    ),
    "paper": (
        "paper:paper",
        "Run one of the paper's experiments: CSV, figure (PNG and SVG), and a JSON of particulars.",
    ),
    "plan": (
        "plan:plan",
        "Forecast answers and money before the first answer, over what you do not know.",
    ),
    "calibrate": (
        "calibrate:calibrate",
        "Simulate many campaigns with your numbers: does the promise hold, and what do they cost?",
    ),
    "certify": (
        "certify:certify",
        "Sort new items by a rule that is there already, with a certificate about it.",
    ),
    "bounds": (
        "bounds:bounds",
        "What any method must pay, and what the paper's method may, on the problems of simulate.",
    ),
}
_CAMPAIGNS = {
    "new": ("new:new", "Create a campaign folder to fill in."),
    "create": (
        "campaigns.create:create",
        "Create a campaign from its folder, with its first questions open.",
    ),
    "list": ("campaigns.result:list_campaigns", "List the campaigns of a store, oldest first."),
    "status": (
        "campaigns.status:status",
        "Say where a campaign stands: phase and why, answers, money, workers, what is left.",
    ),
    "ask": (
        "campaigns.answering:ask",
        "Hand out questions to a worker, to be told or skipped by their id.",
    ),
    "tell": ("campaigns.answering:tell", "Answer a question; telling it twice counts once."),
    "skip": ("campaigns.answering:skip", "Give a question back unanswered: someone else is asked."),
    "result": (
        "campaigns.result:result",
        "Show the groups found, or so far: certified labels, and a guess for every other item.",
    ),
    "report": (
        "campaigns.result:write_report",
        "Write a campaign's report as one self-contained HTML file.",
    ),
    "export": (
        "campaigns.exchange:export",
        "Write answers, open questions or a whole campaign to a file.",
    ),
    "import": (
        "campaigns.exchange:import_file",
        "Read answers to open questions from a file, or a whole campaign.",
    ),
    "workers": (
        "campaigns.owning:workers",
        "List who has come to a campaign or was invited: answers, questions held, who was revoked.",
    ),
    "revoke": (
        "campaigns.owning:revoke",
        "Ask a worker no more: what they hold goes to others, what they answered counts.",
    ),
    "pause": (
        "campaigns.owning:pause",
        "Hand out nothing until resumed; answers on their way are still taken.",
    ),
    "resume": ("campaigns.owning:resume", "Go on with a paused campaign."),
    "close": (
        "campaigns.owning:close",
        "End a campaign for good: what is certified stays, the rest has guesses.",
    ),
    "doctor": (
        "campaigns.store:doctor",
        "Check a store: replay every campaign, and count its answers again.",
    ),
    "serve": (
        "campaigns.serve:serve",
        "Serve pages and the HTTP API over the campaigns of a store.",
    ),
    "mcp": (
        "campaigns.mcp:mcp",
        "Serve campaigns to an AI agent: create, ask, tell, status, result as MCP tools.",
    ),
    "store": (
        "campaigns.store:store_app",
        "Look after the database that holds the campaigns.",
    ),
    "work": (
        "work:work_app",
        "Answer a campaign: an LLM, a Python function, a simulated crowd.",
    ),
    "token": (
        "campaigns.owning:token_app",
        "Look after the token that the owner of a store logs in with.",
    ),
}

COMMANDS: dict[str, LazyCommand] = {
    **{name: LazyCommand(name, *about) for name, about in _ALONE.items()},
    **{name: LazyCommand(name, *about, panel="Campaigns") for name, about in _CAMPAIGNS.items()},
}
"""By name, in the order of the help."""
