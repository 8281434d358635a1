"""Peak memory and CPU time of runs that are large in items or in cells, each in a fresh process.

    python benchmarks/memory.py [--only "a million, 4"] [--seed 0]

Aim: under 500 MB and 60 s each, with Python, its libraries and the simulated world in it. The
matrix of all cells of the paper's world alone would take 2 GB; it is never built.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np

import askfew
from askfew.oracles import bernoulli, gaussian
from askfew.records import Oracle
from askfew.simulation import Instance, simulate_runs


def million(
    make: Callable[..., Oracle], low: float, high: float, elsewhere: float, useful: int, seed: int
) -> str:
    """``askfew.cluster`` on 10^6 items with random labels and 20 questions, some of them useful."""
    means = np.full((2, 20), elsewhere)
    means[:, :useful] = [[low], [high]]
    labels = np.random.default_rng(seed).integers(0, 2, 10**6)
    result = askfew.cluster(make(means, labels=labels, rng=seed), delta=0.05, rng=seed + 1)
    wrong = int((result.labels != (labels ^ labels[0])).sum())
    return f"{result.status}, {result.answers:,} answers, {wrong} wrong labels"


def paper(seed: int) -> str:
    """The paper's method on its Experiment 2 at n = 5000, d = 50 000."""
    instance = Instance(5000, 50_000, 10, 5.0)
    (run,) = simulate_runs(instance, "paper", delta=0.05, runs=1, seed=seed)
    return f"{run.status}, {run.answers:,} answers"


WORLDS: dict[str, Callable[[int], str]] = {
    "a million, 4 of 20 useful, yes/no .1 and .9": partial(million, bernoulli, 0.1, 0.9, 0.5, 4),
    "a million, 10 of 20 useful, yes/no .1 and .9": partial(million, bernoulli, 0.1, 0.9, 0.5, 10),
    "a million, 4 of 20 useful, numbers 0 and 3": partial(million, gaussian, 0.0, 3.0, 0.0, 4),
    "the paper's method, n = 5000, d = 50 000": paper,
}


def measured(name: str, seed: int) -> str:
    """One run, and what this process needed for it."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.process_time()
    found = WORLDS[name](seed)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return (
        f"{name}: {found}; {seconds:.1f} s CPU; peak {peak:.0f} MB, of which {before:.0f} MB are"
        " Python and its libraries"
    )


def main() -> None:
    """Measure every world."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="worlds whose name begins so")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    fresh = multiprocessing.get_context("spawn")  # a forked child would start with our memory
    for name in WORLDS:
        if name.startswith(options.only):
            with ProcessPoolExecutor(1, mp_context=fresh) as pool:
                print(pool.submit(measured, name, options.seed).result(), flush=True)


if __name__ == "__main__":
    main()
