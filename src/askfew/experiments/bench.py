"""The benchmark: instances x methods, all measured in one run and from one seed."""

from __future__ import annotations

import csv
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from askfew.algorithms import takes_budget
from askfew.experiments.trials import first_sufficient_budget
from askfew.simulation import Instance, RunSummary, local, simulate_runs

__all__ = ["SUITES", "Case", "Cell", "draw", "pairs", "run_bench", "write_csv"]


@dataclass(frozen=True)
class Case:
    """A named instance."""

    name: str
    instance: Instance


def _exp1(s: int) -> Case:
    return Case(f"Exp 1, s = {s}", Instance(20, 1000, s, 15 / math.sqrt(s)))


def _exp2(n: int) -> Case:
    return Case(f"Exp 2, n = {n}", Instance(n, 10 * n, 10, 5.0))


def _yes_no(n: int, d: int, useful: int, gap: float) -> Case:
    name = f"yes/no, n = {n}, d = {d}, {useful} useful ({0.5 + gap / 2:.2f})"
    return Case(name, Instance(n, d, useful, gap, noise="yes-no"))


GRADED = Case("graded, n = 300, 3/sqrt(j)", Instance(300, 1000, 1000, 3.0, decay=0.5))
UNBALANCED = Case("one in twenty, n = 200, d = 50", Instance(200, 50, 5, 2.0, balance=0.05))
LONER = Case("one item alone, n = 50, d = 20", Instance(50, 20, 4, 3.0, balance=0.02))
WEAK_DENSE = Case("weak and dense, n = 50, d = 100", Instance(50, 100, 100, 0.3))
STRONG_SPARSE = Case("strong and sparse, n = 50, d = 2000", Instance(50, 2000, 2, 8.0))
SCALE = Case("scale, n = 100, d = 30, 3 useful", Instance(100, 30, 3, 0.5, noise="scale"))

SUITES: dict[str, tuple[Case, ...]] = {
    "quick": (_exp1(53), _exp1(526), _exp2(100), _yes_no(101, 16, 3, 0.7), UNBALANCED),
    "full": (
        *(_exp1(s) for s in (1, 53, 106, 211, 526, 1000)),
        *(_exp2(n) for n in (100, 500, 1000, 2000)),
        GRADED,
        _yes_no(101, 16, 3, 0.7),
        _yes_no(200, 40, 4, 0.7),
        _yes_no(500, 100, 5, 0.8),
        SCALE,
        UNBALANCED,
        LONER,
        WEAK_DENSE,
        STRONG_SPARSE,
    ),
}
METHODS = ("frugal", "told-gap", "paper", "kmeans10", "spectral")

FEWER = {"paper": 20, "kmeans10": 40, "spectral": 40}
"""The costly ones get at most so many runs: their means need no more to be compared."""

LARGEST_TABLE = 2_000_000
"""A fixed budget is doubled up to so many answers, and no larger table is asked at all: where that
fails, asking everything fails."""


@dataclass(frozen=True)
class Cell:
    """One method on one case, and its cost as a ratio to the paper's and to the yardstick's."""

    case: str
    method: str
    runs: int
    summary: RunSummary
    seconds: float
    to_paper: float | None = None
    to_told_gap: float | None = None


def run_bench(
    suite: str,
    *,
    delta: float,
    runs: int,
    seed: int,
    jobs: int,
    methods: Sequence[str] = METHODS,
    watch: Callable[[Iterator[Cell]], Iterator[Cell]] = iter,
) -> list[Cell]:
    """Measure every method on every case of a suite."""
    measured = (
        _measure(case, method, delta, min(runs, FEWER.get(method, runs)), seed, jobs)
        for case, method in pairs(suite, methods)
    )
    return _with_ratios(list(watch(measured)))


def pairs(suite: str, methods: Sequence[str]) -> list[tuple[Case, str]]:
    """What is measured: all but the methods that ask everything, where that is too much."""
    return [
        (case, method)
        for case in SUITES[suite]
        for method in methods
        if not takes_budget(method)
        or case.instance.items * case.instance.questions <= LARGEST_TABLE
    ]


def _measure(case: Case, method: str, delta: float, runs: int, seed: int, jobs: int) -> Cell:
    began = time.perf_counter()
    instance = case.instance
    if takes_budget(method):
        budgets = _doubling_from_half(instance.items * instance.questions)
        results = first_sufficient_budget(instance, method, budgets, delta, runs, seed, local(jobs))
    else:
        results = simulate_runs(instance, method, delta=delta, runs=runs, seed=seed, jobs=jobs)
    return Cell(case.name, method, runs, RunSummary.of(results), time.perf_counter() - began)


def _doubling_from_half(table: int) -> list[int]:
    """Half the table, the table, twice the table ... as far as it stays affordable."""
    budgets = [table // 2]
    while 2 * budgets[-1] <= LARGEST_TABLE:
        budgets.append(2 * budgets[-1])
    return budgets


def _with_ratios(cells: list[Cell]) -> list[Cell]:
    means = {(cell.case, cell.method): cell.summary.mean_answers for cell in cells}

    def ratio(cell: Cell, yardstick: str) -> float | None:
        own, other = cell.summary.mean_answers, means.get((cell.case, yardstick))
        return own / other if own is not None and other else None

    return [
        Cell(
            **{
                **vars(cell),
                "to_paper": ratio(cell, "paper"),
                "to_told_gap": ratio(cell, "told-gap"),
            }
        )
        for cell in cells
    ]


def flat(cell: Cell) -> dict[str, object]:
    """A cell as one row of a table, JSON-ready."""
    row = asdict(cell)
    summary = row.pop("summary")
    low, high = summary.pop("error_interval")
    return {**row, **summary, "error_low": low, "error_high": high}


def write_csv(cells: Sequence[Cell], path: Path) -> None:
    """One row a cell."""
    rows = [flat(cell) for cell in cells]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def draw(cells: Sequence[Cell], caption: str, path: Path) -> None:
    """Mean answers on a log axis, one line a case, one mark a method; hollow where it errs."""
    import matplotlib.pyplot as plt

    marks = dict(zip(METHODS, zip("oDsv^", _COLOURS, strict=True), strict=True))
    cases = list(dict.fromkeys(cell.case for cell in cells))
    figure, axes = plt.subplots(figsize=(9, 1.6 + 0.42 * len(cases)), layout="constrained")
    for method in dict.fromkeys(cell.method for cell in cells):
        mark, colour = marks[method]
        for cell in cells:
            if cell.method == method and cell.summary.mean_answers is not None:
                axes.plot(
                    cell.summary.mean_answers,
                    cases.index(cell.case),
                    mark,
                    color=colour,
                    markerfacecolor=colour if cell.summary.error_rate <= 0.1 else "none",
                )
        axes.plot([], [], mark, color=colour, label=method)
    axes.set_xscale("log")
    axes.set_yticks(range(len(cases)), cases)
    axes.invert_yaxis()
    axes.grid(axis="both", color="0.9")
    axes.set_axisbelow(True)
    axes.set_xlabel(f"mean answers (hollow: wrong in more than a tenth of its runs)\n{caption}")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=len(METHODS), frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


_COLOURS = ("#0072B2", "#000000", "#D55E00", "#009E73", "#CC79A7")  # Okabe and Ito: safe for all
