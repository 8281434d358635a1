"""Peak memory of one run of the paper's method on Experiment 2 at n = 5000, d = 50 000.

    python benchmarks/memory.py [--seed 0]

The matrix of all cells alone would take 2 GB; it is never built. Aim: under 500 MB.
"""

from __future__ import annotations

import argparse
import resource

from askfew.simulation import Instance, simulate_runs


def main() -> None:
    """Run once and print the peak."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    seed = parser.parse_args().seed
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    instance = Instance(5000, 50_000, 10, 5.0)
    (result,) = simulate_runs(instance, "paper", delta=0.05, runs=1, seed=seed)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{result}")
    print(f"peak memory {peak:.0f} MB, of which {before:.0f} MB are Python and its libraries")


if __name__ == "__main__":
    main()
