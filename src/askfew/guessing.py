"""A best guess for every item, with its probability, from all answers so far.

Certified labels are kept. The others come from latent classes fitted with the certified items
clamped to their groups: an estimate under a model, and no promise.

A fitted model believes too much in itself, the more the fewer answers it was fitted to. So an item
is judged by levels that its own answers had no part in, and how far the model is to be believed is
measured: every answer is predicted from the item's other answers, with the log odds of the classes
scaled by a belief from 0 to 1, and beliefs are averaged by how well they predict. Where the classes
are nothing but noise that comes to 0, and the guess to no more than the size of a group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import xlogy

from askfew.cells import CellSums
from askfew.classes import DISCOUNT, Answered, Classes, fit
from askfew.records import Floats, Ints, Problem

__all__ = ["Guesses", "guess_groups"]

_EDGE = 0.02
"""A class is never sure of an answer: levels stay this far from the ends of a scale."""
_BELIEFS = np.linspace(0.0, 1.0, 21)
_NEGLIGIBLE = 1e-6
_LENT = 10
"""Items that every group is lent: a few items say little about the size of a group."""
_PREDICTED = 50_000
"""Cells that are predicted at most, to find out how far to believe."""


@dataclass(frozen=True, eq=False)
class Guesses:
    """For every item a group, and the estimated probability that it is the right one."""

    groups: Ints
    confidence: Floats


def guess_groups(
    problem: Problem,
    cells: CellSums,
    labels: Ints,
    groups: int,
    *,
    sure: float = 0.0,
    identical: bool = False,
    on: int | None = None,
) -> Guesses:
    """Guess the group of every item.

    ``labels`` are certified or told (-1 elsewhere), with at least the probability ``sure``; where
    that is 0 they are kept as guesses, but the classes are fitted without them. ``identical`` says
    that items of one group are the same, so that repeats count in full; the groups are then what
    they answer to the question ``on``, where labels rest on one.

    >>> item, sums = np.arange(3), np.array([9.0, 0.0, 8.0])
    >>> cells = CellSums(item, np.zeros(3, int), np.full(3, 9), sums, sums)
    >>> guess_groups(Problem(3, 1), cells, np.array([0, 1, -1]), 2, sure=0.9).groups
    array([0, 1, 0])
    """
    chances = np.full((problem.items, groups), 1 / groups)
    known = labels[cells.item]
    complete = sure > 0 and len(np.unique(known[known >= 0])) == groups
    if complete and identical and on is not None:
        cells = cells.where(cells.question == on)
    if len(cells):
        table = cells.table()
        known = labels[table.items]
        rng = np.random.default_rng(0)  # starts of EM: the same answers give the same guesses
        discount = 0.0 if identical and complete else DISCOUNT
        answered = Answered.of(problem.kind, table.counts, table.sums, discount)
        model = fit(answered, groups, rng, known=known if complete else None)
        shares = _shares(model.posterior)
        believed = _believed(answered, model, shares, table.counts, identical and complete)
        order = np.arange(groups) if complete else _order(believed, known)
        chances[:] = shares[order]
        chances[table.items] = believed[:, order]
    guessed = chances.argmax(axis=1)
    confidence = np.minimum(chances.max(axis=1), 1.0)  # sums of floats leave crumbs
    certified = labels >= 0
    guessed[certified] = labels[certified]
    confidence[certified] = np.clip(chances[certified, labels[certified]], sure, 1.0)
    return Guesses(guessed, confidence)


def _shares(posterior: Floats) -> Floats:
    """The sizes of the groups, from items of which something is known, as far as it is."""
    doubt = -xlogy(posterior, posterior).sum(axis=1) / np.log(posterior.shape[1])
    members = ((1 - doubt) @ posterior) + _LENT
    return np.asarray(members / members.sum())


def _believed(
    answered: Answered, model: Classes, shares: Floats, counts: Ints, identical: bool
) -> Floats:
    """Probabilities of every class (items x classes), as far as the model is to be believed."""
    item, question = np.nonzero(answered.weights > 0)
    weight, mean = answered.weights[item, question], answered.means[item, question]
    own = _log_likelihood(mean, _without_own(answered, model, item, question), model, question)
    odds = np.stack([np.bincount(item, weight * each, minlength=len(counts)) for each in own])
    sizes = np.log(shares)[:, np.newaxis]
    some = np.arange(len(item))
    if len(some) > _PREDICTED:
        some = np.sort(np.random.default_rng(0).choice(some, _PREDICTED, replace=False))
    # An answer is left out alone where repeats are as good as others, else its whole cell is.
    left_out = np.minimum(weight, 1.0) if identical else weight
    worth = counts[item[some], question[some]] if identical else np.minimum(weight[some], 1.0)
    rest = odds[:, item[some]] - (left_out * own)[:, some]
    score = np.array(
        [
            worth @ np.log((_chances(belief * rest + sizes) * np.exp(own[:, some])).sum(axis=0))
            for belief in _BELIEFS
        ]
    )
    # The levels were fitted to what is predicted: each may have gained half a nat by that.
    score[0] += (len(shares) - 1) * len(np.unique(question)) / 2
    trust = np.exp(score - score.max())
    trust = np.where(trust > _NEGLIGIBLE, trust, 0.0) / trust[trust > _NEGLIGIBLE].sum()
    believed = np.zeros(odds.shape)
    for part, belief in zip(trust[trust > 0], _BELIEFS[trust > 0], strict=True):
        believed += part * _chances(belief * odds + sizes)
    return believed.T


def _chances(odds: Floats) -> Floats:
    """Probabilities of the classes (rows) from their log odds."""
    raised = np.exp(odds - odds.max(axis=0))
    return np.asarray(raised / raised.sum(axis=0))


def _without_own(answered: Answered, model: Classes, item: Ints, question: Ints) -> Floats:
    """What each class answers to each cell's question, without that item (classes x cells)."""
    weight, mean = answered.weights[item, question], answered.means[item, question]
    own = model.posterior.T[:, item] * weight
    turned = model.posterior.T
    answers = (turned @ answered.weights)[:, question] - own
    sums = (turned @ (answered.weights * answered.means))[:, question] - own * mean
    overall = answered.overall[question]
    levels = (np.maximum(sums, 0.0) if answered.sigma is None else sums) + overall
    levels = levels / (np.maximum(answers, 0.0) + 1)
    return np.asarray(np.clip(levels, _EDGE, 1 - _EDGE) if answered.sigma is None else levels)


def _log_likelihood(mean: Floats, levels: Floats, model: Classes, question: Ints) -> Floats:
    """Of one answer at the mean of each cell, under each class (classes x cells)."""
    if model.variances is None:
        return np.asarray(mean * np.log(levels) + (1 - mean) * np.log1p(-levels))
    return np.asarray(-((mean - levels) ** 2) / (2 * model.variances[question]))


def _order(chances: Floats, known: Ints) -> Ints:
    """Which class is which group: by the labels that are known, else as their first items come."""
    groups = chances.shape[1]
    nearest = chances.argmax(axis=1)
    if (known >= 0).any():
        together = np.zeros((groups, groups))
        np.add.at(together, (known[known >= 0], nearest[known >= 0]), 1)
        return np.asarray(linear_sum_assignment(-together)[1])
    first = [
        int(np.argmax(nearest == group)) if (nearest == group).any() else len(nearest) + group
        for group in range(groups)
    ]
    return np.argsort(first)
