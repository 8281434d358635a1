"""Is the bill before the first answer honest? Campaigns held against their own forecast.

    python benchmarks/forecast.py [--campaigns 400] [--seed 1] [--jobs -1]

Over campaigns drawn as the forecast draws them, 85 to 95 % must end under its "90 %" figure, and so
must campaigns in the hardest corner under the corner's own. The forecasts come from another seed.
"""

from __future__ import annotations

import argparse
import time
from functools import partial

from askfew.planning import Range, Unknown, forecast
from askfew.simulation import Family, local, repeat, try_method

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


def share_under(family: Family, figure: float, campaigns: int, seed: int, jobs: int) -> float:
    """How many of the campaigns end with at most that many answers."""
    trial = partial(try_method, method="frugal", delta=DELTA)
    runs = repeat(family, trial, runs=campaigns, seed=seed, engine=local(jobs))
    return sum(run.answers <= figure for run in runs) / campaigns


def main() -> None:
    """Print a line a problem."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=-1)
    options = parser.parse_args()
    for name, unknown in PROBLEMS.items():
        began = time.perf_counter()
        bill = forecast(unknown, delta=DELTA, seed=0, jobs=options.jobs)
        seconds = time.perf_counter() - began
        measure = partial(
            share_under, campaigns=options.campaigns, seed=options.seed, jobs=options.jobs
        )
        over, corner = measure(unknown, bill.q90), measure(unknown.hardest(), bill.hardest_q90)
        print(
            f"{name}: forecast of {bill.runs} runs in {seconds:.0f} s; median {bill.median:,.0f},"
            f" 90 % {bill.q90:,.0f}, hardest corner {bill.hardest_q90:,.0f}; of"
            f" {options.campaigns} campaigns {over:.1%} end under the 90 % figure,"
            f" {corner:.1%} in the hardest corner under its own",
            flush=True,
        )


if __name__ == "__main__":
    main()
