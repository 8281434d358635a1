"""``askfew work python``: a Python function answers."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated

from typer import Argument, Option

from askfew.cli import options
from askfew.cli.campaigns.store_option import Name
from askfew.cli.work.desks import Idle, ServerUrl, Token, WorkStore, open_desks
from askfew.cli.work.shifts import log_to_notes, run_shifts, say
from askfew.errors import InvalidInput
from askfew.workers.pictures import Pictures
from askfew.workers.python.caller import FunctionAnswerer
from askfew.workers.python.function import load_function
from askfew.workers.shift import Shift

__all__ = ["python"]

_PLATE = 100


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
            show_default=str(_PLATE),
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
    if plate is not None and not found.batched:
        raise InvalidInput(
            f"with --plate, {function} must take a batch", "(item, question)", "write def f(batch)"
        )
    if processes and found.is_async:
        raise InvalidInput(
            "a function for --processes must not be async", function, "leave --processes out"
        )
    log_to_notes()
    named = worker or ("" if server else function)
    with ExitStack() as stack:
        (desk,) = stack.enter_context(open_desks(name, store, server, token, [named]))
        about = desk.describe()
        pictures = Pictures(desk)
        stack.callback(pictures.close)
        slots = processes or threads
        caller = FunctionAnswerer(
            found, about.answers, pictures, workers=slots, processes=bool(processes)
        )
        stack.callback(caller.close)
        size = (plate or _PLATE) if found.batched else 1
        shift = Shift(desk, caller, slots, size, float("inf") if idle is None else idle)
        say(run_shifts([shift]), {}, json=json)
