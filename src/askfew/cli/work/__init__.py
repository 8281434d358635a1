"""``askfew work``: answer a campaign without a browser, one kind of worker a file."""

from __future__ import annotations

import typer

from askfew.cli.commands import Command, Group
from askfew.cli.work.llm import llm
from askfew.cli.work.python import python
from askfew.cli.work.simulate import simulate

__all__ = ["work_app"]

work_app = typer.Typer(
    cls=Group,
    help="Answer a campaign: an LLM, a Python function, a simulated crowd.",
    no_args_is_help=True,
)
for command in (llm, python, simulate):
    work_app.command(cls=Command)(command)
