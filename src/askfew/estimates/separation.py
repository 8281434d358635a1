"""How far apart the fitted classes lie on each question, without a question voting for itself.

A fitted model's own levels lie too far apart: each question helped to choose the classes that it
then seems to separate. Here each item is assigned by its answers to all *other* questions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askfew.estimates.classes import CellMeans, Classes, log_likelihood_by_question, normalised
from askfew.records import Floats, Ints

__all__ = ["Separation", "separation"]

_LEAST_SPREAD = 0.17
"""The smallest standard deviation of a bounded answer that is believed, on the scale 0 to 1: about
that of a yes/no answer with 3 % of errors. Set with the constants of ``rule/tuning.py``
(benchmarks/rule.md). For numbers it is half of sigma."""
_FEWEST_ANSWERS = 0.3
"""A class with fewer answers to a question has the standard error of this many, so that an empty
class is not infinitely uncertain. A round number, not tuned."""


@dataclass(frozen=True, eq=False)
class Separation:
    """The classes' levels on each question, and how far apart they are.

    ``levels`` are classes x questions; ``spread`` is the standard deviation of one answer within a
    class; ``errors`` (classes x classes x questions) are standard errors of a difference, in
    spreads.
    """

    levels: Floats
    spread: Floats
    errors: Floats
    members: Floats
    """How many answers each class's level rests on (classes x questions)."""

    @property
    def distances(self) -> Floats:
        """The distance of every pair of classes on every question, in spreads."""
        gap = np.abs(self.levels[:, np.newaxis] - self.levels)
        return np.asarray(gap / self.spread)


def separation(answered: CellMeans, model: Classes, known: Ints | None = None) -> Separation:
    """The separation of a fitted model's classes, on the answers it was fitted to.

    ``known`` are items' classes that were told (-1: not known).
    """
    weights, means = answered.weights, answered.means
    one = log_likelihood_by_question(answered, model.levels, model.variances)
    # Each cell is assigned by the item's other cells: a question must not vote for itself.
    rest = one.sum(axis=1, keepdims=True) - one + np.log(model.shares)
    others = normalised(rest)
    if known is not None:
        others[known >= 0] = np.eye(len(model.shares))[known[known >= 0]][:, np.newaxis]
    share = others * weights[:, :, np.newaxis]
    members = share.sum(axis=0).T
    levels = (share * means[:, :, np.newaxis]).sum(axis=0).T / np.maximum(members, 1e-9)
    square = (share * (means[:, :, np.newaxis] - levels.T) ** 2).sum(axis=(0, 2))
    least = _LEAST_SPREAD**2 if answered.sigma is None else 0.25 * answered.sigma**2
    spread = np.sqrt(np.maximum(square / np.maximum(members.sum(axis=0), 1e-9), least))
    inverse = 1 / np.maximum(members, _FEWEST_ANSWERS)
    errors = np.sqrt(inverse[:, np.newaxis] + inverse)
    return Separation(levels, spread, errors, members)
