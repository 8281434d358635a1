"""Do items of one group have the same mean on every question, as the promise "groups" assumes?

The evidence (``evidence.sameness``) is about groups that are fixed beforehand, but labels are found
from the same answers. Nothing is lost if they are the true groups, which they are with probability
at least 1 - delta. Where items are undecided, the others were chosen by what they answered, and the
proof does not cover that. Such a choice makes a group look more alike: in simulations that stopped
early no alarm was raised.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askfew.estimates.cells import CellSums
from askfew.evidence.sameness import difference_evidence, nats_of_a_split
from askfew.records import Ints, Problem

__all__ = ["Split", "splits_of"]

_LISTED = 20
"""Most splits that are reported, the clearest first. A plain choice: one is enough to warn."""


@dataclass(frozen=True)
class Split:
    """A question on which items of one group do not have the same mean."""

    question: int
    group: int
    nats: float
    """Evidence for it."""
    needed: float
    low: float
    """A tenth of the group's answers are about items whose mean is this or less."""
    high: float


def splits_of(
    problem: Problem, cells: CellSums, groups: Ints, count: int, tolerance: float = 0.0
) -> tuple[Split, ...]:
    """Questions that split a group, the clearest first.

    ``groups`` are the groups of the cells' items (-1: none). Means that differ by at most
    ``tolerance`` split nothing.
    """
    cells, groups = cells.where(groups >= 0), groups[groups >= 0]
    block, place = np.unique(groups * problem.questions + cells.question, return_inverse=True)
    evidence = difference_evidence(problem.kind, place, cells.count, cells.sum, tolerance)
    needed = nats_of_a_split(problem.questions, count)
    found = []
    clearest = np.argsort(-evidence, kind="stable")[:_LISTED]
    for number in clearest[evidence[clearest] >= needed]:
        group, question = divmod(int(block[number]), problem.questions)
        low, high = _ends(cells.where(place == number))
        found.append(Split(question, group, float(evidence[number]), needed, low, high))
    return tuple(found)


def _ends(cells: CellSums) -> tuple[float, float]:
    """The item means below and above which a tenth of the answers lie each."""
    order = np.argsort(cells.mean)
    reached = np.cumsum(cells.count[order]) / cells.count.sum()
    low, high = np.searchsorted(reached, [0.1, 0.9])
    return float(cells.mean[order[low]]), float(cells.mean[order[high]])
