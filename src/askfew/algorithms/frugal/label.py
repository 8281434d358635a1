"""LABEL: exclude for every item all representatives but one.

Each open item carries one log e-process against "same as the group of r" for every
representative r. Labels are given by exclusion; nothing else is ever certified.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from askfew.algorithms.frugal.course import Course
from askfew.algorithms.frugal.levels import Levels, labelling_cost, rate
from askfew.algorithms.frugal.pool import hindsight
from askfew.algorithms.frugal.references import references
from askfew.evidence import log_evidence, nine_digits
from askfew.records import Batch, Floats, Ints, Known, Procedure

__all__ = ["Labelling", "label", "named"]

Mask: TypeAlias = NDArray[np.bool_]
End = Literal["done", "futile", "silent", "model"]

_SILENT = 3
"""Empty returns in a row after which an item is not asked this question any more."""
_FUTILE = 0.6
"""A gap clearly below this share of the expected one is not worth labelling by."""
_SURE = 2.0
"""Standard errors that make it clear."""
_CLEAR = 50.0
"""Answers of each group, at a gap of one sigma, by which futility is clear."""
_PROBE = 0.02
"""Share of the labelling's cost that may be spent to see the gap before any item is asked."""
_LEAST_PROBE = 4
"""A smaller probe is not worth a round."""
_STRAGGLERS = 0.01
"""Share of all that was asked which a step may always ask."""
_LATE = 4.0
"""Times its expected answers after which an item is bet on as it is, not as its group."""
_ODD = 3.0
"""Nats beyond the threshold from which on an item does not fit its group."""
_MISFITS = 2
"""Items that fit no group before the model is given up."""


@dataclass
class Labelling:
    """What is known about every item: evidence (items x representatives), and labels."""

    representatives: Ints
    threshold: float
    evidence: Floats
    labels: Ints
    misfits: list[int] = field(default_factory=list)

    @classmethod
    def begin(cls, items: int, representatives: Ints, threshold: float) -> Labelling:
        """Only the representatives have a label yet."""
        labels = np.full(items, -1)
        labels[representatives] = np.arange(len(representatives))
        return cls(representatives, threshold, np.zeros((items, len(representatives))), labels)

    @property
    def open(self) -> Ints:
        """Items without a label that may still get one."""
        undecided = self.labels < 0
        undecided[self.misfits] = False
        return np.flatnonzero(undecided)

    def lean(self, items: Ints) -> Ints:
        """The group there is least evidence against."""
        return np.asarray(np.argmin(nine_digits(self.evidence[items]), axis=1))


@dataclass
class Asked:
    """Answers each item gave to the question in use."""

    counts: Floats
    sums: Floats
    silent: Ints

    def record(self, items: Ints, counts: Ints, sums: Floats) -> None:
        """Add answers; an item with none has been silent once more."""
        np.add.at(self.counts, items, counts)
        np.add.at(self.sums, items, sums)
        self.silent[items] = np.where(counts > 0, 0, self.silent[items] + 1)


def label(course: Course, state: Labelling, levels: Levels) -> Procedure[End]:
    """Ask every open item, beside fresh references, until it is labelled or the question fails."""
    n = course.problem.items
    asked = Asked(np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.int64))
    yield from _probe(course, state, levels, asked)
    while True:
        items = state.open
        if len(items) == 0:
            return "done"
        if _is_futile(course, levels):
            return "futile"
        items = items[asked.silent[items] < _SILENT]
        if len(items) == 0 or (asked.silent[state.representatives] >= _SILENT).any():
            return "silent"
        yield from _step(course, state, levels, asked, items)
        if len(state.misfits) >= _MISFITS:
            return "model"


