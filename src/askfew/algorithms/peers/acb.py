"""Active clustering of whole rows, in the spirit of Thuot, Carpentier, Giraud and Verzelen (ACB,
arXiv 2406.11485). Not their code.

Theirs: an item is pulled as a whole. First one *representative* of each group is found (their
"sequential representatives identification"): random items are pulled at several scales, and their
squared distance to the representatives found so far is tested with two independent halves, so that
it is estimated without bias. Then the representatives are pulled more often, and every item is
sorted by its distances to them ("active distance-based classification"), which no longer depends on
the dimension. Neither the gap nor the size of the smallest group need be known (the multiscale
search of their adaptive variant, ACB*).

Ours: all constants. The distance test has the Chernoff bound of a product of two independent normal
vectors; distances to two representatives are compared as the side of the plane half-way between
them, with the plane's direction from one half of their pulls and its place from the other; an item
that is not sorted is pulled twice as often; delta is split evenly between the two phases and over
scales like 1/(r (r + 1)). They prove a budget that matches their lower bound in most regimes; with
our constants nothing of the kind is claimed.

Compared with the paper's abstract and a summary of it (the two phases and their names, and what the
adaptive variant need not know). Its formulas were not at hand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import count, permutations

import numpy as np

from askfew.algorithms.baselines.k_means import check_groups
from askfew.algorithms.peers.rows import Rows, pull
from askfew.evidence import nine_digits
from askfew.records import Certificate, Finding, Floats, Ints, Problem, Procedure, renumbered

__all__ = ["acb"]

_SILENT = 5
"""The method gives up after this many scales in a row without an answer. A plain choice."""


def acb(
    problem: Problem, delta: float, rng: np.random.Generator, *, groups: int = 2
) -> Procedure[Finding]:
    """Find a representative of every group by distances, then sort all items between them."""
    check_groups(problem, groups)
    n = problem.items
    found = yield from _representatives(problem, delta / 2, groups, rng)
    labels = np.full(n, -1)
    if found is None:
        return Finding(labels, status="stalled", groups=groups)
    yield from _sort(problem, delta / 2, found, labels)
    decided = int((labels >= 0).sum())
    return Finding(
        renumbered(labels),
        certificate=_promise(delta) if decided else None,
        status="done" if decided == n else "stalled",
        groups=groups,
    )


def _representatives(
    problem: Problem, delta: float, groups: int, rng: np.random.Generator
) -> Procedure[Ints | None]:
    """An item of every group, found by pulling many items a few times or a few items often.

    Each scale doubles the pulls, so that any gap is found in the end.
    """
    n, variance = problem.items, problem.kind.sigma**2
    found = [int(rng.integers(n))]
    tests, silent = 0, 0
    for scale in count():
        for power in range(scale + 1):
            pulls = 2**power
            some = rng.permutation(n)[: 2 ** (scale - power)]
            some = np.setdiff1d(some, found)
            if not len(some):
                continue
            asked = np.concatenate([found, some])
            halves = Rows(problem), Rows(problem)
            came = False
            for half in halves:
                times = np.full(len(asked), pulls)
                came |= yield from pull(problem, asked, times, half, "represent: two halves")
            silent = 0 if came else silent + 1
            if silent == _SILENT:
                return None
            seen = [(half.means, half.pulls) for half in halves]
            for item in some:
                tests += 1
                nats = math.log(tests * (tests + 1) * groups / delta)
                if all(_apart(seen, int(item), other, nats, variance) for other in found):
                    found.append(int(item))
                    if len(found) == groups:
                        return np.array(found)
    return None


_Half = tuple[Floats, Ints]
"""Means (items x questions) and pulls of every item."""


def _apart(halves: Sequence[_Half], one: int, other: int, nats: float, variance: float) -> bool:
    """Whether the two items' rows differ, up to a chance of exp(-nats)."""
    differences = [means[one] - means[other] for means, _ in halves]
    least = [pulls[[one, other]] for _, pulls in halves]
    if min(pulls.min() for pulls in least) == 0:
        return False
    noise = math.prod(math.sqrt(variance * (1 / pulls).sum()) for pulls in least)
    # <G1, G2> of two standard normal vectors: log E exp(s <G1, G2>) <= (d/2) s^2 / (1 - s).
    allowed = noise * (math.sqrt(2 * len(differences[0]) * nats) + nats)
    return bool(nine_digits(differences[0] @ differences[1]) > nine_digits(allowed))


def _sort(problem: Problem, delta: float, found: Ints, labels: Ints) -> Procedure[None]:
    """Pull the items that are not sorted yet, twice as often each time, until all are sorted."""
    n, variance, groups = problem.items, problem.kind.sigma**2, len(found)
    labels[found] = np.arange(groups)
    halves, rows = (Rows(problem), Rows(problem)), Rows(problem)
    more, silent = math.isqrt(n), 0
    for scale in count():
        waiting = np.flatnonzero(labels < 0)
        if not len(waiting) or silent == _SILENT:
            return
        times = 2**scale
        came = False
        for half in halves:
            often = np.full(groups, times * more)
            came |= yield from pull(problem, found, often, half, "sort: representatives")
        every = np.full(len(waiting), times)
        came |= yield from pull(problem, waiting, every, rows, f"sort: {len(waiting)} items")
        silent = 0 if came else silent + 1
        if min(half.pulls[found].min() for half in halves) == 0:
            continue
        nats = math.log((scale + 1) * (scale + 2) * n * groups / delta)
        planes = [(half.means[found], half.pulls[found]) for half in halves]
        heard = waiting[rows.pulls[waiting] > 0]
        out = _excluded((rows.means[heard], rows.pulls[heard]), planes, nats, variance)
        sorted_now = out.sum(axis=1) == groups - 1
        labels[heard[sorted_now]] = np.argmin(out[sorted_now], axis=1)


def _excluded(
    items: _Half, halves: Sequence[_Half], nats: float, variance: float
) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """The groups (columns) that items (rows) are excluded from.

    An item is excluded from h if it lies clearly beyond the plane half-way between h and some g. If
    it were in h, its score towards g would have a mean of at most 0. That needs the direction to
    point from h to g, which the other half of the pulls must confirm.
    """
    (means, pulls), (direction, _), (place, often) = items, *halves
    groups = len(direction)
    own, reference = variance / pulls, variance / often
    excluded = np.zeros((len(means), groups), dtype=bool)
    for h, g in permutations(range(groups), 2):
        towards = direction[g] - direction[h]
        size = 2 * nats * (towards @ towards)
        noise = reference[g] + reference[h]
        if nine_digits((place[g] - place[h]) @ towards) <= nine_digits(math.sqrt(size * noise)):
            continue
        score = (means - (place[g] + place[h]) / 2) @ towards
        excluded[:, h] |= nine_digits(score) > nine_digits(np.sqrt(size * (own + noise / 4)))
    return excluded


def _promise(delta: float) -> Certificate:
    return Certificate(
        delta,
        f"All labels given are right with probability at least {1 - delta:g}.",
        (
            "items of a group have the same mean answer to every question",
            "answers are independent and normal, or bounded and treated as normal",
        ),
    )
