"""What more groups, caps on cells and a tolerance cost, and how often labels are wrong then.

    python benchmarks/groups.py [--runs 300] [--seed 0] [--jobs -1] [--only "K = 3"] [--out FILE]

All worlds are yes/no. The simulated oracle refuses a cell that is asked more often than its cap.
The last result is kept in benchmarks/groups.md.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from askfew.simulation import Instance, RunSummary, simulate_runs

DELTA = 0.05


@dataclass(frozen=True)
class Row:
    """A world, what the method is told, and what it should reach."""

    instance: Instance
    aim: str
    options: dict[str, object] = field(default_factory=dict)
    most_runs: int = 10**9
    """Of the dearest worlds fewer are drawn."""


yes_no = partial(Instance, noise="yes-no")
ROWS = {
    "K = 3, 6 of 40 useful": Row(yes_no(60, 40, 6, 0.7, groups=3), "2 700 answers", {"groups": 3}),
    "K = 5, 8 of 40 useful": Row(yes_no(60, 40, 8, 0.7, groups=5), "6 500 answers", {"groups": 5}),
    "K = 10, 12 of 60 useful, 100 items": Row(
        yes_no(100, 60, 12, 0.7, groups=10), "21 000 answers", {"groups": 10}, most_runs=20
    ),
    'K = 3, groups="auto"': Row(yes_no(60, 40, 6, 0.7, groups=3), "", {"groups": "auto"}),
    "cap 40, 4 of 40 useful": Row(
        yes_no(60, 40, 4, 0.7), "all done, 1 850 answers", {"per_cell": 40}
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
}


def main() -> None:
    """Measure every row and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--only", default="", help="rows whose name begins so")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    lines = [
        f"`python benchmarks/groups.py --runs {given.runs} --seed {given.seed}`, 60 items unless it"
        " says otherwise, gap .7, delta .05.",
        "",
        "| world | runs | mean answers | steps | runs done | items decided | wrong | aim |",
        "|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines))
    for name, row in ROWS.items():
        if not name.startswith(given.only):
            continue
        many = min(given.runs, row.most_runs)
        runs = simulate_runs(
            row.instance,
            "frugal",
            delta=DELTA,
            runs=many,
            seed=given.seed,
            jobs=given.jobs,
            options=row.options,
        )
        summary = RunSummary.of(runs)
        low, high = summary.error_interval
        done = sum(run.status == "done" for run in runs) / many
        lines.append(
            f"| {name} | {many} | {summary.mean_answers_all:,.0f} | {summary.mean_batches:.0f}"
            f" | {done:.1%} | {summary.decided:.1%}"
            f" | {summary.errors} of {many} ({low:.1%} to {high:.1%}) | {row.aim} |"
        )
        print(lines[-1], flush=True)
    if given.out is not None:
        given.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
