"""A rule's normal life: one question and one cut over very many items.

    OPENBLAS_NUM_THREADS=1 python benchmarks/certify_many.py [--items 100000] [--error share]

Prints the processor's seconds that the method took (all of the run but the answers), what was
decided, and the most bytes allocated at once, by item (tracemalloc). A minute is the limit. On one
core of a shared machine: 3 s and 800 bytes (share), 8 s and 3 100 bytes (any).
"""

from __future__ import annotations

import argparse
import time
import tracemalloc

import numpy as np

from askfew import Rule, certify, oracles
from askfew.records import Batch, Oracle, Tally


class Timed:
    """An oracle, and the seconds it took."""

    def __init__(self, oracle: Oracle) -> None:
        self.problem = oracle.problem
        self.seconds = 0.0
        self._oracle = oracle

    def __call__(self, batch: Batch, /) -> Tally:
        """Its answers."""
        began = time.process_time()
        tally = self._oracle(batch)
        self.seconds += time.process_time() - began
        return tally


def judged(items: int, seed: int) -> Timed:
    """Nine of ten items clear, one of ten anywhere."""
    rng = np.random.default_rng(seed)
    clear = np.where(rng.random(items) < 0.3, 0.9, 0.08)
    means = np.where(rng.random(items) < 0.1, rng.random(items), clear)
    return Timed(oracles.bernoulli(means[:, np.newaxis], rng=seed))


def main() -> None:
    """Run it once for time and once for memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--error", choices=["any", "share"], default="share")
    given = parser.parse_args()
    rule = Rule.cut(0, 0.5)
    print("| items | error | method | answering | answers | batches | decided | bytes an item |")
    print("|---|---|---|---|---|---|---|---|")
    oracle = judged(given.items, given.seed)
    began = time.process_time()
    result = certify(oracle, rule, error=given.error, rng=given.seed)
    method = time.process_time() - began - oracle.seconds
    tracemalloc.start()
    certify(judged(given.items, given.seed), rule, error=given.error, rng=given.seed)
    most = tracemalloc.get_traced_memory()[1]
    print(
        f"| {given.items:,} | {given.error} | {method:.1f} s | {oracle.seconds:.1f} s"
        f" | {result.answers:,} | {result.batches} | {(result.labels >= 0).mean():.1%}"
        f" | {most / given.items:,.0f} |"
    )


if __name__ == "__main__":
    main()