def _probe(course: Course, state: Labelling, levels: Levels, asked: Asked) -> Procedure[None]:
    """Ask some references alone: if the gap is not there, no item need be asked.

    Bets may learn from them, but they are evidence for nobody: futility has looked at them.
    """
    size = _probe_size(course, state, levels)
    if size < _LEAST_PROBE:
        return
    wanted = np.full(len(levels.means), size)
    referees, groups, repeats = references(course, state, asked, wanted, size)
    tally = yield from course.ask(
        Batch(
            referees,
            np.full(len(referees), levels.question),
            repeats,
            f"label: see if question {levels.question} still tells the groups apart",
            state_known(state, levels.question, None),
        )
    )
    levels.counts += np.bincount(groups, tally.counts, minlength=len(wanted))
    levels.sums += np.bincount(groups, tally.sums, minlength=len(wanted))
    asked.record(referees, tally.counts, tally.sums)


def _probe_size(course: Course, state: Labelling, levels: Levels) -> int:
    """What makes futility clear, as far as it is little against what the labelling will cost."""
    gap = np.ptp(levels.expected) / course.problem.answers.sigma
    clear = _CLEAR / max(gap**2, 1e-12)
    cost = labelling_cost(gap, len(state.open), state.threshold)
    return math.floor(nine_digits(min(clear, _PROBE * cost / len(levels.means))))


def _step(
    course: Course, state: Labelling, levels: Levels, asked: Asked, items: Ints
) -> Procedure[None]:
    """One block for every open item; sizes and bets are fixed before it is asked."""
    means = levels.means
    late = _is_late(course, state, levels, asked, items)
    bets = _bets(state, levels, asked, items, late)
    sizes, reference_sizes, expected = _sizes(course, state, levels, items)
    referees, groups, repeats = references(course, state, asked, reference_sizes, int(sizes.max()))
    tally = yield from course.ask(
        Batch(
            np.concatenate([referees, items]),
            np.full(len(referees) + len(items), levels.question),
            np.concatenate([repeats, sizes]),
            f"label: {len(items)} items open on question {levels.question}",
            state_known(state, levels.question, expected),
        )
    )
    k = len(referees)
    b = np.bincount(groups, tally.counts[:k], minlength=len(means))
    r = np.bincount(groups, tally.sums[:k], minlength=len(means))
    a, x = tally.counts[k:], tally.sums[k:]
    for group, mean in enumerate(means):
        block = log_evidence(course.problem.answers, bets[:, group], mean, x, a, r[group], b[group])
        state.evidence[items, group] += block
    levels.counts += b
    levels.sums += r
    asked.record(np.concatenate([referees, items]), tally.counts, tally.sums)
    _decide(course, state, levels, asked, items, late)


def _bets(state: Labelling, levels: Levels, asked: Asked, items: Ints, late: Mask) -> Floats:
    """What each item is bet to answer when it is tested against each group (items x groups).

    As the likeliest other group does; one that takes too long, as it has answered so far.
    """
    means = levels.means
    evidence = nine_digits(state.evidence[items])
    bets = np.empty_like(evidence)
    for group in range(len(means)):
        others = np.delete(np.arange(len(means)), group)
        bets[:, group] = means[others[np.argmin(evidence[:, others], axis=1)]]
    own = asked.sums[items] / np.maximum(asked.counts[items], 1)
    return np.where(late[:, np.newaxis], own[:, np.newaxis], bets)


def _is_late(course: Course, state: Labelling, levels: Levels, asked: Asked, items: Ints) -> Mask:
    """Whether an item has been asked several times what should have been enough."""
    enough = state.threshold / _rates(course, levels, np.ones(len(levels.means))).min()
    return np.asarray(asked.counts[items] > _LATE * (enough + 5))


