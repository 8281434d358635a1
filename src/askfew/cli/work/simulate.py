"""``askfew work simulate``: a simulated crowd answers, for rehearsals."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

from typer import Option

from askfew.cli import options
from askfew.cli.campaigns.store_option import Name
from askfew.cli.work.desks import Idle, ServerUrl, Token, WorkStore, at_work, open_desks, say
from askfew.workers.simulate import groups_from_file, read_reliabilities, run

__all__ = ["simulate"]

_NAME = "simulated"


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
    idle: Idle = None,
    store: WorkStore = None,
    server: ServerUrl = None,
    token: Token = None,
    json: options.AsJson = False,
) -> None:
    """Rehearse: answer as a crowd of given reliability would, until the campaign is over."""
    usual, by_question = read_reliabilities(reliability or [])
    written = None if groups is None else groups_from_file(groups)
    if workers > 1:
        names = [f"{worker or _NAME} {n + 1}" for n in range(workers)]
    else:
        names = [worker or ("" if server else _NAME)]  # an invitation knows its worker
    with at_work(), open_desks(name, store, server, token, names) as desks:
        worked = run(
            desks,
            reliability=usual,
            by_question=by_question,
            groups=written,
            balance=balance,
            seed=seed,
            delay=delay,
            idle=math.inf if idle is None else idle,
        )
    say(worked, {}, json=json)
