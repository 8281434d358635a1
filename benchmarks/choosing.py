"""How long does the frugal method take to choose its next Batch, and how much memory does it hold?

    python benchmarks/choosing.py [--items 100000] [--questions 10000]

People wait for it: the median should be under 50 ms. Memory must grow with the cells asked, not
with items x questions.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

from askfew.algorithms import start
from askfew.driver import run
from askfew.oracles import gaussian
from askfew.records import Batch, Oracle, Tally


class Watch:
    """Times what happens between two questions to the oracle."""

    def __init__(self, oracle: Oracle) -> None:
        self.problem, self._oracle = oracle.problem, oracle
        self.choosing: list[float] = []
        self.answering: list[float] = []
        self._last = time.perf_counter()

    def __call__(self, batch: Batch, /) -> Tally:
        """Answer, and note how long the next Batch takes to come."""
        came = time.perf_counter()
        self.choosing.append(came - self._last)
        tally = self._oracle(batch)
        self._last = time.perf_counter()
        self.answering.append(self._last - came)
        return tally


def main() -> None:
    """One run, as large as it says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=10_000)
    options = parser.parse_args()
    means = np.zeros((2, options.questions))
    means[1, : options.questions // 100] = 3.0
    labels = np.random.default_rng(0).integers(0, 2, options.items)
    watch = Watch(gaussian(means, labels=labels, rng=0))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    procedure = start("frugal", watch.problem, np.random.default_rng(7), delta=0.05)
    ended = run(procedure, watch)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    milliseconds = 1000 * np.array(watch.choosing)
    print(
        f"n = {options.items:,}, d = {options.questions:,}: {ended.meter.answers:,} answers in"
        f" {ended.meter.batches} batches; choosing takes {np.median(milliseconds):.1f} ms (median),"
        f" {np.quantile(milliseconds, 0.95):.1f} ms (95 %), {milliseconds.max():.1f} ms at most;"
        f" {sum(watch.choosing) / sum(watch.answering):.1f} times what simulating the answers"
        f" takes; memory grew by {grown / 1024:.0f} MB"
        f" ({1024 * grown / ended.meter.cells:.0f} bytes a cell asked)"
    )


if __name__ == "__main__":
    main()
