"""The benchmark: planted instances x methods, measured in one run and from one seed.

The lower bounds that no method can go below are computed for comparison.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

import numpy as np
from scipy.special import ndtr

from askfew import oracles, theory
from askfew.algorithms import takes_budget, takes_option
from askfew.experiments.trials import first_sufficient_budget
from askfew.planning.theory_params import divergence_of, mixes_of
from askfew.simulation import Instance, RunSummary, World, local, repeat, simulate_runs, try_method

__all__ = [
    "METHODS",
    "PEERS",
    "SUITES",
    "Case",
    "Cell",
    "Floor",
    "SameGroupQueries",
    "cell_row",
    "default_methods",
    "floors",
    "pairs",
    "run_bench",
]


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


# Besides the paper's instances: hard cases of each sort, such as graded gaps, rare groups, weak or
# few useful questions. Their numbers are plain choices; they stay fixed so that tables compare.
GRADED = Case("graded, n = 300, 3/sqrt(j)", Instance(300, 1000, 1000, 3.0, decay=0.5))
UNBALANCED = Case("one in twenty, n = 200, d = 50", Instance(200, 50, 5, 2.0, balance=0.05))
LONER = Case("one item alone, n = 50, d = 20", Instance(50, 20, 4, 3.0, balance=0.02))
WEAK_DENSE = Case("weak and dense, n = 50, d = 100", Instance(50, 100, 100, 0.3))
STRONG_SPARSE = Case("strong and sparse, n = 50, d = 2000", Instance(50, 2000, 2, 8.0))
SCALE = Case("scale, n = 100, d = 30, 3 useful", Instance(100, 30, 3, 0.5, noise="scale"))


def _groups(groups: int, n: int, d: int, useful: int, gap: float) -> Case:
    name = f"{groups} groups, yes/no, n = {n}, d = {d}, {useful} useful ({0.5 + gap / 2:.2f})"
    return Case(name, Instance(n, d, useful, gap, noise="yes-no", groups=groups))


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
    "peers": (
        _exp1(53),
        _exp1(1000),
        _yes_no(101, 16, 3, 0.7),
        WEAK_DENSE,
        _groups(3, 60, 40, 12, 0.7),
        _groups(5, 100, 40, 16, 0.7),
    ),
}
METHODS = ("frugal", "told-gap", "paper", "kmeans10", "spectral")
"""The methods that the suites quick and full compare."""
PEERS = ("frugal", "told-levels", "told-gap", "acb", "boc", "ariu", "same-cluster", "spectral")
"""The methods that the suite peers compares: those of other authors, and both yardsticks."""
_TWO_GROUPS = ("told-gap", "paper")
"""Methods that can only find two groups."""

MOST_RUNS = {"paper": 20, "kmeans10": 40, "spectral": 40, "boc": 20, "ariu": 40}
"""The most runs of slow methods. A plain choice: they take most of the time, and the table prints
the interval of their errors."""

LARGEST_TABLE = 2_000_000
"""A fixed budget is doubled up to this many answers, and methods that ask everything are left out
for larger tables. A plain choice: more than a hundred times what frugal asks
(benchmarks/bench.md)."""


@dataclass(frozen=True)
class Cell:
    """One method on one case, and its cost divided by the paper's and by the yardstick's."""

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
        _measure(case, method, delta, min(runs, MOST_RUNS.get(method, runs)), seed, jobs)
        for case, method in pairs(suite, methods)
    )
    return _with_ratios(list(watch(measured)))


def default_methods(suite: str) -> tuple[str, ...]:
    """The methods that a suite compares if none are named."""
    return PEERS if suite == "peers" else METHODS


def pairs(suite: str, methods: Sequence[str]) -> list[tuple[Case, str]]:
    """What is measured. Methods that ask everything are left out where the table is too large, and
    methods for two groups where there are more groups.
    """
    return [
        (case, method)
        for case in SUITES[suite]
        for method in methods
        if not (
            takes_budget(method) and case.instance.items * case.instance.questions > LARGEST_TABLE
        )
        and not (method in _TWO_GROUPS and case.instance.groups > 2)
    ]


def _measure(case: Case, method: str, delta: float, runs: int, seed: int, jobs: int) -> Cell:
    began = time.perf_counter()
    instance = case.instance
    told: dict[str, object] = {}
    if instance.groups > 2 and takes_option(method, "groups"):
        told["groups"] = instance.groups
    if takes_budget(method):
        budgets = _doubling_from_half(instance.items * instance.questions)
        engine = local(jobs)
        results = first_sufficient_budget(
            instance, method, budgets, delta, runs, seed, engine, options=told
        )
    elif method == "same-cluster":
        told["groups"] = instance.groups
        trial = partial(try_method, method=method, delta=delta, options=told)
        family = SameGroupQueries(instance)
        results = repeat(family, trial, runs=runs, seed=seed, engine=local(jobs))
    else:
        results = simulate_runs(
            instance, method, delta=delta, runs=runs, seed=seed, jobs=jobs, options=told
        )
    return Cell(case.name, method, runs, RunSummary.of(results), time.perf_counter() - began)


@dataclass(frozen=True)
class SameGroupQueries:
    """The same groups with other questions: question j is "is this item in the group of item j?".

    A query is as reliable as one answer to the instance's best question: the chance that this
    answer lies nearer to its own group's mean than to the other's.
    """

    instance: Instance

    def draw(self, seed: np.random.SeedSequence) -> World:
        """Draw the world of this seed."""
        for_world, for_answers = seed.spawn(2)
        labels = self.instance.draw(for_world).labels
        chances = np.where(labels[:, np.newaxis] == labels, self.right, 1 - self.right)
        return World(oracles.bernoulli(chances, rng=np.random.default_rng(for_answers)), labels)

    @property
    def right(self) -> float:
        """The chance of a right answer."""
        gap = self.instance.gap
        if self.instance.noise == "gaussian":
            return float(ndtr(gap / (2 * self.instance.sigma)))
        return 0.5 + gap / 2


@dataclass(frozen=True)
class Floor:
    """A lower bound on the answers of any method, on one case."""

    case: str
    name: str
    answers: float


def floors(case: Case, delta: float) -> list[Floor]:
    """The lower bounds for a case, without those that are void."""
    instance = case.instance
    n = instance.items
    if instance.groups > 2:
        found = [theory.groups_mean(n, mixes, delta).value for mixes in mixes_of(instance)]
        return [Floor(case.name, "bound: labels", float(np.mean(found)))]
    share = instance.second_group / n
    sigma = instance.sigma if instance.noise == "gaussian" else 0.5
    bounds = {
        "bound: labels": theory.labelling_mean(n, divergence_of(instance), delta),
        # Of the (1 - delta)-quantile; the others are of the mean.
        "bound: Thm4.1": theory.theorem_4_1(instance.ordered_gaps, n, share, delta, sigma),
    }
    if instance.noise == "gaussian":
        told = (n, instance.gap, delta, instance.sigma)
        bounds["bound: told"] = theory.told_gap_mean(*told)
        bounds["bound: untold"] = theory.untold_gap_mean(*told)
    return [Floor(case.name, name, bound.value) for name, bound in bounds.items() if not bound.void]


def _doubling_from_half(table: int) -> list[int]:
    """Half the table, the table, twice the table, and so on up to LARGEST_TABLE answers."""
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
        replace(cell, to_paper=ratio(cell, "paper"), to_told_gap=ratio(cell, "told-gap"))
        for cell in cells
    ]


def cell_row(cell: Cell) -> dict[str, object]:
    """A cell as one row of a table, in JSON-ready values."""
    row = asdict(cell)
    summary = row.pop("summary")
    low, high = summary.pop("error_interval")
    return {**row, **summary, "error_low": low, "error_high": high}
