"""Beliefs from all answers: which questions tell groups apart, who fits where, what labels cost.

A question's *shape* is one level for everybody, or two levels and a side for each group. Which
shapes are common is learnt from all questions at once (empirical Bayes: EM over the shares of a
fixed grid of shapes). So a few answers of each group say how probably a question tells groups
apart, on which side each group is, and what its level there may be. The shapes and every item's
answers then give its chance to be of each group, and what an answer is worth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from askfew.algorithms.frugal.claim.exclusion import Exclusion
from askfew.algorithms.frugal.claim.groups import Groups
from askfew.algorithms.frugal.guess.exclusion.history import History
from askfew.answers import AnswerKind, Number
from askfew.evidence import log_evidence
from askfew.records import Floats, Ints

__all__ = ["KNOWN", "Beliefs", "evidence_rate"]

# Where no other measurement is named: values found by trial. What they cost is in
# benchmarks/groups.md; tests/algorithms/frugal/test_costs.py fails if a change costs more.
_BOUNDED = np.array([0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97])
"""Levels on the scale 0 to 1."""
_HALF = 0.3 * 1.8 ** np.arange(7.0)
"""Distances of the next levels from the mean, in sigmas: fine near it, and up to ten."""
_CENTRED = np.concatenate([-_HALF[::-1], [0.0], _HALF])
"""Levels of numbers in sigmas, around the question's mean."""
_LEAST_GAP = 0.15
"""Levels nearer than this are one level; in sigmas, twice as much."""
_TELLS = 0.15
"""The share of telling questions, before any answer."""
_DOUBT = 4.0
"""The weight of that prior, in questions."""
_ITERATIONS = 12
"""Rounds in which the shares of telling questions are fitted. A plain choice, not tuned."""
_EDGE = 0.02
"""Levels on the scale 0 to 1 stay this far from its ends."""
KNOWN = 0.95
"""A question is used once its probability to tell groups apart reaches this."""
_NEW = 0.2
"""The prior probability that an item is of no group found so far, while one is missing."""
_BETWEEN = 0.1
"""The prior probability that a new group has a level of its own on a question, not a side's."""
_SURE = 0.95
"""The chance of a group from which on an item's answers tell about the group."""
_MISFIT = 1e-3
"""The same as ``_NEW``, once all groups are found."""
_LEND = 2.0
"""Answers that each group is lent at the level its question's shape suggests; one more is lent at
the middle between the sides, for shapes are sure too soon."""
_TRUST = 0.5
"""The weight of an answer, in judging a group's level, if its item clearly fits the group but is
not certified."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Beliefs about groups, questions and items, in units of 0 to 1 or sigmas."""

    shapes: Shapes
    counts: Floats
    """Answers of each group's certified members (groups x questions)."""
    known: Ints
    """Questions in use."""
    levels: Floats
    """Levels of the groups on the known questions."""
    low: Floats
    high: Floats
    open: Ints
    """Items that may be asked."""
    asked: Floats
    sums: Floats
    """What the open items answered to the known questions."""
    chances: Floats
    """The chances of each open item to be of each group; the last is of none found so far."""
    own: Floats
    """The level of each open item on each known question, judged by its own answers."""
    rates: Floats
    """Nats against a group (last) for an answer of an item of a group (questions first)."""
    answers: Floats
    """Answers that an item of each group needs for its label."""
    expected: float
    """Answers that labelling will probably take, references included."""

    @classmethod
    def of(cls, claim: Exclusion, history: History) -> Beliefs:
        """The beliefs that follow from all answers so far."""
        groups, kind = claim.groups, claim.problem.kind
        k, member = groups.found, groups.labels.copy()
        member[groups.representatives] = np.arange(k)
        counts, sums, others = history.by_group(member, k)
        shapes = fit_shapes(kind, counts, sums, others)
        known = np.flatnonzero(shapes.tells >= KNOWN)
        if not len(known):
            known = np.array([int(shapes.tells.argmax())])
        open_ = groups.open_items
        open_ = open_[~history.silent[open_]]
        all_counts, all_sums = history.columns(known)
        c, s = all_counts[open_], all_sums[open_]
        middle = (shapes.low + shapes.high)[known] / 2
        heard, total = counts[:, known], sums[:, known]
        chances = np.zeros((len(open_), k + 1))
        for _ in range(2):  # the second time with those who clearly belong to a group
            sure = np.where(chances[:, :k] > _SURE, _TRUST, 0.0)
            more, told = sure.T @ c, sure.T @ s
            levels = total + told + _LEND * shapes.levels[:, known] + middle
            levels /= heard + more + _LEND + 1
            low = _mean_or(np.where(levels < middle, levels, np.nan), shapes.low[known])
            high = _mean_or(np.where(levels >= middle, levels, np.nan), shapes.high[known])
            chances, own = _chances(groups, kind, c, s, levels, low, high, open_)
        ratio = max(1.0, math.sqrt(len(open_) / k))
        rates = _rates(history.unit, levels, ratio, history.in_units(claim.tolerance))
        answers = claim.threshold / np.maximum(_max_min(rates), 1e-3)
        expected = float(chances[:, :k].sum(axis=0) @ answers) * (1 + 1 / ratio)
        return cls(
            shapes,
            counts,
            known,
            levels,
            low,
            high,
            open_,
            c,
            s,
            chances,
            own,
            rates,
            answers,
            expected,
        )


