"""Same-group queries, in the spirit of Kuroki, Miyauchi, Bonchi and Chen (NeurIPS 2024, "Query-
efficient correlation clustering with noisy oracle", arXiv 2402.01400). Not their code.

Here question j asks "is this item in the same group as item j?", and one answer of it is one query.
Answers may contradict each other; a yes is likelier than a no exactly where the two are in one
group. Where there are fewer questions than items, only the first items can be pivots.

Theirs: a query gives a noisy sample of two items' similarity; what has to be known of a pair is
only whether its mean is above 1/2, which a threshold bandit finds out; KwikCluster makes groups: a
random pivot, whoever is like it, and then the rest. The number of groups need not be known. With
fixed confidence (their KC-FC) the bandit first decides *all* pairs; with a fixed budget (KC-FB)
only pairs with a pivot are asked, when its turn has come. The expected cost of their clustering is
at most 5 times the best one's and a little more, whatever the similarities.

Ours: the two are joined. There is fixed confidence, and only pairs with a pivot are asked, which is
far cheaper than deciding all pairs. The threshold test of a pair is an e-process against 1/2, bets
on either side with a mixture of six sizes, instead of their upper and lower confidence bounds;
delta is split over the pairs, each item has at most ``groups`` or n of them. What is promised is
that all groups are right, which needs planted groups. A pair whose mean is 1/2 would never end: the
model has none.

Compared with the paper's abstract and two detailed summaries of its algorithms. Its proofs were not
at hand.
"""

from __future__ import annotations

import math

import numpy as np

from askfew.algorithms.baselines.k_means import check_groups
from askfew.answers import AnswerKind, Number
from askfew.evidence import nine_digits
from askfew.records import (
    Batch,
    Certificate,
    Finding,
    Floats,
    Ints,
    Problem,
    Procedure,
    Snapshot,
    renumbered,
)

__all__ = ["same_cluster"]

_BETS = np.array([0.05, 0.1, 0.2, 0.4, 0.6, 0.8])
"""The bets of the mixture, as parts of the largest one (numbers: of 1 / sigma). Round numbers."""


def same_cluster(
    problem: Problem, delta: float, rng: np.random.Generator, *, groups: int | None = None
) -> Procedure[Finding]:
    """Take one pivot after another; the items that are like it form its group.

    With ``groups`` known, the items that are left when all groups but one are found form the last.
    """
    n = problem.items
    if groups is not None:
        check_groups(problem, groups)
    labels = np.full(n, -1)
    most = groups - 1 if groups is not None else n
    needed = math.log(n * min(most, n) / delta)
    found = 0
    while (rest := np.flatnonzero(labels < 0)).size and found < most:
        free = rest[rest < problem.questions]
        if not len(free):
            break  # nobody left can be asked about
        pivot = int(rng.choice(free))
        labels[pivot] = found
        alike = yield from _like(problem, pivot, rest[rest != pivot], labels, needed)
        if alike is None:
            break  # nobody answers any more
        labels[alike] = found
        found += 1
    else:
        if groups is not None:
            labels[labels < 0] = found
    return _finding(labels, delta, max(found + 1, 2))


def _like(
    problem: Problem, pivot: int, items: Ints, labels: Ints, needed: float
) -> Procedure[Ints | None]:
    """The items that are like the pivot; None if nobody answers."""
    counts, sums = np.zeros(len(items)), np.zeros(len(items))
    verdict = np.zeros(len(items), dtype=np.int64)
    silent = 0
    while (waiting := np.flatnonzero(verdict == 0)).size:
        tally = yield Batch(
            items[waiting],
            np.full(len(waiting), pivot),
            np.ones(len(waiting), dtype=np.int64),
            f"same group as item {pivot}? {len(waiting)} items",
            Snapshot("compare", renumbered(labels), threshold=needed),
        )
        silent = 0 if tally.answers else silent + 1
        if silent == 5:
            return None
        counts[waiting] += tally.counts
        sums[waiting] += tally.sums
        for side in (1, -1):
            evidence = _evidence(problem.kind, side, counts[waiting], sums[waiting])
            verdict[waiting[nine_digits(evidence) >= nine_digits(needed)]] = side
    return np.asarray(items[verdict == 1])


def _evidence(kind: AnswerKind, side: int, counts: Floats, sums: Floats) -> Floats:
    """Nats against "the mean is not on this side of the middle"."""
    if isinstance(kind, Number):  # 1 says the same, 0 says not
        away = side * (sums - counts / 2)
        bet = _BETS[:, np.newaxis] / kind.sigma
        found = bet * away - counts * (bet * kind.sigma) ** 2 / 2
    else:
        yes = (sums - kind.low * counts) / (kind.high - kind.low)
        on, off = (yes, counts - yes) if side > 0 else (counts - yes, yes)
        bet = _BETS[:, np.newaxis]
        found = on * np.log1p(bet) + off * np.log1p(-bet)
    return np.asarray(np.logaddexp.reduce(found, axis=0) - math.log(len(_BETS)))


def _finding(labels: Ints, delta: float, groups: int) -> Finding:
    decided = int((labels >= 0).sum())
    promise = Certificate(
        delta,
        f"All labels given are right with probability at least {1 - delta:g}.",
        (
            "two items are in one group exactly if a yes is likelier than a no",
            "answers are independent",
        ),
    )
    return Finding(
        renumbered(labels),
        certificate=promise if decided else None,
        status="done" if decided == len(labels) else "undecided",
        groups=groups,
    )
