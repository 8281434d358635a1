"""Algorithm 1, CompareSequentialHalving (CSH): the entry that differs most from item 0's."""

from __future__ import annotations

import numpy as np

from askfew.algorithms.paper.differences import against_reference, differences
from askfew.records import Floats, Ints, Problem, Procedure, Snapshot

__all__ = ["compare_sequential_halving", "depths"]


def compare_sequential_halving(
    problem: Problem,
    I: Ints,
    L: int,
    T: int,
    rng: np.random.Generator,
    *,
    why: str,
    known: Snapshot,
) -> Procedure[tuple[int, int]]:
    """CSH(I, L, T): halve 2^L random entries of I x [d] until one, (i, j), is left.

    It spends at most T answers. Entries are drawn with replacement, so one may compete with itself.
    """
    i = I[rng.integers(len(I), size=2**L)]  # line 1
    j = rng.integers(problem.questions, size=2**L)
    for l in range(1, L + 1):  # line 2
        tau = T // (2 ** (L - l + 2) * L)  # line 3
        reason = f"{why}, CSH L={L}, halving {l} of {L}: compare {len(i)} pairs"
        tally = yield against_reference(i, j, tau, reason, known)  # lines 4-5
        D, _ = differences(tally)  # line 6
        # Raw scores, not ``nine_digits``: D is made of sums and quotients, which IEEE 754 rounds
        # in one way on every processor. Only log and exp differ between them.
        keep = _largest(np.abs(D), 2 ** (L - l))  # line 8
        i, j = i[keep], j[keep]
    return int(i[0]), int(j[0])  # line 10


def depths(L_max: int, k: int) -> range:
    """The L tried in round k of CR and CBC.

    The paper's loop bound L 2^L <= 2^(k+1) lets tau_1 be 0; Lemma A.1 needs, and the authors ran,
    L 2^(L+1) <= 2^(k+1), which makes tau_1 at least 1.
    """
    fitting = (L for L in range(1, L_max + 1) if L * 2 ** (L + 1) <= 2 ** (k + 1))
    return range(1, max(fitting, default=0) + 1)


def _largest(scores: Floats, size: int) -> Ints:
    """Indices of the ``size`` largest scores, in order; ties go to those that come first."""
    # A partition takes linear time; there may be a million entries.
    cut = np.partition(scores, len(scores) - size)[len(scores) - size]
    keep = scores > cut
    ties = np.nonzero(scores == cut)[0]
    keep[ties[: size - np.count_nonzero(keep)]] = True
    return np.nonzero(keep)[0]
