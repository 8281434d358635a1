"""A claim with two groups found and answers without noise, for the guesses about more groups."""

from __future__ import annotations

import numpy as np

from askfew.algorithms.frugal.claim.exclusion import Confirmed, Exclusion
from askfew.algorithms.frugal.guess.exclusion.history import History
from askfew.records import Batch, Floats, Problem, Tally


def found(means: Floats, groups: int = 3) -> tuple[Exclusion, History]:
    """Yes/no; items 0 and 1 represent two groups of those that are told."""
    claim = Exclusion(Problem(*means.shape), 0.05, groups)
    claim.confirmed = Confirmed((0, 1), 1, 9.0, 8.0)
    for item in (0, 1):
        claim.groups.add(item)
    return claim, History(claim.problem)


def hear(
    history: History, means: Floats, items: list[int], times: int, phase: str = "hunt"
) -> None:
    """These items answer all questions so often, each time by the mean."""
    who, asked = (np.ravel(each) for each in np.meshgrid(items, np.arange(means.shape[1])))
    repeats = np.full(len(who), times)
    tally = Tally(repeats, repeats * means[who, asked])
    history.record(Batch(who, asked, repeats), tally, phase)
