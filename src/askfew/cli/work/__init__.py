"""``askfew work``: workers without a browser. ``python`` and ``simulate`` are here, ``llm`` beside.

A command reads its options, opens desks and calls the ``run`` of its worker.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from askfew.cli import options
from askfew.cli.campaigns.store_option import Name
from askfew.cli.commands import Command, Group
from askfew.cli.work.desks import USUAL_DESK, DeskOptions
from askfew.cli.work.llm import llm
from askfew.workers import python as python_worker
from askfew.workers import simulate as simulated_worker

__all__ = ["work_app"]

_NAME = "simulated"


@options.expand_options
def python(
    name: Name,
    function: Annotated[
        str,
        Argument(
            metavar="MODULE:FUNCTION",
            help="f(item, question), or f(batch) with a list; sync or async. Or the name of an"
            " installed one.",
            show_default=False,
        ),
    ],
    worker: Annotated[
        str, Option(help="The name that it answers under.", show_default="MODULE:FUNCTION")
    ] = "",
    threads: Annotated[int, Option(help="How many calls at a time.", min=1, max=1000)] = 1,
    processes: Annotated[
        int, Option(help="How many processes, instead of threads.", min=0, max=1000)
    ] = 0,
    plate: Annotated[
        int | None,
        Option(
            help="f(batch): how many questions at a time.",
            min=1,
            max=200,
            show_default=str(python_worker.USUAL_PLATE),
        ),
    ] = None,
    desk: DeskOptions = USUAL_DESK,
) -> None:
    """Let a Python function answer until the campaign is over."""
    loaded = python_worker.load_function(function)
    # Before a desk is opened: nothing is leased for a command that cannot work.
    python_worker.check_use(loaded, processes=processes, plate=plate)
    with desk.open(name, [desk.name(worker, function)]) as (opened,):
        done = python_worker.run(
            opened,
            loaded,
            threads=threads,
            processes=processes,
            plate=plate,
            idle=desk.patience,
        )
    desk.print([done])


@options.expand_options
def simulate(
    name: Name,
    reliability: Annotated[
        list[str] | None,
        Option(
            metavar="[QUESTION=]NUMBER",
            help="How often an answer is right; for one question, or for all.",
            show_default="0.9",
        ),
    ] = None,
    workers: Annotated[int, Option(help="How many simulated workers.", min=1, max=1000)] = 1,
    worker: Annotated[
        str, Option(help="Their name; several are numbered.", show_default=_NAME)
    ] = "",
    groups: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="A CSV file with the columns id and group; else the seed decides.",
            show_default=False,
        ),
    ] = None,
    balance: Annotated[
        float, Option(help="The second of two groups' share, where the seed decides.", min=0, max=1)
    ] = 0.5,
    seed: options.Seed = 0,
    delay: Annotated[float, Option(help="Seconds that an answer takes.", min=0)] = 0.0,
    desk: DeskOptions = USUAL_DESK,
) -> None:
    """Rehearse: answer as a crowd of given reliability would, until the campaign is over."""
    usual, by_question = simulated_worker.read_reliabilities(reliability or [])
    planted = None if groups is None else simulated_worker.groups_from_file(groups)
    # Numbered, because a campaign counts answers by name: two of one name would be one worker.
    names = [f"{worker or _NAME} {n + 1}" for n in range(workers)]
    if workers == 1:
        names = [desk.name(worker, _NAME)]
    with desk.open(name, names) as desks:
        done = simulated_worker.run(
            desks,
            reliability=usual,
            by_question=by_question,
            groups=planted,
            balance=balance,
            seed=seed,
            delay=delay,
            idle=desk.patience,
        )
    desk.print(done)


work_app = typer.Typer(
    cls=Group,
    help="Answer a campaign: an LLM, a Python function, a simulated crowd.",
    no_args_is_help=True,
)
for command in (llm, python, simulate):
    work_app.command(cls=Command)(command)