def _sizes(
    course: Course, state: Labelling, levels: Levels, items: Ints
) -> tuple[Ints, Ints, float]:
    """Answers to ask of each item and of each group's references, and how many it will take."""
    groups = np.arange(len(levels.means))
    lean = state.lean(items)
    unsure = (state.evidence[items] == 0).all(axis=1)
    waits = np.where(unsure[:, np.newaxis], 1 - 1 / len(groups), groups != lean[:, np.newaxis])
    ratios = np.sqrt(np.maximum(waits.sum(axis=0), 1))
    rates = _rates(course, levels, ratios)
    missing = np.maximum(state.threshold - state.evidence[items], 0) / rates
    need = np.where(groups != lean[:, np.newaxis], missing, 0).max(axis=1)
    # The last items may take larger steps: a hundredth of the bill is cheaper than a round more.
    patience = min(_STRAGGLERS * course.asked / len(items), 1e9)
    least = np.minimum(math.floor(patience), need / 2)
    sizes = np.maximum(np.ceil(nine_digits(np.maximum(course.options.step * need, least))), 1)
    sizes = sizes.astype(np.int64)
    typical = (waits * sizes[:, np.newaxis]).sum(axis=0) / np.maximum(waits.sum(axis=0), 1e-9)
    reference_sizes = np.where(waits.any(axis=0), np.ceil(nine_digits(ratios * typical)), 0)
    expected = float((need * (1 + 1 / ratios.max())).sum())
    return sizes, reference_sizes.astype(np.int64), expected


def _rates(course: Course, levels: Levels, ratios: Floats) -> Floats:
    """Evidence per answer against each group, at the nearest other group's level."""
    answers = course.problem.answers
    means, hoped = levels.means, levels.expected
    found = []
    for group, ratio in enumerate(ratios):
        others = [other for other in range(len(means)) if other != group]
        now = min(rate(answers, means[other], means[group], ratio) for other in others)
        then = min(rate(answers, hoped[other], hoped[group], ratio) for other in others)
        # A gap that seems to vanish must not make a step unbounded before futility is clear.
        found.append(max(now, _FUTILE**2 * then, 1e-12))
    return np.array(found)


def _decide(
    course: Course, state: Labelling, levels: Levels, asked: Asked, items: Ints, late: Mask
) -> None:
    """Label what has one group left; note what has none, or does not fit the one that is left."""
    evidence = nine_digits(state.evidence[items])
    excluded = evidence >= nine_digits(state.threshold)
    left, nearest = (~excluded).sum(axis=1), np.argmin(evidence, axis=1)
    odd = (left == 0) | _fits_badly(course, state, levels, asked, items, nearest)
    # An item between the groups would be labelled by chance: wait until it is clear or odd.
    doubtful = late & (evidence.min(axis=1) >= state.threshold / 2)
    sure = (left == 1) & ~odd & ~doubtful
    state.labels[items[sure]] = nearest[sure]
    least, _ = levels.smallest_gap(course.problem.answers.sigma, _SURE)
    # If the groups themselves do not differ as expected, it is the question that is odd.
    if least > _FUTILE / 2:
        state.misfits += items[odd & (left <= 1)].tolist()


def _fits_badly(
    course: Course, state: Labelling, levels: Levels, asked: Asked, items: Ints, groups: Ints
) -> Mask:
    """Whether an item's answers are far from the group's, with a wide margin for hindsight."""
    counts = np.column_stack([asked.counts[items], levels.counts[groups]])
    sums = np.column_stack([asked.sums[items], levels.sums[groups]])
    margin = _ODD + np.log(np.maximum(asked.counts[items], 1))
    return hindsight(course.problem.answers, counts, sums) >= state.threshold + margin


def _is_futile(course: Course, levels: Levels) -> bool:
    """Whether the references' gap is clearly below what it was expected to be."""
    _, most = levels.smallest_gap(course.problem.answers.sigma, _SURE)
    return bool(nine_digits(most) < _FUTILE)


def state_known(state: Labelling, question: int, expected: float | None) -> Known:
    """The snapshot for people: labels by name, and each item's best exclusion so far."""
    return Known(
        "label",
        named(state.labels),
        state.evidence.max(axis=1),
        state.threshold,
        question,
        expected,
    )


def named(labels: Ints) -> Ints:
    """The same groups, numbered in the order in which their first item comes; -1 stays.

    >>> named(np.array([-1, 1, 0, 1]))
    array([-1,  0,  1,  0])
    """
    names = {group: name for name, group in enumerate(dict.fromkeys(labels[labels >= 0].tolist()))}
    lookup = np.full(labels.max() + 2, -1)
    for group, name in names.items():
        lookup[group] = name
    return lookup[labels]
