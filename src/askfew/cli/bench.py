"""``askfew bench``: what every method costs and finds, measured in one run."""

from __future__ import annotations

import csv as csv_module
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Annotated

from rich.table import Table
from typer import Option

from askfew.algorithms import check_delta
from askfew.cli import options
from askfew.cli.output import check_drawable, check_writable, notes, print_json, progress, report
from askfew.errors import InvalidInput
from askfew.experiments.bench import (
    METHODS,
    PEERS,
    SUITES,
    Cell,
    Floor,
    cell_row,
    default_methods,
    floors,
    pairs,
    run_bench,
)
from askfew.experiments.real import RealRow, run_real
from askfew.experiments.real_worlds import RealWorld, packaged_worlds, worlds_in
from askfew.simulation import local
from askfew.wording import ratio

__all__ = ["bench"]

_SUITES = (*SUITES, "real")


def bench(
    suite: Annotated[str, Option(help=f"One of {', '.join(_SUITES)}.")] = "quick",
    methods: Annotated[
        str | None, Option(help="Methods of a planted suite, comma-separated.")
    ] = None,
    delta: options.Delta = 0.05,
    runs: Annotated[int, Option(help="Runs of each method on each planted instance.")] = 100,
    seeds: Annotated[int, Option(help="Seeds of each world of the suite real.")] = 20,
    data: Annotated[
        Path | None, Option(help="A folder of tables NAME.npz, for the suite real instead.")
    ] = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
    csv: Annotated[Path | None, Option(help="Write the table there.")] = None,
    figure: Annotated[Path | None, Option(help="Draw it there (PNG, SVG, PDF).")] = None,
    json: options.AsJson = False,
) -> None:
    """Measure all methods on all instances, beside one another: answers, errors, what is found."""
    check_delta(delta)
    check_writable(csv)
    check_drawable(figure)
    _check_known(suite, _SUITES, "suite")
    if suite == "real":
        _bench_real(data, delta, seeds, seed, jobs, csv, figure, json)
        return
    if data is not None:
        raise InvalidInput("--data is for the suite real", f"suite {suite}", "leave it out")
    chosen = default_methods(suite) if methods is None else methods.split(",")
    for name in chosen:
        _check_known(name, dict.fromkeys((*METHODS, *PEERS)), "method")
    began = time.perf_counter()
    cells = run_bench(
        suite,
        delta=delta,
        runs=runs,
        seed=seed,
        jobs=jobs,
        methods=chosen,
        # Both: a bar for a terminal, and lines for the log of a run over night.
        watch=lambda cells: _announced(progress("bench", len(pairs(suite, chosen)))(cells)),
    )
    seconds = time.perf_counter() - began
    least = [floor for case in SUITES[suite] for floor in floors(case, delta)]
    caption = f"suite {suite}, delta {delta:g}, seed {seed}, {runs} runs, {seconds:.0f} s"
    if csv is not None:
        _write_csv([cell_row(cell) for cell in cells] + [_floor_row(floor) for floor in least], csv)
    if figure is not None:
        from askfew.experiments.bench_figures import draw_planted

        draw_planted(cells, least, delta, caption, figure)
    if json:
        head = {"suite": suite, "delta": delta, "runs": runs, "seed": seed, "seconds": seconds}
        bounds = [asdict(floor) for floor in least]
        print_json({**head, "cells": [cell_row(cell) for cell in cells], "bounds": bounds})
    else:
        _print_tables(cells, least)
        notes.print(caption)


def _check_known(name: str, known: Sequence[str] | Mapping[str, object], what: str) -> None:
    if name not in known:
        raise InvalidInput(f"a {what} must be one of {', '.join(known)}", repr(name), "choose one")


def _floor_row(floor: Floor) -> dict[str, object]:
    return {"case": floor.case, "method": floor.name, "mean_answers": floor.answers}


def _write_csv(rows: Sequence[Mapping[str, object]], path: Path) -> None:
    """One row for each cell, with the columns of the first row."""
    with path.open("w", newline="") as file:
        writer = csv_module.DictWriter(file, fieldnames=list(rows[0]), restval="")
        writer.writeheader()
        writer.writerows(rows)


def _announced(cells: Iterator[Cell]) -> Iterator[Cell]:
    """Print a line for each cell when it is done: the whole table may take an hour."""
    for cell in cells:
        answers = _count(cell.summary.mean_answers)
        notes.print(f"{cell.case}: {cell.method} {answers} answers, {cell.seconds:.1f} s")
        yield cell


_COLUMNS = {
    "answers": 9,
    "95 %": 9,
    "errors, %": 16,
    "/ paper": 7,
    "/ told": 7,
    "batches": 7,
    "s": 4,
}
"""With their widths: together they fit a terminal of eighty characters."""


