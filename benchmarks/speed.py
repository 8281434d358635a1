"""How fast is a simulated run, and how much of it is askfew rather than random numbers?

    python benchmarks/speed.py [--runs 100]

Prints milliseconds a run, microseconds a batch outside NumPy's generator (validation included),
and the share of the time spent there: medians over runs, one process, one thread.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from askfew import oracles
from askfew.algorithms import start
from askfew.driver import run


class TimedGenerator(np.random.Generator):
    """A random generator that knows how long it took to draw."""

    seconds = 0.0

    def standard_normal(self, *args: Any, **kwargs: Any) -> Any:
        """As usual, timed."""
        return self._timed(super().standard_normal, *args, **kwargs)

    def standard_gamma(self, *args: Any, **kwargs: Any) -> Any:
        """As usual, timed."""
        return self._timed(super().standard_gamma, *args, **kwargs)

    def integers(self, *args: Any, **kwargs: Any) -> Any:
        """As usual, timed."""
        return self._timed(super().integers, *args, **kwargs)

    def _timed(self, draw: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        began = time.perf_counter()
        drawn = draw(*args, **kwargs)
        self.seconds += time.perf_counter() - began
        return drawn


def measure(s: int, runs: int) -> NDArray[np.float64]:
    """Seconds in all, seconds in the generator, and batches of each run on Experiment 1."""
    means = np.zeros((2, 1000))
    means[1, :s] = 15 / math.sqrt(s)
    rows = []
    for seed in range(runs):
        rng = TimedGenerator(np.random.PCG64(seed))
        oracle = oracles.gaussian(means, labels=rng.permutation(np.arange(20) % 2), rng=rng)
        began = time.perf_counter()
        ended = run(start("paper", oracle.problem, rng, delta=0.8), oracle, max_answers=10**7)
        rows.append((time.perf_counter() - began, rng.seconds, ended.meter.batches))
    return np.array(rows).T


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    runs = parser.parse_args().runs
    table = Table(
        "Experiment 1", "ms a run", "batches a run", "us a batch outside", "share outside"
    )
    for s in (53, 211, 1000):
        total, drawing, batches = measure(s, runs)
        outside = total - drawing
        table.add_row(
            f"s = {s}",
            f"{1e3 * np.median(total):.1f}",
            f"{np.median(batches):.0f}",
            f"{1e6 * np.median(outside / batches):.1f}",
            f"{np.median(outside / total):.0%}",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
