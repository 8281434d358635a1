"""How questions look: the same for all groups, or with a low and a high side.

A question's *shape* is one level for everybody, or two levels and a side for each group. Which
shapes are common is learnt from all questions at once (empirical Bayes: EM over the shares of a
fixed grid of shapes). So a few answers of each group say how probably a question tells groups
apart, on which side each group is, and what its level there may be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askfew.answers import AnswerKind, Number
from askfew.records import Floats, Ints

__all__ = ["Shapes", "fit_shapes", "from_units", "log_likelihood", "to_units"]

_BOUNDED = np.array([0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97])
"""Levels on the scale 0 to 1."""
_HALF = 0.3 * 1.8 ** np.arange(7.0)
_CENTRED = np.concatenate([-_HALF[::-1], [0.0], _HALF])
"""Levels of numbers in sigmas, around the question's mean."""
_LEAST_GAP = 0.15
"""Levels nearer than this are one level; in sigmas, twice as much."""
_TELLS = 0.15
"""The share of telling questions, before any answer."""
_DOUBT = 4.0
"""Questions that this belief is worth."""
_ITERATIONS = 12
EDGE = 0.02
"""Levels on the scale 0 to 1 stay this far from its ends."""


@dataclass(frozen=True, eq=False)
class Shapes:
    """What groups (rows) probably answer to questions (columns), in units of 0 to 1 or sigmas."""

    tells: Floats
    """The probability of each question to have two sides, whoever is there."""
    differs: Floats
    """The probability that groups (rows) are on both of them."""
    levels: Floats
    """The expected level of each group on each question (groups x questions)."""
    low: Floats
    high: Floats
    """Of each question, if it tells groups apart."""
    share: float
    """Of telling questions."""


def to_units(kind: AnswerKind, counts: Floats, sums: Floats) -> Floats:
    """Sums of answers on the scale 0 to 1, or in sigmas."""
    if isinstance(kind, Number):
        return np.asarray(sums / kind.sigma)
    return np.asarray((sums - kind.low * counts) / (kind.high - kind.low))


def from_units(kind: AnswerKind, levels: Floats) -> Floats:
    """Levels in the user's units."""
    if isinstance(kind, Number):
        return np.asarray(levels * kind.sigma)
    return np.asarray(kind.low + levels * (kind.high - kind.low))


def log_likelihood(kind: AnswerKind, counts: Floats, sums: Floats, levels: Floats) -> Floats:
    """Of answers (in units) with these levels; all arguments broadcast."""
    if isinstance(kind, Number):
        return np.asarray(sums * levels - counts * levels**2 / 2)
    p = np.clip(levels, EDGE, 1 - EDGE)
    return np.asarray(sums * np.log(p) + (counts - sums) * np.log1p(-p))


def fit_shapes(
    kind: AnswerKind,
    counts: Floats,
    sums: Floats,
    others: tuple[Ints, Floats, Floats],
) -> Shapes:
    """From the answers of groups (rows) to questions (columns), in units, and of other items.

    ``others`` are a question, a count and a sum for every cell of items whose group is not certain.
    """
    number = isinstance(kind, Number)
    grid = _CENTRED if number else _BOUNDED
    offset = _centres(counts, sums, others) if number else np.zeros(counts.shape[1])
    lo, hi = np.triu_indices(len(grid), 1)
    wide = grid[hi] - grid[lo] >= _LEAST_GAP * (2 if number else 1)
    lo, hi = lo[wide], hi[wide]
    centred = sums - counts * offset
    log = log_likelihood(kind, counts[..., None], centred[..., None], grid)  # groups, questions, G
    ahead = log[..., hi] - log[..., lo]
    split = (log[..., lo] + np.logaddexp(0.0, ahead) - np.log(2)).sum(axis=0)
    each = np.concatenate([log.sum(axis=0), split], axis=1)  # questions x shapes
    question, count, total = others
    if len(question):
        total = total - count * offset[question]
        alone = log_likelihood(kind, count[:, None], total[:, None], grid)
        sides = np.logaddexp(alone[:, lo], alone[:, hi]) - np.log(2)
        np.add.at(each, question, np.concatenate([alone, sides], axis=1))
    nulls = len(grid)
    prior = np.concatenate(
        [np.full(nulls, (1 - _TELLS) / nulls), np.full(len(lo), _TELLS / len(lo))]
    )
    weight, shares = _posterior(each, prior)
    tells = weight[:, nulls:].sum(axis=1)
    given = weight[:, nulls:] / np.maximum(tells, 1e-300)[:, None]
    side = 1 / (1 + np.exp(-np.clip(ahead, -50, 50)))  # groups, questions, pairs: high
    one_sided = side.prod(axis=0) + (1 - side).prod(axis=0)
    differs = (weight[:, nulls:] * (1 - one_sided)).sum(axis=1)
    level = weight[:, :nulls] @ grid + np.einsum(
        "qs,gqs->gq", weight[:, nulls:], grid[lo] + side * (grid[hi] - grid[lo])
    )
    return Shapes(
        tells,
        differs,
        level + offset,
        given @ grid[lo] + offset,
        given @ grid[hi] + offset,
        float(shares[nulls:].sum()),
    )


def _posterior(each: Floats, prior: Floats) -> tuple[Floats, Floats]:
    """Probabilities of shapes for each question (questions x shapes), and their shares."""
    likelihood = np.exp(each - each.max(axis=1, keepdims=True))
    shares = prior
    for _ in range(_ITERATIONS):
        weight = likelihood * shares
        weight /= weight.sum(axis=1, keepdims=True)
        shares = weight.sum(axis=0) + _DOUBT * prior
        shares /= shares.sum()
    return weight, shares


def _centres(counts: Floats, sums: Floats, others: tuple[Ints, Floats, Floats]) -> Floats:
    question, count, total = others
    size = counts.shape[1]
    heard = counts.sum(axis=0) + np.bincount(question, count, size)
    return np.asarray(
        (sums.sum(axis=0) + np.bincount(question, total, size)) / np.maximum(heard, 1)
    )
