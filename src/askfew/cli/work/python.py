"""``askfew work python``: a Python function answers."""

from __future__ import annotations

import math
from typing import Annotated

from typer import Argument, Option

from askfew.cli import options
from askfew.cli.campaigns.store_option import Name
from askfew.cli.work.desks import Idle, ServerUrl, Token, WorkStore, at_work, open_desks, say
from askfew.workers.python import USUAL_PLATE, check_use, load_function, run

__all__ = ["python"]


def python(
    name: Name,
    function: Annotated[
        str,
        Argument(
            metavar="MODULE:FUNCTION",
            help="f(item, question), or f(batch) with a list; sync or async.",
            show_default=False,
        ),
    ],
    worker: Annotated[
        str, Option(help="Under which name it answers.", show_default="MODULE:FUNCTION")
    ] = "",
    threads: Annotated[int, Option(help="How many calls at a time.", min=1, max=1000)] = 1,
    processes: Annotated[
        int, Option(help="So many processes instead of threads.", min=0, max=1000)
    ] = 0,
    plate: Annotated[
        int | None,
        Option(
            help="f(batch): how many questions at a time.",
            min=1,
            max=200,
            show_default=str(USUAL_PLATE),
        ),
    ] = None,
    idle: Idle = None,
    store: WorkStore = None,
    server: ServerUrl = None,
    token: Token = None,
    json: options.AsJson = False,
) -> None:
    """Let a Python function answer until the campaign is over."""
    found = load_function(function)
    check_use(found, processes=processes, plate=plate)
    named = worker or ("" if server else function)
    with at_work(), open_desks(name, store, server, token, [named]) as (desk,):
        patience = math.inf if idle is None else idle
        worked = run(desk, found, threads=threads, processes=processes, plate=plate, idle=patience)
    say([worked], {}, json=json)
