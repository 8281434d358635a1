"""``askfew demo``: the whole story in seconds, on a simulated crowd."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from rich.panel import Panel
from rich.table import Table
from typer import Option

from askfew.algorithms import start
from askfew.cli import options
from askfew.cli.demo_crowd import PRICE, QUESTIONS, Crowd, draw_crowd
from askfew.cli.demo_table import print_story, tell_table
from askfew.cli.output import check_drawable, note, print_json, report
from askfew.driver import run
from askfew.errors import MissingExtra
from askfew.log import Log
from askfew.outcome import Outcome, outcome_of
from askfew.wording import ratio

__all__ = ["demo"]

DELTA = 0.05
METHOD = "frugal"
TRIES = 20
"""Runs that asking everything must get right in a row before we say it is enough."""


@dataclass(frozen=True)
class Bill:
    """What one way of asking costs on this crowd, and what is promised for it."""

    way: str
    answers: int
    right: bool
    promise: str


def demo(
    seed: options.Seed = 1,
    picture: Annotated[Path | None, Option(help="Where to save the picture.")] = Path(
        "askfew-demo.png"
    ),
    serve: Annotated[
        bool, Option("--serve", help="A live campaign in the browser instead.")
    ] = False,
    port: Annotated[int, Option(min=0, max=65_535, help="Of --serve; 0 for any free one.")] = 8080,
    pause: Annotated[
        float, Option(min=0, help="Of --serve: seconds a simulated worker thinks.")
    ] = 1.0,
    json: options.AsJson = False,
) -> None:
    """Two stories: what is asked, what it finds, what it costs; groups of equals, and a rule."""
    if serve:
        from askfew.cli.demo_live import serve_demo  # needs what the two stories do not

        serve_demo(seed, port, pause)
        return
    try:
        check_drawable(picture)
    except MissingExtra as error:  # a demo without a picture is a demo all the same
        note(f"No picture: {error}")
        picture = None
    crowd = draw_crowd(seed)
    if not json:
        report.print(Panel(crowd.story(DELTA), title="askfew demo", title_align="left"))
    log = Log(crowd.oracle(0).problem)
    outcome = _ask(crowd, METHOD, seed, log)
    if not json:
        _print_course(log)
        _print_finding(crowd, outcome)
    bills = [
        _bill(crowd, f"askfew ({METHOD})", outcome),
        _bill(crowd, "the paper's method", _ask(crowd, "paper", seed)),
        _asking_everything(crowd, seed),
    ]
    if picture is not None:
        _save_picture(picture, crowd, log, bills)
    second = tell_table(seed, DELTA)
    if json:
        story = {"outcome": outcome.to_dict(), "bills": [vars(bill) for bill in bills]}
        print_json({**story, "table": None if second is None else second.to_dict()})
        return
    _print_bills(bills)
    if second is None:
        note(
            "A second story, of a real table, needs scikit-learn: pip install 'askfew[baselines]'."
        )
    else:
        print_story(second)


def _ask(
    crowd: Crowd, method: str, seed: int, log: Log | None = None, budget: int | None = None
) -> Outcome:
    oracle = crowd.oracle(seed)
    rng = np.random.default_rng([seed, 1])
    procedure = start(method, oracle.problem, rng, delta=DELTA, budget=budget)
    ended = run(procedure, oracle, log=log, max_answers=10**8)
    return outcome_of(ended, crowd.names, QUESTIONS)


def _asking_everything(crowd: Crowd, seed: int) -> Bill:
    """Double the answers a cell until k-means is right in every one of some tries."""
    everything = len(crowd.names) * len(QUESTIONS)
    sweeps = 1
    while not all(
        crowd.is_right(_ask(crowd, "kmeans10", seed + i, budget=sweeps * everything).labels)
        for i in range(TRIES)
    ):
        sweeps *= 2
    way = f"everything, {sweeps} times"
    return Bill(way, sweeps * everything, True, f"none; right in {TRIES} of {TRIES} tries")


def _bill(crowd: Crowd, way: str, outcome: Outcome) -> Bill:
    promise = f"all labels right, {1 - DELTA:.0%}" if outcome.certificate else "none"
    return Bill(way, outcome.answers, crowd.is_right(outcome.labels), promise)


def _print_course(log: Log) -> None:
    """The first batches in full, the middle in a line, and the last one."""
    report.print("\n[bold]What is asked[/bold]")
    steps = log.steps
    shown = [*range(min(4, len(steps))), *range(max(4, len(steps) - 3), len(steps))]
    for before, index in zip([-1, *shown], shown, strict=False):
        if index > before + 1:
            report.print(f"  [dim]... {index - before - 1} more batches[/dim]")
        step = steps[index]
        report.print(
            f"  batch {index + 1:>3}  {step.tally.answers:>6,} answers  {step.batch.why}",
            overflow="ellipsis",
            no_wrap=True,
        )


def _print_finding(crowd: Crowd, outcome: Outcome) -> None:
    report.print("\n[bold]What it finds[/bold]")
    verdict = "every label is right" if crowd.is_right(outcome.labels) else "some label is wrong"
    report.print(f"{outcome}\n[dim](The crowd is simulated, so we may look: {verdict}.)[/dim]")


def _print_bills(bills: list[Bill]) -> None:
    table = Table("way of asking", "answers", "money", "to askfew's", "promise")
    for column in table.columns[1:4]:
        column.justify = "right"
        column.no_wrap = True
    for bill in bills:
        table.add_row(
            bill.way,
            f"{bill.answers:,}",
            f"${bill.answers * PRICE:,.2f}",
            ratio(bill.answers / bills[0].answers),
            bill.promise if bill.right else f"{bill.promise}, and wrong here",
        )
    report.print("\n[bold]What it costs[/bold]")
    report.print(table)


def _save_picture(path: Path, crowd: Crowd, log: Log, bills: list[Bill]) -> None:
    from askfew.cli.demo_picture import draw  # matplotlib takes long to import

    draw(path, crowd, log, [(bill.way, bill.answers) for bill in bills])
    note(f"Picture saved as {path}")
