"""What more groups, caps on cells and a tolerance cost, and how often labels are wrong then.

    python benchmarks/groups.py [--runs 300] [--seed 0] [--jobs -1] [--only "K = 3"] [--out FILE]

All worlds are yes/no. The simulated oracle refuses a cell that is asked more often than its cap.
Rows are written to FILE as they are counted, and rows of the same command that are there already
are kept. The last result is kept in benchmarks/groups.md.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.kept_table import count_rows, table_options

from askfew.oracles import bernoulli
from askfew.simulation import Instance, RunSummary, World, simulate_runs
from askfew.simulation.runs import Family

DELTA = 0.05


@dataclass(frozen=True)
class Unlike:
    """One useful question of four, and two of the sixty items are unlike the rest of their group.

    On it 28 items of the first group have the mean .02 and two .27, the second group has .6.
    """

    def draw(self, seed: np.random.SeedSequence) -> World:
        """A world that the seed decides."""
        for_world, for_answers = seed.spawn(2)
        rng = np.random.default_rng(for_world)
        means = rng.permutation(np.repeat([0.02, 0.27, 0.6], [28, 2, 30]))
        table = np.full((60, 4), 0.5)
        table[:, rng.integers(4)] = means
        second = means == 0.6
        labels = (second != second[0]).astype(np.int64)
        return World(bernoulli(table, rng=np.random.default_rng(for_answers)), labels)


@dataclass(frozen=True)
class Row:
    """A world, what the method is told, and what it should reach."""

    family: Family
    aim: str
    options: dict[str, object] = field(default_factory=dict)
    most_runs: int = 10**9
    """Fewer are drawn of the worlds that take longest."""
    max_answers: int = 10**8


yes_no = partial(Instance, noise="yes-no")
ROWS = {
    "K = 3, 6 of 40 useful": Row(yes_no(60, 40, 6, 0.7, groups=3), "2,700 answers", {"groups": 3}),
    "K = 5, 8 of 40 useful": Row(yes_no(60, 40, 8, 0.7, groups=5), "6,500 answers", {"groups": 5}),
    "K = 10, 12 of 60 useful, 100 items": Row(
        yes_no(100, 60, 12, 0.7, groups=10), "21,000 answers", {"groups": 10}, most_runs=20
    ),
    'K = 3, groups="auto"': Row(yes_no(60, 40, 6, 0.7, groups=3), "", {"groups": "auto"}),
    "cap 40, 4 of 40 useful": Row(
        yes_no(60, 40, 4, 0.7), "all done, 1,850 answers", {"per_cell": 40}
    ),
    "cap 12, 8 of 40 useful": Row(yes_no(60, 40, 8, 0.7), "97 % done", {"per_cell": 12}),
    "cap 5, 12 of 40 useful": Row(yes_no(60, 40, 12, 0.7), "90 % done", {"per_cell": 5}),
    "cap 1, 12 of 30 useful, gap .8": Row(
        yes_no(60, 30, 12, 0.8), "90 % of the items", {"per_cell": 1}
    ),
    "spread .05 of the gap, not told": Row(yes_no(60, 40, 4, 0.7, spread=0.05), ""),
    "spread .05 of the gap, tolerance .2": Row(
        yes_no(60, 40, 4, 0.7, spread=0.05), "errors within delta", {"tolerance": 0.2}
    ),
    "two items .25 from their group, not told": Row(Unlike(), ""),
    "two items .25 from their group, tolerance .25": Row(
        Unlike(), "errors within delta", {"tolerance": 0.25}, max_answers=20_000
    ),
}


COLUMNS = (
    "world",
    "runs",
    "mean answers",
    "steps",
    "runs done",
    "items decided",
    "wrong",
    "aim",
)


def counted(name: str, runs: int, seed: int, jobs: int) -> tuple[str, ...]:
    """One row of the table, without its name."""
    row = ROWS[name]
    many = min(runs, row.most_runs)
    found = simulate_runs(
        row.family,
        "frugal",
        delta=DELTA,
        runs=many,
        seed=seed,
        jobs=jobs,
        max_answers=row.max_answers,
        options=row.options,
    )
    summary = RunSummary.of(found)
    low, high = summary.error_interval
    done = sum(run.status == "done" for run in found) / many
    return (
        f"{many}",
        f"{summary.mean_answers_all:,.0f}",
        f"{summary.mean_batches:.0f}",
        f"{done:.1%}",
        f"{summary.decided:.1%}",
        f"{summary.errors} of {many} ({low:.1%} to {high:.1%})",
        row.aim,
    )


def main() -> None:
    """Count every row that is not in the file yet."""
    parser = table_options(__doc__, runs=300)
    parser.add_argument("--only", default="", help="rows whose name begins so")
    given = parser.parse_args()
    command = (
        f"`python benchmarks/groups.py --runs {given.runs} --seed {given.seed}`, 60 items unless it"
        " says otherwise, gap .7, delta .05."
    )
    rows = {
        (name,): partial(counted, name, given.runs, given.seed, given.jobs)
        for name in ROWS
        if name.startswith(given.only)
    }
    count_rows(command, COLUMNS, rows, given.out)


if __name__ == "__main__":
    main()
