"""A best guess for every item, with its probability, from all answers so far.

Certified labels are kept. The others come from latent classes fitted with the certified items
clamped to their groups: an estimate under a model, and no promise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askfew.cells import CellTable
from askfew.classes import DISCOUNT, Answered, fit
from askfew.records import Floats, Ints, Problem

__all__ = ["Guesses", "guess_groups"]


@dataclass(frozen=True, eq=False)
class Guesses:
    """For every item a group, and the estimated probability that it is the right one."""

    groups: Ints
    confidence: Floats


def guess_groups(
    problem: Problem,
    table: CellTable,
    labels: Ints,
    groups: int,
    *,
    sure: float = 0.0,
    identical: bool = False,
) -> Guesses:
    """Guess the group of every item.

    ``labels`` are certified or told (-1 elsewhere), with at least the probability ``sure``;
    ``identical`` says that items of one group are the same, so that repeats count in full.

    >>> nine, sums = np.full((3, 1), 9), np.array([[9.0], [0.0], [8.0]])
    >>> table = CellTable(np.arange(3), np.arange(1), nine, sums)
    >>> guess_groups(Problem(3, 1), table, np.array([0, 1, -1]), 2).groups
    array([0, 1, 0])
    """
    shares = np.full(groups, 1 / groups)
    chances = np.tile(shares, (problem.items, 1))
    if len(table.items):
        discount = 0.0 if identical else DISCOUNT
        answered = Answered.of(problem.answers, table.counts, table.sums, discount)
        known = labels[table.items]
        rng = np.random.default_rng(0)  # starts of EM: the same answers give the same guesses
        complete = len(np.unique(known[known >= 0])) == groups
        model = fit(answered, groups, rng, known=known if complete else None)
        chances[:] = model.shares
        chances[table.items] = model.posterior
        if not complete:
            chances = chances[:, _order(chances[table.items])]
    guessed = chances.argmax(axis=1)
    confidence = chances.max(axis=1)
    certified = labels >= 0
    guessed[certified] = labels[certified]
    confidence[certified] = np.maximum(chances[certified, labels[certified]], sure)
    return Guesses(guessed, confidence)


def _order(posterior: Floats) -> Ints:
    """Classes in the order in which their first item comes."""
    groups = posterior.shape[1]
    nearest = posterior.argmax(axis=1)
    first = [
        int(np.argmax(nearest == group)) if (nearest == group).any() else len(nearest) + group
        for group in range(groups)
    ]
    return np.argsort(first)
