"""Algorithm 4, BanditClustering: CandidateRow, then ClusterByCandidates."""

from __future__ import annotations

import numpy as np

from askfew.algorithms.paper.candidate_row import candidate_row
from askfew.algorithms.paper.cluster_by_candidates import cluster_by_candidates
from askfew.records import Certificate, Finding, Problem, Procedure

__all__ = ["bandit_clustering"]


def bandit_clustering(
    problem: Problem, delta: float, rng: np.random.Generator
) -> Procedure[Finding]:
    """Label all items, rightly with probability at least 1 - delta (Theorem 3.1).

    If CR errs (probability at most delta / 2), CBC does not end by itself: give the run a cap.
    """
    i_c = yield from candidate_row(problem, delta / 2, rng)  # line 1
    g, j = yield from cluster_by_candidates(problem, delta / 2, i_c, rng)  # line 2
    return Finding(g, question=j, certificate=_certificate(problem, delta))


def _certificate(problem: Problem, delta: float) -> Certificate:
    return Certificate(
        delta,
        f"All labels are right with probability at least {1 - delta:g}"
        " (Graf, Thuot and Verzelen, Theorem 3.1).",
        (
            "there are two groups, and items of one group have the same mean on every question",
            "answers are independent, and their noise is subGaussian"
            f" with sigma = {problem.kind.sigma:g}",
        ),
    )