def _print_tables(cells: Sequence[Cell], least: Sequence[Floor]) -> None:
    """Print a table for each instance, all with the same column widths."""
    for case, measured in groupby(cells, key=attrgetter("case")):
        table = _table(case, "method", 13, _COLUMNS)
        for cell in measured:
            table.add_row(cell.method, *_figures(cell))
        for floor in least:
            if floor.case == case:
                table.add_row(floor.name, _count(floor.answers))
        report.print(table)


def _table(title: str, first: str, width: int, columns: Mapping[str, int]) -> Table:
    table = Table(
        title=f"\n{title}",
        title_justify="left",
        box=None,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    table.add_column(first, min_width=width, no_wrap=True)
    for name, least in columns.items():
        table.add_column(name, min_width=least, overflow="fold", justify="right")
    return table


def _figures(cell: Cell) -> list[str]:
    low, high = cell.summary.error_interval
    return [
        _count(cell.summary.mean_answers),
        _count(cell.summary.q95_answers),
        f"{_percent(cell.summary.error_rate)} ({_percent(low)}..{_percent(high)})",
        _ratio(cell.to_paper),
        _ratio(cell.to_told_gap),
        f"{cell.summary.mean_batches:,.0f}",
        f"{cell.seconds:.1f}" if cell.seconds < 100 else f"{cell.seconds:.0f}",
    ]


def _count(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value < 1e7 else f"{value / 1e6:,.1f}M"


def _percent(share: float) -> str:
    return "100" if share > 0.9995 else f"{100 * share:.1f}"


def _ratio(value: float | None) -> str:
    return "-" if value is None else ratio(value)


def _bench_real(
    data: Path | None,
    delta: float,
    seeds: int,
    seed: int,
    jobs: int,
    csv: Path | None,
    figure: Path | None,
    json: bool,
) -> None:
    if seeds < 1:
        raise InvalidInput("seeds must be at least 1", seeds, "pass for example 20")
    worlds = list(packaged_worlds() if data is None else worlds_in(data))
    began = time.perf_counter()

    def measured() -> Iterator[list[RealRow]]:
        for world in worlds:
            rows = run_real(world, delta=delta, seeds=seeds, seed=seed, engine=local(jobs))
            # Printed world by world, because the whole suite may take hours.
            if not json:
                _print_real(world, rows)
            yield rows

    rows = [row for each in progress("worlds", len(worlds))(measured()) for row in each]
    seconds = time.perf_counter() - began
    caption = f"suite real, delta {delta:g}, seed {seed}, {seeds} seeds, {seconds:.0f} s"
    if csv is not None:
        _write_csv([asdict(row) for row in rows], csv)
    if figure is not None:
        from askfew.experiments.bench_figures import draw_real

        draw_real(rows, caption, figure)
    if json:
        head = {"suite": "real", "delta": delta, "seeds": seeds, "seed": seed, "seconds": seconds}
        print_json({**head, "rows": [asdict(row) for row in rows]})
    else:
        notes.print(caption)


_REAL_COLUMNS = {
    "answers": 7,
    "cell": 4,
    "given": 5,
    "right": 5,
    "of all": 6,
    "surest": 6,
    "seeds": 5,
    "errs": 10,
}
"""With their widths: together they fit a terminal of eighty characters."""


def _print_real(world: RealWorld, rows: Sequence[RealRow]) -> None:
    items, questions = world.means.shape
    title = f"{world.name}: {items} items, {questions} questions, {world.groups} classes"
    table = _table(title, "setting", 24, _REAL_COLUMNS)
    for row in rows:
        table.add_row(
            row.setting,
            _count(row.answers),
            _count(row.busiest_cell),
            f"{row.decided:.2f}",
            _share(row.accuracy_decided),
            _share(row.accuracy_all),
            _share(row.accuracy_surest),
            _share(row.between_seeds),
            _errs(row),
        )
    report.print(table)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _errs(row: RealRow) -> str:
    """Runs with an error of those certified, or the share of wrong labels, as is promised.

    n: certified runs of the promise "groups" with an item nearer to another group's mean; v: runs
    that askfew itself calls void.
    """
    if row.promised is None:
        return ""
    if not row.certified:
        return f"{row.void}v" if row.void else "-"
    if row.promised == "share":
        return f"{row.wrong_share or 0:.2%}"
    nearer = f" {row.certified_nearer}n" if row.certified_nearer else ""
    void = f" {row.void}v" if row.void else ""
    return f"{row.certified_wrong}/{row.certified}{nearer}{void}"
