"""What a step decides: labels by exclusion, and items that fit no group."""

from __future__ import annotations

import numpy as np

from askfew.algorithms.frugal.course import Course
from askfew.algorithms.frugal.labelling import Asked, Labelling, Mask
from askfew.algorithms.frugal.levels import Levels
from askfew.algorithms.frugal.pool import hindsight
from askfew.algorithms.frugal.sizing import FUTILE
from askfew.evidence import nine_digits
from askfew.records import Ints

__all__ = ["decide", "is_futile"]

_SURE = 2.0
"""Standard errors that make a gap clear."""
_ODD = 6.0
"""Nats beyond the threshold from which on an item does not fit its group."""


def decide(
    course: Course, state: Labelling, levels: Levels, asked: Asked, items: Ints, doubted: Mask
) -> None:
    """Label what has one group left; note what has none, or does not fit the one that is left."""
    against = state.against(items)
    excluded = against >= nine_digits(state.threshold)
    left, nearest = (~excluded).sum(axis=0), np.argmin(against, axis=0)
    # An item between the groups would be labelled by chance: wait until it is clear or odd.
    # Not for ever: by chance, evidence may speak against an item's own group and stay there.
    doubtful = doubted & (against.min(axis=0) >= state.threshold / 2)
    ready = np.flatnonzero((left == 0) | ((left == 1) & ~doubtful))
    odd = (left[ready] == 0) | _fits_badly(
        course, state, levels, asked, items[ready], nearest[ready]
    )
    state.labels[items[ready[~odd]]] = nearest[ready[~odd]]
    # If the groups themselves do not differ as expected, it is the question that is odd.
    if levels.kept(course.problem.answers.sigma, _SURE)[0] > FUTILE / 2:
        state.misfits += items[ready[odd]].tolist()


def _fits_badly(
    course: Course, state: Labelling, levels: Levels, asked: Asked, items: Ints, groups: Ints
) -> Mask:
    """Whether an item's answers are far from the group's, with a wide margin for hindsight."""
    counts = np.column_stack([asked.counts[items], levels.counts[groups]])
    sums = np.column_stack([asked.sums[items], levels.sums[groups]])
    margin = _ODD + np.log(np.maximum(asked.counts[items], 1))
    return hindsight(course.problem.answers, counts, sums) >= nine_digits(state.threshold + margin)


def is_futile(course: Course, levels: Levels) -> bool:
    """Whether the references' gap is clearly below what it was expected to be."""
    return bool(nine_digits(levels.kept(course.problem.answers.sigma, _SURE)[1]) < FUTILE)
