"""``askfew work simulate``: a simulated crowd answers, for rehearsals."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from askfew.cli import options
from askfew.cli.campaigns.store_option import Name
from askfew.cli.work.desks import Idle, ServerUrl, Token, WorkStore, open_desks
from askfew.cli.work.shifts import log_to_notes, run_shifts, say
from askfew.workers.shift import Shift
from askfew.workers.simulate.crowd import Simulated, check_reliabilities, read_reliabilities
from askfew.workers.simulate.groups import digits_told, groups_from_file, random_groups

__all__ = ["simulate"]

_NAME = "simulated"
_PLATE = 20
"""Questions at a time, for one worker whose answers take no time."""


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
    log_to_notes()
    with open_desks(name, store, server, token, names) as desks:
        about = desks[0].describe()
        if about.question_ids is not None:
            check_reliabilities(by_question, about.question_ids)
        by_chance = random_groups(seed, balance, about.groups), about.groups
        planted, many = written or by_chance
        told = [each for each in about.question_ids or () if by_question.get(each, usual) != 0.5]
        digits = digits_told(told, many)
        crowd = Simulated(about.answers, planted, usual, by_question, seed, delay, digits)
        patience = float("inf") if idle is None else idle
        plate = 1 if delay or workers > 1 else _PLATE
        shifts = [Shift(desk, crowd, plate=plate, idle=patience) for desk in desks]
        say(run_shifts(shifts), {}, json=json)
