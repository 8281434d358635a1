"""A method of your own: ask every cell equally often, split on the question with most spread.

    cd examples && askfew simulate --method own_method:sweep,frugal --budget 400 --items 20 \
        --questions 10 --useful 2 --gap 3 --runs 20 --jobs 2

A package installs it under a name with an entry point of the group askfew.methods.
"""

from __future__ import annotations

import numpy as np

from askfew import Batch, Problem
from askfew.records import Finding, Procedure


def sweep(problem: Problem, rng: np.random.Generator, *, budget: int) -> Procedure[Finding]:
    """Yield what to ask, get how it was answered, return what was found."""
    items, questions = np.indices((problem.items, problem.questions)).reshape(2, -1)
    repeats = np.full(len(items), max(1, budget // len(items)))
    order = rng.permutation(len(items))  # an example of chance: all of it comes from the rng
    tally = yield Batch(items[order], questions[order], repeats[order], "every cell equally often")
    sums = np.zeros((problem.items, problem.questions))
    counts = np.zeros_like(sums)
    sums[items[order], questions[order]] = tally.sums  # people skip: counts may be short
    counts[items[order], questions[order]] = tally.counts
    means = sums / np.maximum(counts, 1)
    best = int(np.argmax(means.std(axis=0)))
    high = means[:, best] > means[:, best].mean()
    return Finding((high != high[0]).astype(np.int64), question=best)  # no certificate: a guess
