"""Does the promise hold where it is tightest? Error rates of the frugal method, with intervals.

    python benchmarks/guarantee.py [--runs 2000] [--seed 0] [--jobs -1] [--out FILE]

An error is a run with a wrong label, whether it labelled all items or not. Each row must have the
upper end of its 95 % Clopper-Pearson interval at most delta. Rows are written to FILE as they are
counted, and rows of the same command that are there already are kept. The last result is
benchmarks/guarantee.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.kept_table import count_rows, table_options

from askfew import oracles
from askfew.algorithms.frugal.guess.pooled.sides import End, Sides
from askfew.records import Floats, Oracle
from askfew.simulation import Instance, Run, RunSummary, World, local, repeat, try_method
from askfew.simulation.runs import Family

DELTAS = (0.1, 0.05)


@dataclass(frozen=True)
class Given:
    """Worlds with given means (kinds of items x questions), items shuffled.

    The first half of the kinds is the first group.
    """

    means: tuple[tuple[float, ...], ...]
    sizes: tuple[int, ...]
    kind: str

    def draw(self, seed: np.random.SeedSequence) -> World:
        """A world that the seed decides."""
        for_world, for_answers = seed.spawn(2)
        kinds = np.repeat(np.arange(len(self.sizes)), self.sizes)
        kinds = np.random.default_rng(for_world).permutation(kinds)
        make: Callable[..., Oracle] = getattr(oracles, self.kind)
        means: Floats = np.array(self.means)
        oracle = make(means, labels=kinds, rng=np.random.default_rng(for_answers))
        second = kinds >= len(self.sizes) // 2
        return World(oracle, (second != second[0]).astype(np.int64))


FAMILIES: dict[str, Family] = {
    "three items, one question": Instance(3, 1, 1, 1.5),
    "five items, one alone": Instance(5, 3, 1, 1.5, balance=0.2),
    "one item alone among 40": Instance(40, 10, 3, 1.5, balance=1 / 40),
    "weak and dense": Instance(20, 50, 50, 0.4),
    "yes/no, .98 against .02": Instance(30, 6, 2, 0.96, noise="yes-no"),
    "yes/no, .02 against .12": Given(
        ((0.02,) * 4, (0.12, 0.12, 0.02, 0.02)), (10, 10), "bernoulli"
    ),
    "yes/no, .99 against .85": Given(((0.99, 0.5, 0.5), (0.85, 0.5, 0.5)), (6, 6), "bernoulli"),
    "scale of five values": Instance(20, 8, 2, 0.3, noise="scale"),
    "scale, means near its end": Given(((3.8, 2.0), (3.4, 2.0)), (7, 3), "scale"),
    "restarts: sparse, weak, few items": Instance(6, 60, 2, 0.7),
    "restarts: graded gaps": Instance(30, 40, 40, 2.0, decay=1.0),
}

HARD = Instance(20, 50, 50, 0.4)
"""Weak and dense: labelling takes many steps, and any question will do."""


def misled(world: World, rng: np.random.Generator, *, delta: float, max_answers: int) -> Run:
    """For its first 3000 answers the guess presumes every item on the wrong side."""
    fit = Sides._fit

    def wrongly(sides: Sides) -> Floats:
        high = fit(sides)
        return high if sides.history.asked > 3000 else 1 - high

    with patch.object(Sides, "_fit", wrongly):
        return try_method(world, rng, method="frugal", delta=delta, max_answers=max_answers)


def restarted(world: World, rng: np.random.Generator, *, delta: float, max_answers: int) -> Run:
    """The first question that labels are given by is dropped when half of it is done."""
    end = Sides.end

    def early(sides: Sides) -> End | None:
        first = sides.claim.labelling(sides.question)
        if first is None or first is not sides.claim.labellings[0]:
            return end(sides)
        return "silent" if (first.sides >= 0).mean() > 0.5 else end(sides)

    with patch.object(Sides, "end", early):
        return try_method(world, rng, method="frugal", delta=delta, max_answers=max_answers)


def told(**options: object) -> Callable[..., Run]:
    """The method with options."""
    return partial(try_method, method="frugal", options=options)


TRIALS: dict[str, tuple[Family, Callable[..., Run]]] = {
    **{name: (family, told()) for name, family in FAMILIES.items()},
    "all sides presumed wrongly at first": (HARD, misled),
    "a restart forced in every run": (HARD, restarted),
    "four groups, nine items": (Instance(9, 6, 4, 2.0, groups=4), told(groups=4)),
    "three groups, yes/no": (
        Instance(12, 8, 4, 0.6, noise="yes-no", groups=3),
        told(groups=3),
    ),
    "items differ within the tolerance": (
        Given(((0.1, 0.5), (0.2, 0.5), (0.6, 0.5), (0.7, 0.5)), (5, 5, 5, 5), "bernoulli"),
        told(tolerance=0.1),
    ),
    "cap 30, single questions": (
        Instance(20, 12, 6, 0.7, noise="yes-no"),
        told(per_cell=30),
    ),
    "cap 12, one panel": (Instance(20, 20, 10, 0.6, noise="yes-no"), told(per_cell=12)),
    "cap 2, panels cover all": (Instance(20, 20, 16, 0.8, noise="yes-no"), told(per_cell=2)),
}

COLUMNS = (
    "instance",
    "delta",
    "errors",
    "rate",
    "95 % interval",
    "unfinished",
    "mean answers",
    "",
)


def counted(name: str, delta: float, runs: int, seed: int, jobs: int) -> tuple[str, ...]:
    """One row of the table, without its name and delta."""
    family, method = TRIALS[name]
    trial = partial(method, delta=delta, max_answers=10**7)
    summary = RunSummary.of(repeat(family, trial, runs=runs, seed=seed, engine=local(jobs)))
    low, high = summary.error_interval
    verdict = "ok" if high <= delta else "unclear" if low <= delta else "BROKEN"
    return (
        f"{summary.errors} of {runs}",
        f"{summary.error_rate:.2%}",
        f"{low:.2%} to {high:.2%}",
        f"{summary.unfinished}",
        f"{summary.mean_answers or 0:,.0f}",
        verdict,
    )


def main() -> None:
    """Count every row that is not in the file yet."""
    given = table_options(__doc__, runs=2000).parse_args()
    command = f"`python benchmarks/guarantee.py --runs {given.runs} --seed {given.seed}`"
    rows = {
        (name, f"{delta}"): partial(counted, name, delta, given.runs, given.seed, given.jobs)
        for name in TRIALS
        for delta in DELTAS
    }
    count_rows(command, COLUMNS, rows, given.out)


if __name__ == "__main__":
    main()
