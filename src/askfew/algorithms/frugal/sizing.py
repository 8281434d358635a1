"""How much a labelling step asks: of every open item, and of the references."""

from __future__ import annotations

import math

import numpy as np

from askfew.algorithms.frugal.course import Course
from askfew.algorithms.frugal.labelling import Asked, Labelling, Mask
from askfew.algorithms.frugal.levels import Levels, labelling_cost, rates
from askfew.evidence import nine_digits
from askfew.records import Floats, Ints

__all__ = ["FUTILE", "ample", "probe_size", "step_sizes"]

FUTILE = 0.6
"""A gap clearly below this share of the expected one is not worth labelling by."""
_CLEAR = 50.0
"""Answers of each group, at a gap of one sigma, by which futility is clear."""
_PROBE = 0.02
"""Share of the labelling's cost that may be spent to see the gap before any item is asked."""
_STRAGGLERS = 0.003
"""Share of all that was asked which a step may always ask."""
_STALE = 0.05
"""Share of what an item was asked that it is always asked again: no item waits for ever."""
_RELIEF = 1 / 40
"""References for an answer of an item that is asked unusually often, at most: so many an item."""
_LATE = 4.0
"""Times its expected answers after which an item is late."""


def step_sizes(
    course: Course, state: Labelling, levels: Levels, asked: Asked, items: Ints, late: Mask
) -> tuple[Ints, Ints, float]:
    """Answers to ask of each item and of each group's references, and how many it will take."""
    against = state.against(items)
    waits = _waits(against, late)
    waiting = waits.sum(axis=1)
    ratios = np.maximum(np.sqrt(np.maximum(waiting, 2)), _relief(asked, items))
    need = (waits > 0) * np.maximum(state.threshold - against, 0)
    need = (need / _speed(course, levels, ratios)[:, np.newaxis]).max(axis=0)
    sizes = _item_sizes(course, asked, items, need)
    typical = waits @ sizes / np.maximum(waiting, 1e-9)
    reference_sizes = np.where(waiting > 0, np.ceil(nine_digits(ratios * typical)), 0)
    expected = float(need.sum() * (1 + 1 / ratios.max()))
    return sizes, reference_sizes.astype(np.int64), expected


def _waits(against: Floats, late: Mask) -> Floats:
    """For which groups' exclusion each item waits: all but the one there is least against.

    An item without any evidence waits for some group, one cannot say which (groups x items). A late
    one waits for every group: what there is least against may be what was least asked.
    """
    groups = np.arange(len(against))[:, np.newaxis]
    waits = np.where(groups != np.argmin(against, axis=0), 1.0, 0.0)
    waits[:, ~against.any(axis=0)] = 1 - 1 / len(groups)
    waits[:, late] = 1.0
    return waits


def _relief(asked: Asked, items: Ints) -> float:
    """References for each answer of an item, at least: the more, the more often one was asked.

    References rotate, an item cannot: beside more of them it need not answer as often itself.
    """
    often = asked.counts[asked.counts > 0]
    overdue = asked.counts[items].max() / np.median(often) if len(often) else 0.0
    return float(nine_digits(min(overdue**2, _RELIEF * len(asked.counts))))


def _speed(course: Course, levels: Levels, ratios: Floats) -> Floats:
    """Evidence an answer is expected to bring against each group."""
    now = rates(course.problem.answers, levels.means, ratios)
    hoped = rates(course.problem.answers, levels.expected, ratios)
    # A gap that seems to vanish must not make a step unbounded before futility is clear.
    return np.maximum(np.maximum(now, FUTILE**2 * hoped), 1e-12)


def _item_sizes(course: Course, asked: Asked, items: Ints, need: Floats) -> Ints:
    """A share of what each item still needs, and at least one answer."""
    # The last items may take larger steps: a trifle of the bill is cheaper than a round more.
    trifle = math.floor(min(_STRAGGLERS * course.asked / len(items), 1e9))
    least = np.maximum(np.minimum(trifle, need / 3), _STALE * asked.counts[items])
    sizes = np.maximum(np.ceil(nine_digits(np.maximum(course.options.step * need, least))), 1)
    return (sizes * (1 + asked.silent[items])).astype(np.int64)


def probe_size(course: Course, state: Labelling, levels: Levels) -> int:
    """References that make futility clear, as far as they are little against the labelling."""
    gap = float(np.ptp(levels.expected)) / course.problem.answers.sigma
    clear = _CLEAR / max(gap**2, 1e-12)
    cost = float(labelling_cost(gap, len(state.open), state.threshold))
    return math.floor(nine_digits(min(clear, _PROBE * cost / len(state.representatives))))


def ample(course: Course, state: Labelling, levels: Levels) -> float:
    """Several times the answers that should be enough for any item."""
    slowest = float(rates(course.problem.answers, levels.expected, np.ones(1)).min())
    return float(nine_digits(_LATE * (state.threshold / max(slowest, 1e-12) + 5)))
