"""A simulated instance in the letters of the theory: theta, sigma, D and I."""

from __future__ import annotations

from askfew import theory
from askfew.simulation import Instance

__all__ = ["divergence_of", "information_of", "share_of", "sigma_of"]


def share_of(instance: Instance) -> float:
    """The second group's share, as a world of whole items has it."""
    return instance.second_group / instance.items


def sigma_of(instance: Instance) -> float:
    """What the paper's method takes: half the width for bounded answers, rescaled to [0, 1]."""
    return instance.sigma if instance.noise == "gaussian" else 0.5


def divergence_of(instance: Instance) -> float:
    """The most one answer can tell of an item's group.

    >>> divergence_of(Instance(20, 10, 3, gap=2.0))
    2.0
    """
    if instance.noise == "gaussian":
        return theory.normal_divergence(instance.gap, instance.sigma)
    low, high = 0.5 - instance.gap / 2, 0.5 + instance.gap / 2
    return _answers_in_one(instance) * theory.yes_no_divergence(low, high)


def information_of(instance: Instance) -> float:
    """What an answer in a random cell tells of there being two groups at all."""
    gaps, share = instance.ordered_gaps, share_of(instance)
    if instance.noise == "gaussian":
        return theory.normal_information(gaps, share, instance.sigma)
    both = theory.yes_no_information(0.5 - gaps / 2, 0.5 + gaps / 2, share)
    return _answers_in_one(instance) * both


def _answers_in_one(instance: Instance) -> int:
    # A simulated scale answer is the sum of four yes/no answers, and tells four times as much.
    return 4 if instance.noise == "scale" else 1
