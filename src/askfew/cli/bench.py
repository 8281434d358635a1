"""``askfew bench``: what every method costs on every instance, measured in one run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Annotated

from rich.table import Table
from typer import Option

from askfew.algorithms import check_delta
from askfew.cli import options
from askfew.cli.output import notes, print_json, progress, report
from askfew.cli.places import check_drawable, check_writable
from askfew.errors import InvalidInput
from askfew.experiments.bench import METHODS, SUITES, Cell, draw, flat, pairs, run_bench, write_csv

__all__ = ["bench"]


def bench(
    suite: Annotated[str, Option(help=f"One of {', '.join(SUITES)}.")] = "quick",
    methods: Annotated[str, Option(help="Methods, comma-separated.")] = ",".join(METHODS),
    delta: options.Delta = 0.05,
    runs: Annotated[int, Option(help="Runs of each method on each instance.")] = 100,
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
    csv: Annotated[Path | None, Option(help="Write the table there.")] = None,
    figure: Annotated[Path | None, Option(help="Draw it there (PNG, SVG, PDF).")] = None,
    json: options.AsJson = False,
) -> None:
    """Measure answers, errors and time of every method on every instance, beside one another."""
    check_delta(delta)
    check_writable(csv)
    check_drawable(figure)
    chosen = methods.split(",")
    for name, known, what in ((suite, SUITES, "suite"), *((m, METHODS, "method") for m in chosen)):
        if name not in known:
            raise InvalidInput(
                f"a {what} must be one of {', '.join(known)}", repr(name), "choose one"
            )
    began = time.perf_counter()
    cells = run_bench(
        suite,
        delta=delta,
        runs=runs,
        seed=seed,
        jobs=jobs,
        methods=chosen,
        watch=lambda cells: _told(progress("bench", len(pairs(suite, chosen)))(cells)),
    )
    seconds = time.perf_counter() - began
    caption = f"suite {suite}, delta {delta:g}, seed {seed}, {runs} runs, {seconds:.0f} s"
    if csv is not None:
        write_csv(cells, csv)
    if figure is not None:
        draw(cells, caption, figure)
    if json:
        head = {"suite": suite, "delta": delta, "runs": runs, "seed": seed, "seconds": seconds}
        print_json({**head, "cells": [flat(cell) for cell in cells]})
    else:
        _print_tables(cells)
        notes.print(caption)


def _told(cells: Iterator[Cell]) -> Iterator[Cell]:
    """A line for each as it comes: the whole table may take an hour."""
    for cell in cells:
        answers = _count(cell.summary.mean_answers)
        notes.print(f"{cell.case}: {cell.method} {answers} answers, {cell.seconds:.1f} s")
        yield cell


_COLUMNS = {
    "answers": 9,
    "95 %": 9,
    "errors, %": 15,
    "/ paper": 7,
    "/ told": 7,
    "batches": 7,
    "s": 5,
}
"""With their widths: together they fit a terminal of eighty characters."""


def _print_tables(cells: Sequence[Cell]) -> None:
    """One for each instance; their columns stand below one another."""
    for case, measured in groupby(cells, key=attrgetter("case")):
        table = Table(title=f"\n{case}", title_justify="left", box=None, padding=(0, 1, 0, 0))
        table.add_column("method", min_width=9, no_wrap=True)
        for name, width in _COLUMNS.items():
            table.add_column(name, min_width=width, no_wrap=True, justify="right")
        for cell in measured:
            table.add_row(cell.method, *_figures(cell))
        report.print(table)


def _figures(cell: Cell) -> list[str]:
    low, high = cell.summary.error_interval
    return [
        _count(cell.summary.mean_answers),
        _count(cell.summary.q95_answers),
        f"{100 * cell.summary.error_rate:.1f} ({100 * low:.1f}..{100 * high:.1f})",
        _ratio(cell.to_paper),
        _ratio(cell.to_told_gap),
        f"{cell.summary.mean_batches:,.0f}",
        f"{cell.seconds:.1f}",
    ]


def _count(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def _ratio(value: float | None) -> str:
    if value is None:
        return "-"
    return (
        f"1/{1 / value:,.0f}" if value < 0.1 else f"{value:,.3g}" if value < 100 else _count(value)
    )
