"""``askfew paper``: the paper's experiments. A run that was stopped goes on where it was."""

from __future__ import annotations

import json as json_module
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from rich.table import Table
from rich.text import Text
from typer import Argument, Option

from askfew.cli import options
from askfew.cli.output import note, notes, print_json, progress, report
from askfew.errors import InvalidInput
from askfew.experiments import exp1, exp2, exp3, exp4
from askfew.experiments.slopes import Growth, growth
from askfew.experiments.study import Line, Measured, Study, run_study
from askfew.simulation import Engine, dask, local
from askfew.wording import counted, ratio

__all__ = ["paper"]

EXPERIMENTS: dict[str, tuple[Callable[[], Study], int]] = {
    "exp1": (exp1.study, 100),
    "exp2": (exp2.study, 40),
    "exp3": (exp3.study, 20),
    "exp4": (exp4.study, 100),
}
"""Each with its default number of runs: what two cores do in a few minutes. The paper has 5000."""


def paper(
    experiment: Annotated[str, Argument(help=f"One of {', '.join(EXPERIMENTS)}.")],
    runs: Annotated[int | None, Option(help="Runs per point (the paper has 5000).")] = None,
    seed: options.Seed = 0,
    folder: Annotated[Path, Option(help="Where results, table and figure go.")] = Path("results"),
    fresh: Annotated[
        bool, Option("--fresh/--resume", help="Start anew, or go on with what is in the folder.")
    ] = False,
    jobs: options.Jobs = -1,
    engine: Annotated[str, Option(help="local or dask.")] = "local",
    scheduler: Annotated[str | None, Option(help="Address of the Dask scheduler.")] = None,
    published: Annotated[
        Path | None, Option(help="The authors' published numbers (JSON), drawn as points.")
    ] = None,
    json: options.AsJson = False,
) -> None:
    """Run one of the paper's experiments: CSV, figure (PNG and SVG), and the details as JSON."""
    if experiment not in EXPERIMENTS:
        raise InvalidInput(
            f"experiment must be one of {', '.join(EXPERIMENTS)}", repr(experiment), "choose one"
        )
    make, default_runs = EXPERIMENTS[experiment]
    study, runs = make(), default_runs if runs is None else runs
    # Read before the runs: a wrong file must not be noticed after an hour.
    points = _published_lines(study, published)
    measured = run_study(
        study,
        folder,
        runs=runs,
        seed=seed,
        engine=_engine(engine, jobs, scheduler),
        fresh=fresh,
        watch=progress(experiment, len(study.places)),
    )
    drawn = _draw(
        study, measured, points, folder, f"seed {seed}, {runs} runs per point, bands 5 to 95 %"
    )
    grown = [(claim.sentence, growth(claim, measured, points)) for claim in study.claims]
    if json:
        print_json(
            {
                "experiment": experiment,
                "runs": runs,
                "seed": seed,
                "cells": [asdict(c) for c in measured],
                "growth": [asdict(each) for _, each in grown if each is not None],
            }
        )
    else:
        report.print(Text(study.title, style="bold"))
        for sentence in _conclusions(study, measured, grown):
            report.print(Text(f"- {sentence}"))
        _print_table(study, measured)
        figures = ", .png, .svg" if drawn else ""
        note(f"Written to {folder}: {experiment}.csv, .json{figures}")


def _engine(name: str, jobs: int, scheduler: str | None) -> Engine:
    if name == "local":
        return local(jobs)
    if name == "dask" and scheduler is not None:
        return dask(scheduler)
    raise InvalidInput(
        "engine must be local, or dask with a --scheduler address",
        f"{name!r} with scheduler {scheduler!r}",
        "pass for example --engine dask --scheduler tcp://127.0.0.1:8786",
    )


def _published_lines(study: Study, path: Path | None) -> list[Line]:
    if path is None or study.published is None:
        return []
    try:
        return study.published(json_module.loads(path.read_text()))
    except (OSError, ValueError, KeyError) as error:
        raise InvalidInput(
            "--published must be a JSON file of the authors' results",
            f"{path} ({error})",
            "leave it out",
        ) from error


def _draw(
    study: Study, measured: Sequence[Measured], points: list[Line], folder: Path, caption: str
) -> bool:
    """Draw the figure if matplotlib is installed; return whether it is."""
    try:
        from askfew.experiments.curves import draw_curves
    except ImportError:
        notes.print("No figure: it needs matplotlib (pip install 'askfew\\[plot]').")
        return False
    draw_curves(
        measured,
        [*study.lines, *points],
        folder / study.name,
        title=study.title,
        x_label=study.x_label,
        caption=caption,
    )
    return True


def _print_table(study: Study, measured: Sequence[Measured]) -> None:
    table = Table(
        "curve",
        study.x_name,
        "mean answers",
        "5 % to 95 %",
        "errors",
        "unfinished",
    )
    for column in table.columns[1:]:
        column.justify = "right"
    for cell in measured:
        s = cell.summary
        spread = "-" if s.q05_answers is None else f"{s.q05_answers:,.0f} to {s.q95_answers:,.0f}"
        mean = "-" if s.mean_answers is None else f"{s.mean_answers:,.0f}"
        table.add_row(
            cell.curve, f"{cell.x:g}", mean, spread, f"{s.error_rate:.1%}", str(s.unfinished)
        )
    report.print(table)


def _conclusions(
    study: Study, measured: Sequence[Measured], grown: Sequence[tuple[str, Growth | None]]
) -> list[str]:
    """The conclusions in sentences: ratio of costs, errors, growth."""
    said = []
    if study.compared is not None:
        ours, theirs = (_means(measured, curve) for curve in study.compared)
        ratios = sorted(ours[x] / theirs[x] for x in ours.keys() & theirs.keys())
        if ratios:
            low, middle, high = (ratio(ratios[at]) for at in (0, len(ratios) // 2, -1))
            said.append(
                f"{study.compared[0]} asks {middle} of the answers of {study.compared[1]}"
                f" (the median over {study.x_name}; from {low} to {high})."
            )
    for curve in dict.fromkeys(cell.curve for cell in measured if cell.curve.startswith("frugal")):
        cells = [cell for cell in measured if cell.curve == curve]
        wrong, runs = sum(cell.summary.errors for cell in cells), sum(cell.runs for cell in cells)
        said.append(f"{curve} gave a wrong label in {wrong:,} of {counted(runs, 'run')}.")
    return said + [_grown(study, each, claim) for claim, each in grown if each is not None]


def _means(measured: Sequence[Measured], curve: str) -> dict[float, float]:
    return {
        cell.x: cell.summary.mean_answers
        for cell in measured
        if cell.curve == curve and cell.summary.mean_answers is not None
    }


def _grown(study: Study, measured: Growth, said: str) -> str:
    slope, published = measured.slope, measured.published
    theirs = (
        ""
        if published is None
        else f"; published: {published.exponent:.2f} ({published.low:.2f} to {published.high:.2f})"
    )
    return (
        f"{measured.curve}: exponent {slope.exponent:.2f} (95 % interval {slope.low:.2f} to"
        f" {slope.high:.2f}){theirs}. The largest {study.x_name} is {ratio(measured.x_factor)}"
        f" times the smallest, the largest mean {ratio(measured.mean_factor)} times. Said: {said}."
    )
