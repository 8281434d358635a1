"""Algorithm 2, CandidateRow (CR): an item of the other group than item 0."""

from __future__ import annotations

import math

import numpy as np

from askfew.algorithms.paper.compare_sequential_halving import compare_sequential_halving, depths
from askfew.algorithms.paper.differences import against_reference, differences
from askfew.evidence import nine_digits
from askfew.records import Problem, Procedure, Snapshot

__all__ = ["candidate_row"]


def candidate_row(problem: Problem, delta: float, rng: np.random.Generator) -> Procedure[int]:
    """CR(delta): an item that, with probability at least 1 - delta, is not in item 0's group."""
    n, d, sigma = problem.items, problem.questions, problem.kind.sigma
    L_max = math.ceil(math.log2(16 * d * n * math.log(4 * math.log(8 * n * d) / delta)))
    # The set I is [n] in the pseudo-code and {2..n} in the prose. Item 0 never differs from
    # itself, so the prose is followed.
    others = np.arange(1, n)
    labels = np.full(n, -1)
    labels[0] = 0
    known = Snapshot("candidate row", labels)
    k = 1  # line 1
    while True:  # line 2
        for L in depths(L_max, k):  # line 3
            why = f"CR k={k}"
            i, j = yield from compare_sequential_halving(  # line 4
                problem, others, L, 2 ** (k + 1), rng, why=why, known=known
            )
            why += f": test item {i} on question {j}"
            pair = np.array([i]), np.array([j])
            tally = yield against_reference(*pair, 2**k, why, known)  # line 5
            D, m = differences(tally)
            # The paper's sigma is 1. m is how many answers came: 2^k, unless people skip.
            bound = np.sqrt(4 * sigma**2 * m * math.log(k**3 / (0.15 * delta)))
            if nine_digits(m * np.abs(D)) > nine_digits(bound):  # line 6
                # The pseudo-code goes on after line 7. The authors' own code stops here.
                return i  # line 7
        k += 1  # line 10
