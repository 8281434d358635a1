"""Is the bill before the first answer honest? Campaigns held against their own forecast.

    python benchmarks/forecast.py [--campaigns 400] [--seed 1] [--jobs -1] [--only rule]

Over campaigns drawn as the forecast draws them, 85 to 95 % must end under its "90 %" figure, and so
must campaigns in the hardest corner under the corner's own. The forecasts come from another seed.
The last rows are of the method "rule", told nothing, anchors, or questions that define the split.
"""

from __future__ import annotations

import argparse
import time
from functools import partial

import numpy as np

from askfew.planning import Range, Told, Unknown, forecast
from askfew.simulation import Instance, try_method

DELTA = 0.05
PROBLEMS = {
    "yes/no, n = 500, d = 100": Unknown(
        500, 100, gap=Range(0.4, 0.8), share=Range(0.2, 0.5), useful=Range(3, 20)
    ),
    "yes/no, n = 60, d = 20, rare group": Unknown(
        60, 20, gap=Range(0.3, 0.9), share=Range(0.05, 0.5), useful=Range(1, 10)
    ),
    "numbers, n = 100, d = 200": Unknown(
        100, 200, gap=Range(0.5, 3), share=Range(0.1, 0.5), useful=Range(2, 50), noise="gaussian"
    ),
    "scale, n = 40, d = 10": Unknown(
        40, 10, gap=Range(0.2, 0.6), share=Range(0.2, 0.5), useful=Range(1, 5), noise="scale"
    ),
}
_OF_A_RULE = Unknown(
    60, 20, gap=Range(0.5, 0.8), share=Range(0.2, 0.5), useful=Range(4, 8), spread=0.14
)
RULES = {
    "rule, n = 60, d = 20": Told(),
    "rule, n = 60, d = 20, 5 + 3 anchors": Told((5, 3)),
    "rule, n = 60, d = 20, 4 + 4 anchors, 4 questions define the split": Told((4, 4), 4),
}


def share_under(
    family: Unknown | Instance, told: Told, method: str, figure: float, campaigns: int, seed: int
) -> float:
    """How many of the campaigns end with at most that many answers."""
    under = 0
    for each in np.random.SeedSequence(seed).spawn(campaigns):
        for_world, for_method = each.spawn(2)
        world, rng = family.draw(for_world), np.random.default_rng(for_method)
        options = told.options(world, rng)
        under += (
            try_method(world, rng, method=method, delta=DELTA, options=options).answers <= figure
        )
    return under / campaigns


def main() -> None:
    """Print a line a problem."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--only", default="", help="rows whose name contains this")
    said = parser.parse_args()
    rows = [(name, unknown, Told(), "frugal") for name, unknown in PROBLEMS.items()]
    rows += [(name, _OF_A_RULE, told, "rule") for name, told in RULES.items()]
    for name, unknown, told, method in rows:
        if said.only not in name:
            continue
        began = time.perf_counter()
        bill = forecast(unknown, method=method, told=told, delta=DELTA, seed=0, jobs=said.jobs)
        seconds = time.perf_counter() - began
        measure = partial(
            share_under, told=told, method=method, campaigns=said.campaigns, seed=said.seed
        )
        over = measure(unknown, figure=bill.q90)
        corner = measure(unknown.hardest(), figure=bill.hardest_q90)
        print(
            f"{name}: forecast of {bill.runs} runs in {seconds:.0f} s; median {bill.median:,.0f},"
            f" 90 % {bill.q90:,.0f}, hardest corner {bill.hardest_q90:,.0f}; of"
            f" {said.campaigns} campaigns {over:.1%} end under the 90 % figure,"
            f" {corner:.1%} in the hardest corner under its own",
            flush=True,
        )


if __name__ == "__main__":
    main()
