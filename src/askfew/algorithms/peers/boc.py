"""Bandit online clustering, in the spirit of Yang, Zhong and Tan (JMLR 2024). Not their code.

Theirs: an item is pulled as a whole; items are clustered by k-means, weighted by pulls and started
from items far apart; no item is neglected (forced exploration, at least the root of the pulls);
sampling leans to the items whose group is least sure; and the stopping rule: with Z1 the squared
distance of all items from their groups' centres and Z2 that of the nearest other clustering, both
weighted by pulls, stop when (sqrt(Z2) - sqrt(Z1))^2 / 2 exceeds a threshold.

Ours: the nearest other clustering moves one item to another group; the most doubtful half of the
items is pulled instead of tracking the optimal shares; rounds grow by a tenth, so that the k-means
is not redone after every pull; the threshold is the mixture bound of Kaufmann and Koolen (JMLR
2021) for normal means, 2 log(4 + log N) for each of the n d means and their calibrated part for all
of them together, multiplied by sigma squared. It grows with n d: that is what whole rows cost in
high dimensions. They prove that theirs reaches the lower bound as delta goes to 0; with our changes
nothing of the kind is claimed.

Compared with the paper's abstract (arXiv 2202.04294: the setting, fixed confidence, a stopping rule
that solves no NP-hard clustering) and, for the threshold, with two public implementations of the
mixture bound. The formulas of the paper itself were not at hand.
"""

from __future__ import annotations

import math

import numpy as np

from askfew.algorithms.baselines.k_means import check_groups, lloyd, squared_distances
from askfew.algorithms.peers.rows import Rows, pull
from askfew.evidence import nine_digits
from askfew.records import Certificate, Finding, Floats, Ints, Problem, Procedure, renumbered

__all__ = ["boc"]

_GROWTH = 0.1
"""Pulls of a round, as a share of those before it. A plain choice: a run overshoots by at most this
share."""


def boc(
    problem: Problem, delta: float, rng: np.random.Generator, *, groups: int = 2
) -> Procedure[Finding]:
    """Pull whole items, cluster, and stop when no other clustering is plausible at delta."""
    check_groups(problem, groups)
    n, d = problem.items, problem.questions
    sigma = problem.kind.sigma
    rows = Rows(problem)
    constant = n * d * _per_mean(math.log(1 / delta) / (n * d))
    chosen, times = np.arange(n), np.ones(n, dtype=np.int64)
    silent = 0
    while True:
        came = yield from pull(problem, chosen, times, rows, f"pull: {len(chosen)} whole items")
        silent = 0 if came else silent + 1
        pulls = rows.pulls
        if silent == 5:  # nobody answers any more
            return Finding(np.full(n, -1), status="stalled", groups=groups)
        start = _far_apart(rows.means, groups, int(rng.integers(n)))
        labels = renumbered(lloyd(rows.means, start, np.maximum(pulls, 1.0))[0])
        if pulls.min() > 0 and len(np.unique(labels)) == groups:
            own, other = _distances(rows.means, pulls, labels, groups)
            statistic = max(math.sqrt(other.min()) - math.sqrt(own.sum()), 0.0) ** 2 / 2
            known = 2 * d * np.log(4 + np.log(pulls)).sum() + constant
            if nine_digits(statistic) >= nine_digits(sigma**2 * known):
                return Finding(labels, certificate=_promise(delta), groups=groups)
            doubt = np.argsort(nine_digits(other), kind="stable")
        else:
            doubt = np.argsort(pulls, kind="stable")
        # The most doubtful half, and items with few pulls, whose doubt is badly known.
        neglected = pulls < math.sqrt(max(pulls.sum() / n, 1))
        chosen = np.union1d(doubt[: -(-n // 2)], np.flatnonzero(neglected))
        size = max(_GROWTH * pulls.sum() / len(chosen), 1)
        times = np.full(len(chosen), int(size))


def _far_apart(means: Floats, groups: int, first: int) -> Floats:
    """Items to start k-means from; each is the farthest from those before it."""
    chosen = means[[first]]
    while len(chosen) < groups:
        away = squared_distances(means, chosen).min(axis=1)
        chosen = np.vstack([chosen, means[np.argmax(nine_digits(away))]])
    return chosen


def _distances(means: Floats, pulls: Ints, labels: Ints, groups: int) -> tuple[Floats, Floats]:
    """Each item's squared distance from its own centre, times its pulls; and the cost of moving it
    to the nearest other group.
    """
    member = np.eye(groups)[labels]
    weight = member.T @ pulls
    centres = (member.T @ (pulls[:, np.newaxis] * means)) / weight[:, np.newaxis]
    own = pulls * ((means - centres[labels]) ** 2).sum(axis=1)
    apart = squared_distances(centres, centres)
    # An item that moves draws its new group's centre towards it.
    moved = pulls[:, np.newaxis] * weight / (pulls[:, np.newaxis] + weight) * apart[labels]
    moved[np.arange(len(labels)), labels] = np.inf
    alone = member.sum(axis=0)[labels] == 1  # a group of one item cannot lose it
    other = np.where(alone & (not alone.all()), np.inf, moved.min(axis=1))
    return np.asarray(own), np.asarray(other)


def _per_mean(x: float) -> float:
    """Kaufmann and Koolen's calibration of x nats, for one normal mean of many."""
    from scipy.optimize import minimize_scalar  # takes long to import
    from scipy.special import zeta

    def cost(share: float) -> float:
        g = 2 * share - 2 * share * math.log(4 * share)
        g += math.log(zeta(2 * share)) - math.log1p(-share) / 2
        return (g + x) / share

    return float(minimize_scalar(cost, bounds=(0.5 + 1e-9, 1 - 1e-12), method="bounded").fun)


def _promise(delta: float) -> Certificate:
    return Certificate(
        delta,
        f"All labels are right with probability at least {1 - delta:g}.",
        (
            "items of a group have the same mean answer to every question",
            "answers are independent and normal, or bounded and treated as normal",
            "the nearest other clustering moves one item",
        ),
    )
