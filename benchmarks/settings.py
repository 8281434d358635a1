"""What each setting of the two promises costs: one world, one setting changed at a time.

    python benchmarks/settings.py [--runs 20] [--seed 0] [--jobs -1] [--out FILE]

60 items, yes/no, 8 of 20 questions useful, gap .7; for the promise "rule" the items of a group
differ (spread .1 of the gap). The last result is kept in benchmarks/settings.md.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field, replace
from pathlib import Path

from askfew.simulation import Instance, RunSummary, simulate_runs

ALIKE = Instance(60, 20, 8, 0.7, noise="yes-no")
UNLIKE = replace(ALIKE, spread=0.1)


@dataclass(frozen=True)
class Row:
    """What differs from the first row of its table."""

    options: dict[str, object] = field(default_factory=dict)
    delta: float = 0.05
    anchors: int = 0
    groups: int = 2
    gap: float = 0.7


GROUPS = {
    "as it is: delta .05": Row(),
    "delta .2": Row(delta=0.2),
    "delta .01": Row(delta=0.01),
    "a gap of .5 instead of .7 (the world)": Row(gap=0.5),
    "tolerance .1": Row({"tolerance": 0.1}),
    "per_cell 40": Row({"per_cell": 40}),
    "per_cell 12": Row({"per_cell": 12}),
    "per_cell 5": Row({"per_cell": 5}),
    "3 groups, told": Row({"groups": 3}, groups=3),
    '3 groups, `groups="auto"`': Row({"groups": "auto"}, groups=3),
}
RULE = {
    'as it is: error "any", delta .05': Row(),
    'error "share"': Row({"error": "share"}),
    "delta .2": Row(delta=0.2),
    "delta .01": Row(delta=0.01),
    "a gap of .5 instead of .7 (the world)": Row(gap=0.5),
    "3 anchors of each group": Row(anchors=3),
    "margin .25": Row({"margin": 0.25}),
    "per_cell 12": Row({"per_cell": 12}),
    "per_cell 3": Row({"per_cell": 3}),
    "3 groups, told": Row({"groups": 3}, groups=3),
    '3 groups, `groups="auto"`': Row({"groups": "auto"}, groups=3),
}


def main() -> None:
    """Measure every row and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    lines = [
        f"`python benchmarks/settings.py --runs {given.runs} --seed {given.seed}`: 60 items,"
        " yes/no, 8 of 20 questions useful, gap .7; for the promise rule items differ by a spread"
        " of .1 gaps.",
    ]
    for method, world, rows in (("frugal", ALIKE, GROUPS), ("rule", UNLIKE, RULE)):
        lines += [
            "",
            f'| `method="{method}"` | mean answers | times the first | decided | runs with a wrong'
            " label |",
            "|---|---|---|---|---|",
        ]
        first: float | None = None
        for name, row in rows.items():
            summary = measured(method, world, row, given.runs, given.seed, given.jobs)
            first = first or summary.mean_answers_all
            lines.append(
                f"| {name} | {summary.mean_answers_all:,.0f}"
                f" | {summary.mean_answers_all / first:.2f} | {summary.decided:.1%}"
                f" | {summary.errors} of {given.runs} |"
            )
            print(lines[-1], flush=True)
    if given.out is not None:
        given.out.write_text("\n".join(lines) + "\n")


def measured(method: str, world: Instance, row: Row, runs: int, seed: int, jobs: int) -> RunSummary:
    """What the runs of one row came to."""
    return RunSummary.of(
        simulate_runs(
            replace(world, groups=row.groups, gap=row.gap),
            method,
            delta=row.delta,
            runs=runs,
            seed=seed,
            jobs=jobs,
            anchors=row.anchors,
            options=row.options,
            max_answers=100_000,
        )
    )


if __name__ == "__main__":
    main()
