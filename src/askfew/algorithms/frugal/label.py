"""LABEL: exclude for every item all representatives but one.

Each open item carries one log e-process against "same as the group of r" for every
representative r. Labels are given by exclusion; nothing else is ever certified.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from askfew.algorithms.frugal.course import Course
from askfew.algorithms.frugal.levels import Levels, rate
from askfew.algorithms.frugal.references import references
from askfew.evidence import log_evidence, nine_digits
from askfew.records import Batch, Floats, Ints, Known, Procedure

__all__ = ["Labelling", "label", "named"]

End = Literal["done", "futile", "silent", "model"]

_SILENT = 3
"""Empty returns in a row after which an item is not asked this question any more."""
_FUTILE = 0.6
"""A gap clearly below this share of the expected one is not worth labelling by."""
_SURE = 2.0
"""Standard errors that make it clear."""
_LATE = 4.0
"""Times its expected answers after which an item is bet on as it is, not as its group."""
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
        return np.argmin(nine_digits(self.evidence[items]), axis=1)


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
    while True:
        items = state.open
        if len(items) == 0:
            return "done"
        if _gap_is_gone(course, levels):
            return "futile"
        items = items[asked.silent[items] < _SILENT]
        if len(items) == 0 or (asked.silent[state.representatives] >= _SILENT).any():
            return "silent"
        yield from _step(course, state, levels, asked, items)
        if len(state.misfits) >= _MISFITS:
            return "model"


def _step(
    course: Course, state: Labelling, levels: Levels, asked: Asked, items: Ints
) -> Procedure[None]:
    """One block for every open item; sizes and bets are fixed before it is asked."""
    means = levels.means
    bets = _bets(course, state, levels, asked, items)
    sizes, reference_sizes, expected = _sizes(course, state, levels, items)
    referees, groups, repeats = references(state, asked.counts, reference_sizes, sizes, course)
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
    _decide(state, items)


def _bets(
    course: Course, state: Labelling, levels: Levels, asked: Asked, items: Ints
) -> Floats:
    """What each item is bet to answer when it is tested against each group (items x groups)."""
    means = levels.means
    against = np.where(np.eye(len(means), dtype=bool), np.inf, state.evidence[items, np.newaxis, :])
    return means[np.argmin(against, axis=2)]


def _sizes(
    course: Course, state: Labelling, levels: Levels, items: Ints
) -> tuple[Ints, Ints, float]:
    """Answers to ask of each item and of each group's references, and how many more it will take."""
    K = len(levels.means)
    lean = state.lean(items)
    unsure = (state.evidence[items] == 0).all(axis=1)
    waits = np.where(unsure[:, np.newaxis], 1 - 1 / K, np.arange(K) != lean[:, np.newaxis])
    ratios = np.sqrt(np.maximum(waits.sum(axis=0), 1))
    rates = _rates(course, levels, ratios)
    missing = np.maximum(state.threshold - state.evidence[items], 0) / rates
    need = np.where(np.arange(K) != lean[:, np.newaxis], missing, 0).max(axis=1)
    sizes = np.maximum(np.ceil(nine_digits(course.options.step * need)), 1).astype(np.int64)
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


def _decide(state: Labelling, items: Ints) -> None:
    """Label what has one group left; note what has none."""
    excluded = nine_digits(state.evidence[items]) >= nine_digits(state.threshold)
    left = (~excluded).sum(axis=1)
    sure = left == 1
    state.labels[items[sure]] = np.argmin(excluded[sure], axis=1)
    state.misfits += items[left == 0].tolist()


def _gap_is_gone(course: Course, levels: Levels) -> bool:
    """Whether the references' gap is clearly below what it was expected to be."""
    if (levels.counts == 0).any():
        return False
    hoped = levels.expected
    seen = levels.sums / levels.counts
    for one in range(len(hoped)):
        for other in range(one):
            spread = course.problem.answers.sigma * math.sqrt(1 / levels.counts[one] + 1 / levels.counts[other])
            gap = (seen[one] - seen[other]) * math.copysign(1, hoped[one] - hoped[other])
            if nine_digits(gap + _SURE * spread) < nine_digits(_FUTILE * abs(hoped[one] - hoped[other])):
                return True
    return False


def state_known(state: Labelling, question: int, expected: float) -> Known:
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
