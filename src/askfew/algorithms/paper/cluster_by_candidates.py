"""Algorithm 3, ClusterByCandidates (CBC): all labels, from one item of each group."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from askfew.algorithms.paper.compare_sequential_halving import compare_sequential_halving, depths
from askfew.algorithms.paper.differences import against_reference, differences, until_answered
from askfew.evidence import nine_digits
from askfew.records import Ints, Problem, Procedure, Snapshot

__all__ = ["cluster_by_candidates"]


def cluster_by_candidates(
    problem: Problem, delta: float, i_c: int, rng: np.random.Generator
) -> Procedure[tuple[Ints, int]]:
    """CBC(delta, i_c): the labels, right with probability at least 1 - delta, and their question.

    If i_c is in item 0's group there is no gap to be found, and it never ends.
    """
    n, d, sigma = problem.items, problem.questions, problem.kind.sigma
    L_max = math.ceil(math.log2(16 * d * math.log(4 * math.log(8 * d) / delta)))
    candidate, others = np.array([i_c]), np.arange(1, n)
    undecided = np.full(n, -1)
    undecided[0] = 0
    known = Snapshot("cluster by candidates", undecided)
    k = math.ceil(math.log2(n))  # line 1
    while True:  # line 2
        tau = 2**k // n
        log_term = math.log(n * k**3 / (0.15 * delta))
        for L in depths(L_max, k):  # line 3
            why = f"CBC k={k}"
            _, j = yield from compare_sequential_halving(  # line 4
                problem, candidate, L, 2 ** (k + 1), rng, why=why, known=known
            )
            why += f": test question {j}"
            tally = yield against_reference(candidate, np.array([j]), tau, why, known)  # line 5
            D, m = differences(tally)  # line 6: the paper's sum is m D
            epsilon = np.sqrt(4 * sigma**2 * m * log_term)  # line 7; the paper's sigma is 1
            # Without any answer, 0 >= 0 would pass.
            if m[0] > 0 and nine_digits(m * np.abs(D)) >= nine_digits(3 * epsilon):  # line 8
                why = f"CBC k={k}: label every item on question {j}"
                batch = against_reference(
                    others, np.full(n - 1, j), tau, why, replace(known, question=j)
                )
                # Line 12 has no third outcome: an item with fewer answers would be labelled by
                # a test that lacks the power the theorem counts on.
                tally = yield from until_answered(batch)  # lines 9-10
                D, m = differences(tally)  # line 11
                epsilon = np.sqrt(4 * sigma**2 * m * log_term)
                g = np.zeros(n, dtype=np.int64)
                g[1:] = nine_digits(m * np.abs(D)) >= nine_digits(epsilon)  # line 12
                # The paper returns g alone, "of length d"; it has n entries.
                return g, j  # line 14
        # The pseudo-code forgets this line, and would repeat the same round for ever.
        k += 1
