"""The parameters of the theory for a simulated instance: theta, sigma, D, I, rates, bounds."""

from __future__ import annotations

import numpy as np

from askfew import theory
from askfew.simulation import Instance

__all__ = ["divergence_of", "information_of", "least_mean", "mixes_of", "share_of", "sigma_of"]

_WORLDS = 10
"""Worlds over which a bound of more than two groups is averaged, because on which side of a
question a group lies is random. A plain choice: a bound is shown with a few digits only."""


def share_of(instance: Instance) -> float:
    """The second group's share of the items, after rounding to whole items."""
    return instance.second_group / instance.items


def sigma_of(instance: Instance) -> float:
    """The paper's sigma: half the width for bounded answers, which are rescaled to [0, 1]."""
    return instance.sigma if instance.noise == "gaussian" else 0.5


def divergence_of(instance: Instance) -> float:
    """The most that one answer can tell about an item's group.

    >>> divergence_of(Instance(20, 10, 3, gap=2.0))
    2.0
    """
    if instance.noise == "gaussian":
        return theory.normal_divergence(instance.gap, instance.sigma)
    low, high = 0.5 - instance.gap / 2, 0.5 + instance.gap / 2
    return _answers_in_one(instance) * theory.yes_no_divergence(low, high)


def information_of(instance: Instance) -> float:
    """What an answer in a random cell tells about whether there are two groups."""
    gaps, share = instance.ordered_gaps, share_of(instance)
    if instance.noise == "gaussian":
        return theory.normal_information(gaps, share, instance.sigma)
    both = theory.yes_no_information(0.5 - gaps / 2, 0.5 + gaps / 2, share)
    return _answers_in_one(instance) * both


def mixes_of(instance: Instance) -> list[tuple[theory.Mix, ...]]:
    """The best mix of questions for every group, in ten worlds of the instance."""
    # A fixed seed: the same problem must always have the same bound.
    rng = np.random.default_rng(0)
    drawn = [instance.group_means(rng) for _ in range(_WORLDS)]
    if instance.noise == "gaussian":
        told = [theory.normal_divergences(means, instance.sigma) for means in drawn]
    else:
        told = [_answers_in_one(instance) * theory.yes_no_divergences(means) for means in drawn]
    return [theory.best_mixes(each) for each in told]


def least_mean(instance: Instance, delta: float) -> float:
    """The best lower bound on the mean answers of a method that certifies every item's group.

    Averaged over label vectors, and for more than two groups over worlds.

    >>> round(least_mean(Instance(20, 1000, 53, gap=2.0), 0.05), 1)
    58.2
    """
    n = instance.items
    if instance.groups > 2:
        values = [theory.groups_mean(n, mixes, delta).value for mixes in mixes_of(instance)]
        return float(np.mean(values))
    found = [theory.labelling_mean(n, divergence_of(instance), delta).value]
    if instance.noise == "gaussian":
        found.append(theory.untold_gap_mean(n, instance.gap, delta, instance.sigma).value)
    # Both bounds hold, so the larger one does.
    return max(found)


def _answers_in_one(instance: Instance) -> int:
    # A simulated scale answer is the sum of four yes/no answers, so it tells four times as much.
    return 4 if instance.noise == "scale" else 1
