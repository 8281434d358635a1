"""The list of commands: name, place of the code, and the sentence for ``askfew --help``.

Commands need databases, solvers and web servers, which take a second to import. So this list has
only strings: ``askfew --help`` imports no command, and a command imports only what it needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_command, get_group

__all__ = ["COMMANDS", "Command", "Group", "LazyCommand"]


class Command(TyperCommand):
    """A command whose help shows flags without a value."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters of the command."""
        return _plain_flags(super().get_params(ctx))


class Group(TyperGroup):
    """A group of commands whose help shows flags without a value."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters before the command."""
        return _plain_flags(super().get_params(ctx))


def _plain_flags(parameters: list[Any]) -> list[Any]:
    for each in parameters:
        if isinstance(each, TyperOption) and each.is_flag:
            each.metavar = ""  # otherwise Typer shows <bool>, as if one had to write --json true
    return parameters


class LazyCommand(TyperCommand):
    """The command, or the group of commands, at ``module:name`` in ``askfew.cli``."""

    def __init__(self, name: str, place: str, sentence: str, panel: str | None = None) -> None:
        super().__init__(name, help=sentence, rich_help_panel=panel)
        self._called, self._place = name, place

    def load(self) -> Any:
        """Import the command."""
        module, attribute = self._place.split(":")
        found = getattr(import_module(f"askfew.cli.{module}"), attribute)
        if isinstance(found, typer.Typer):
            return get_group(found)
        alone = typer.Typer(add_completion=False)
        alone.command(self._called, cls=Command)(found)
        return get_command(alone)

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """Start parsing, with the imported command from here on."""
        return self.load().make_context(info_name, args, parent, **extra)


_ALONE = {
    "demo": (
        "demo:demo",
        "Run two examples, one for each promise: what is asked, what is found, what it costs.",
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
        "Run one of the paper's experiments: CSV, figure (PNG and SVG), and the details as JSON.",
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
        "Sort new items by an existing rule, with a certificate about it.",
    ),
    "bounds": (
        "bounds:bounds",
        "Compute what any method needs at least, and the paper's method at most, on a problem.",
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
    "invite": (
        "campaigns.invite:invite",
        "Make links by which people come to a campaign and answer in a browser.",
    ),
    "workers": (
        "campaigns.owning:workers",
        "List who has come to a campaign or was invited: answers, questions held, who was revoked.",
    ),
    "revoke": (
        "campaigns.owning:revoke",
        "Stop asking a worker: their open questions go to others, their answers count.",
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
        "campaigns.serve:mcp",
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
