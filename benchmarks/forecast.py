"""Is the bill before the first answer honest? Campaigns held against their own forecast.

    python benchmarks/forecast.py [--runs 100] [--campaigns 100] [--seed 1] [--jobs -1] [--write]

Over campaigns drawn as the forecast draws them, about 90 % must end under its "90 %" figure, and so
must campaigns in the hardest corner under the corner's own. The forecasts come from another seed.
The last rows are of the method "rule", told nothing, anchors, or questions that define the split.
``--write`` keeps the table in forecast.md.
"""

from __future__ import annotations

import argparse
import math
from functools import partial
from pathlib import Path

import numpy as np

from askfew.planning import OwnerKnowledge, Range, Simulation, Unknown, forecast
from askfew.simulation import Family, Run, World, local, repeat, try_method

DELTA = 0.05
PROBLEMS = {
    "yes/no, n = 200, d = 50": Unknown(
        200, 50, gap=Range(0.4, 0.8), share=Range(0.2, 0.5), useful=Range(3, 20)
    ),
    "yes/no, n = 60, d = 20, rare group": Unknown(
        60, 20, gap=Range(0.3, 0.9), share=Range(0.05, 0.5), useful=Range(1, 10)
    ),
    "numbers, n = 100, d = 100": Unknown(
        100, 100, gap=Range(1, 3), share=Range(0.1, 0.5), useful=Range(2, 50), noise="gaussian"
    ),
    "scale, n = 40, d = 10": Unknown(
        40, 10, gap=Range(0.2, 0.6), share=Range(0.2, 0.5), useful=Range(1, 5), noise="scale"
    ),
}
_OF_A_RULE = Unknown(
    60, 20, gap=Range(0.5, 0.8), share=Range(0.2, 0.5), useful=Range(4, 8), spread=0.14
)
RULES = {
    "rule, n = 60, d = 20": OwnerKnowledge(),
    "rule, n = 60, d = 20, 5 + 3 anchors": OwnerKnowledge((5, 3)),
    "rule, n = 60, d = 20, 4 + 4 anchors, 4 questions define the split": OwnerKnowledge((4, 4), 4),
}
HEADER = """# Campaigns against their own forecast

`python benchmarks/forecast.py --runs {runs} --campaigns {campaigns} --seed {seed} --write`. Each
forecast is from {runs} simulated campaigns over the ranges and {runs} in their hardest corner (seed
0); then {campaigns} new campaigns of each kind are held against its "90 %" figure. Both numbers are
counts, so that an honest forecast gives {low:.0%} to {high:.0%} in 19 of 20 cells.

| campaigns | median | 90 % | end under it | 90 % in the hardest corner | end under it |
|---|---|---|---|---|---|
"""


def told_trial(world: World, rng: np.random.Generator, *, told: OwnerKnowledge, method: str) -> Run:
    """One campaign, whose method is told as much of its world as the forecast's were."""
    return try_method(world, rng, method=method, delta=DELTA, options=told.options(world, rng))


def share_under(
    family: Family, told: OwnerKnowledge, method: str, figure: float, said: argparse.Namespace
) -> float:
    """The share of new campaigns that end with at most so many answers."""
    trial = partial(told_trial, told=told, method=method)
    engine = local(said.jobs)
    ran = repeat(family, trial, runs=said.campaigns, seed=said.seed, engine=engine)
    return sum(run.answers <= figure for run in ran) / len(ran)


def row(
    name: str, unknown: Unknown, told: OwnerKnowledge, method: str, said: argparse.Namespace
) -> str:
    """A line of the table."""
    simulation = Simulation(method=method, told=told, delta=DELTA, jobs=said.jobs)
    bill = forecast(unknown, simulation, runs=said.runs)
    over = share_under(unknown, told, method, bill.q90, said)
    corner = share_under(unknown.hardest(), told, method, bill.hardest_q90, said)
    return (
        f"| {name} | {bill.median:,.0f} | {bill.q90:,.0f} | {over:.1%} | {bill.hardest_q90:,.0f}"
        f" | {corner:.1%} |"
    )


def main() -> None:
    """Print a line for each kind of campaign, and keep the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--campaigns", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--write", action="store_true")
    said = parser.parse_args()
    chance = 1.96 * math.sqrt(0.9 * 0.1 * (1 / said.runs + 1 / said.campaigns))
    text = HEADER.format(**vars(said), low=0.9 - chance, high=0.9 + chance)
    print(text, end="", flush=True)
    rows = [(name, unknown, OwnerKnowledge(), "frugal") for name, unknown in PROBLEMS.items()]
    rows += [(name, _OF_A_RULE, told, "rule") for name, told in RULES.items()]
    for each in rows:
        print(line := row(*each, said), flush=True)
        text += f"{line}\n"
    if said.write:
        Path(__file__).with_suffix(".md").write_text(text)


if __name__ == "__main__":
    main()