def _mean_or(values: Floats, default: Floats) -> Floats:
    there = ~np.isnan(values)
    total = np.where(there, values, 0.0).sum(axis=0)
    return np.where(there.any(axis=0), total / np.maximum(there.sum(axis=0), 1), default)


def _chances(
    groups: Groups,
    kind: AnswerKind,
    counts: Floats,
    sums: Floats,
    levels: Floats,
    low: Floats,
    high: Floats,
    items: Ints,
) -> tuple[Floats, Floats]:
    """Each item's chances to be of each group or of a new one, and its own levels.

    A new group lies on either side of every question or, less often, somewhere between. It does not
    lie on the same sides as a group found so far on all questions.
    """
    k = len(levels)
    log = np.stack([log_likelihood(kind, counts, sums, each).sum(axis=1) for each in levels], 1)
    down, up = (
        log_likelihood(kind, counts, sums, each) + math.log((1 - _BETWEEN) / 2)
        for each in (low, high)
    )
    level = (sums + (low + high) / 2) / (counts + 1)
    between = log_likelihood(kind, counts, sums, level) + math.log(_BETWEEN)
    between -= np.log1p(counts) / 2  # a penalty: the level was fitted to these answers
    each = np.stack([down, up, between])
    top = each.max(axis=0)
    weights = np.exp(each - top)
    total = weights.sum(axis=0)
    free = (top + np.log(total)).sum(axis=1)
    own = (weights[0] * low + weights[1] * high + weights[2] * level) / total
    sides = np.unique(levels > (low + high) / 2, axis=0)
    taken = np.stack([np.where(side, up, down).sum(axis=1) for side in sides], 1)
    free += np.log(np.maximum(1 - np.exp(taken - free[:, None]).sum(axis=1), 1e-9))
    new = _MISFIT if groups.complete else _NEW
    log = np.where(groups.excluded[items], -np.inf, log + math.log((1 - new) / k))
    log = np.column_stack([log, free + math.log(new)])
    chances = np.exp(log - log.max(axis=1, keepdims=True))
    return chances / chances.sum(axis=1, keepdims=True), own


def _rates(unit: AnswerKind, levels: Floats, ratio: float, tolerance: float) -> Floats:
    """Nats of one answer with ``ratio`` answers of references (questions x groups x groups)."""
    own, group = levels.T[:, :, None], levels.T[:, None, :]
    return evidence_rate(unit, own, group, ratio, tolerance)


def evidence_rate(
    unit: AnswerKind, own: Floats, group: Floats, ratio: float, tolerance: float
) -> Floats:
    """Nats against a group's level that an answer at another level brings, in expectation."""
    return np.asarray(log_evidence(unit, own, group, own, 1.0, group * ratio, ratio, tolerance))


def _max_min(rates: Floats, iterations: int = 40) -> Floats:
    """Nats an answer, for each group, against the group it excludes most slowly.

    The best mixture of questions solves a linear program: maximise the least of several sums.
    Multiplicative weights solve it closely enough for a forecast.
    """
    k = rates.shape[1]
    rates = np.moveaxis(rates, 1, 0).copy()  # groups x questions x groups
    top = np.maximum(rates.max(axis=(1, 2)), 1e-9)[:, None]
    eta = math.sqrt(8 * math.log(max(k, 2)) / iterations) / top
    total = np.zeros((k, k))
    same = np.arange(k)
    total[same, same] = np.inf
    for _ in range(iterations):
        weights = np.exp(-eta * (total - total.min(axis=1, keepdims=True)))
        best = np.einsum("gqh,gh->gq", rates, weights).argmax(axis=1)
        total += rates[same, best]
    return np.asarray(total.min(axis=1) / iterations)


@dataclass(frozen=True, eq=False)
class Shapes:
    """What groups (rows) probably answer to questions (columns), in units of 0 to 1 or sigmas."""

    tells: Floats
    """The probability that a question has two sides, for groups found or not found yet."""
    differs: Floats
    """The probability that groups (rows) are on both of them."""
    levels: Floats
    """The expected level of each group on each question (groups x questions)."""
    low: Floats
    high: Floats
    """The two levels of each question, if it tells groups apart."""
    share: float
    """The share of questions that tell groups apart."""


def log_likelihood(kind: AnswerKind, counts: Floats, sums: Floats, levels: Floats) -> Floats:
    """Log likelihood of answers (in units) at these levels; all arguments broadcast."""
    if isinstance(kind, Number):
        return np.asarray(sums * levels - counts * levels**2 / 2)
    p = np.clip(levels, _EDGE, 1 - _EDGE)
    return np.asarray(sums * np.log(p) + (counts - sums) * np.log1p(-p))


def fit_shapes(
    kind: AnswerKind,
    counts: Floats,
    sums: Floats,
    others: tuple[Ints, Floats, Floats],
) -> Shapes:
    """Fit shapes to the answers of groups (rows) to questions (columns), and of other items.

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
