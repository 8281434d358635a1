"""An adaptive fixed-budget baseline in the spirit of Ariu, Ok, Proutiere and Yun (2024).

It is no reproduction: their setting is richer, and their code is not used. Only the idea is theirs:
items and questions are chosen by how uncertain the current clustering is, and the clustering is
redone as answers come.
"""

from __future__ import annotations

import numpy as np

from askfew.algorithms.baselines.k_means import k_means
from askfew.errors import InvalidInput
from askfew.evidence import nine_digits
from askfew.records import Batch, Finding, Floats, Ints, Problem, Procedure, Snapshot

__all__ = ["adaptive_kmeans"]

_START = 0.1
"""Share of the budget that is spread evenly over all cells to begin with."""
_ROUNDS = 30
"""Times that the clustering is redone. Both are round numbers, not tuned: this is a baseline."""


def adaptive_kmeans(
    problem: Problem, rng: np.random.Generator, *, budget: int
) -> Procedure[Finding]:
    """Spend the budget in rounds on doubtful items and on questions that seem to separate.

    Each round clusters the cell means with k-means and weighs questions by the squared gap of the
    two centres. Items are drawn, the more likely the smaller the margin by which they belong to
    their group. Each drawn (item, question) is asked once.
    """
    n, d = problem.items, problem.questions
    if budget < n * d:
        raise InvalidInput(
            f"budget must be at least {n * d:,}, to ask everything once", f"{budget:,}", "raise it"
        )
    counts, sums = np.zeros((n, d)), np.zeros((n, d))
    labels = np.full(n, -1)
    asked = np.full((n, d), max(1, int(_START * budget) // (n * d)))
    rounds = [0, *_rounds(budget - int(asked.sum()))]
    for number, size in enumerate(rounds):
        if number > 0:
            asked = _doubtful(counts, sums, labels, size, rng)
        items, questions = np.nonzero(asked)
        tally = yield Batch(
            items,
            questions,
            asked[items, questions],
            f"adaptive k-means, round {number} of {len(rounds) - 1}: {len(items)} cells",
            Snapshot("adaptive k-means", labels),
        )
        counts[items, questions] += tally.counts
        sums[items, questions] += tally.sums
        labels = k_means(_means(counts, sums), 2, starts=10, rng=rng)
    return Finding(labels)


def _rounds(budget: int) -> list[int]:
    share, extra = divmod(budget, _ROUNDS)
    return [size for r in range(_ROUNDS) if (size := share + (r < extra))]


def _doubtful(
    counts: Floats, sums: Floats, labels: Ints, size: int, rng: np.random.Generator
) -> Ints:
    """How often to ask each cell in this round: doubtful items, separating questions."""
    if not labels.any():  # all in one group: nothing is known to separate
        return rng.multinomial(size, np.full(counts.size, 1 / counts.size)).reshape(counts.shape)
    means = _means(counts, sums)
    centres = np.stack([means[labels == g].mean(axis=0) for g in (0, 1)])
    gaps = centres[1] - centres[0]
    # Both weights are those of a likelihood: squared gaps, and an exponential of the margin.
    questions = gaps**2 / max(float((gaps**2).sum()), 1e-12)
    # The margin of an item: how much nearer it is to its own centre, in units of its noise.
    lean = (means - centres.mean(axis=0)) @ gaps
    noise = np.sqrt((gaps**2 / np.maximum(counts, 1)).sum(axis=1)) + 1e-12
    margin = np.abs(lean) / noise
    doubt = nine_digits(np.exp(margin.min() - margin))  # the largest is 1: the sum is never 0
    chances = np.outer(doubt / doubt.sum(), questions).ravel()
    drawn = rng.multinomial(size, chances / chances.sum())
    return drawn.reshape(counts.shape)


def _means(counts: Floats, sums: Floats) -> Floats:
    """Cell means; a cell nobody answered has its question's mean."""
    overall = sums.sum(axis=0) / np.maximum(counts.sum(axis=0), 1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), overall)
