"""Does an audit notice that items of a group are not alike, and does it leave alike ones alone?

    OPENBLAS_NUM_THREADS=1 python benchmarks/audit.py [--data DIR] > benchmarks/audit.md

Tables whose items differ: those inside scikit-learn with every measure cut at its median (pixels at
half of their range), so that a question is answered yes with probability .9 or .1; and NAME.npz of
DIR (see docs/experiments.md). Planted worlds in which only some questions split a group. Worlds
whose items are alike: every alarm there is a false one.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets

from askfew.algorithms import start
from askfew.checks import check
from askfew.driver import run
from askfew.estimates.cells import Cells, CellSums
from askfew.experiments.real_worlds import RealWorld, worlds_in
from askfew.outcome import outcome_of
from askfew.records import Batch, Floats, Oracle, Tally
from askfew.simulation import Instance

AUDITS = (200, 400)
MAX_ANSWERS = 100_000

Draw = Callable[[np.random.SeedSequence], Oracle]


@dataclass(frozen=True)
class World:
    """Where answers come from, and what the method is told."""

    name: str
    draw: Draw
    options: Mapping[str, Any]
    runs: int | None = None


def tables(folder: Path | None) -> Iterator[World]:
    """Attributes that an item has or has not, as "is it above the median?", and files."""
    cancer, wine = datasets.load_breast_cancer(), datasets.load_wine()
    digits = datasets.load_digits()
    two = digits.target < 2
    every = [
        RealWorld("breast cancer", _cut(cancer.data), cancer.target),
        RealWorld("digits 0/1", _cut(digits.data[two], 8.0), digits.target[two]),
        RealWorld("wine, three groups", _cut(wine.data), wine.target),
        *(worlds_in(folder) if folder else ()),
    ]
    for table in every:
        options: dict[str, Any] = {"groups": table.groups}
        if table.per_cell is not None:
            options["per_cell"] = table.per_cell
        if table.per_cell != 1:  # an audit asks the same again
            yield World(table.name, partial(_oracle, table), options)


def _cut(values: Floats, at: float | None = None) -> Floats:
    above = values > (np.median(values, axis=0) if at is None else at)
    return np.where(above, 0.9, 0.1)


def few() -> Iterator[World]:
    """100 items in two groups that differ on 4 of 40 questions; some others split the groups."""
    for share, split, high in ((0.5, 4, 0.9), (0.2, 4, 0.9), (0.2, 4, 0.8), (0.2, 20, 0.8)):
        rng = np.random.default_rng(5)
        groups = np.arange(100) % 2
        means = np.tile(rng.choice([0.1, 0.3, 0.5, 0.9], size=40), (100, 1))
        means[:, :4] = np.where(groups == 1, 0.9, 0.1)[:, np.newaxis]
        means[:, -split:] = np.where(rng.random((100, split)) < share, high, 1 - high)
        name = f"{split} of 40 split, {share:.0%} of the items at {high:g}, else {1 - high:g}"
        world = RealWorld(name.replace("0.", "."), means, groups)
        yield World(world.name, partial(_oracle, world), {})


def alike() -> Iterator[World]:
    """Worlds whose items are alike."""
    small = Instance(101, 16, 3, 0.7, "yes-no")
    large = Instance(20, 1000, 53, 2.0)
    unequal = Instance(60, 40, 20, 0.8, "yes-no", decay=0.5)
    three = Instance(60, 40, 12, 0.7, "yes-no", groups=3)
    yield World("yes/no, 101 x 16, 3 useful", partial(_oracle, small), {})
    yield World("Exp 1: numbers, 20 x 1000, 53 useful", partial(_oracle, large), {})
    yield World("yes/no, 60 x 40, unequal gaps", partial(_oracle, unequal), {}, 100)
    yield World("the same, per_cell = 12", partial(_oracle, unequal), {"per_cell": 12}, 100)
    yield World("yes/no, 60 x 40, three groups", partial(_oracle, three), {"groups": 3}, 100)


def _oracle(world: RealWorld | Instance, seed: np.random.SeedSequence) -> Oracle:
    return world.draw(seed).oracle


class _Before:
    """An oracle that remembers the answers that came before an audit."""

    def __init__(self, oracle: Oracle) -> None:
        self.problem, self._oracle, self._cells = oracle.problem, oracle, Cells(oracle.problem)

    def __call__(self, batch: Batch, /) -> Tally:
        tally = self._oracle(batch)
        if batch.known is None or batch.known.phase != "audit":
            self._cells.add(batch, tally)
        return tally

    def sums(self) -> CellSums:
        """All of them, cell by cell."""
        return self._cells.sums()


@dataclass(frozen=True)
class Tried:
    """One run: whether it is void before and after the audit, and what both took."""

    certified: bool
    void_before: bool
    void: bool
    answers: int
    asked: int


def one_run(world: World, audit: int, seed: list[int]) -> Tried:
    """A run of frugal; of one seed, all but the audit is the same with any audit."""
    for_answers, for_method = np.random.SeedSequence(seed).spawn(2)
    oracle = _Before(world.draw(for_answers))
    problem, rng = oracle.problem, np.random.default_rng(for_method)
    procedure = start("frugal", problem, rng, delta=0.05, audit=audit, **world.options)
    ended = run(procedure, oracle, max_answers=MAX_ANSWERS, keep=True)
    found = outcome_of(ended, range(problem.items), range(problem.questions))
    if found.certificate is None or found.checks is None:
        return Tried(False, False, False, found.answers, 0)
    labels, groups = found.labels, max(found.group_count, int(found.labels.max()) + 1)
    before = check(problem, oracle.sums(), labels, labels, groups, carrying=[], promise="groups")
    asked = found.answers_by_phase.get("audit", 0)
    return Tried(True, before.void, found.checks.void, found.answers - asked, asked)


def print_table(
    worlds: Iterator[World], audits: Sequence[int], runs: int, seed: int, title: str
) -> None:
    """A row for each world."""
    columns = "".join(f" void, audit={audit} | asked |" for audit in audits)
    print(f"{title}\n\n| world | certified | answers | void, no audit |{columns}")
    print("|---|--:|--:|--:|" + "--:|--:|" * len(audits))
    for place, world in enumerate(worlds):
        many = world.runs or runs
        found = [
            [one_run(world, audit, [seed, len(title), place, k]) for k in range(many)]
            for audit in audits
        ]
        first = found[0]
        row = [
            world.name,
            f"{sum(each.certified for each in first)} of {many}",
            f"{np.mean([each.answers for each in first]):,.0f}",
            str(sum(each.void_before for each in first)),
        ]
        for tried in found:
            row += [str(sum(each.void for each in tried))]
            row += [f"{np.mean([each.asked for each in tried]):,.0f}"]
        print(f"| {' | '.join(row)} |", flush=True)
    print()


def main() -> None:
    """Print the three tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print_table(tables(given.data), AUDITS, given.seeds, given.seed, "Items of a group differ:")
    print_table(few(), AUDITS, given.seeds, given.seed, "Few questions split a group:")
    print_table(alike(), AUDITS[1:], given.runs, given.seed, "Items of a group are alike:")


if __name__ == "__main__":
    main()
