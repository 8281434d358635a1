"""From fitted classes to a rule: a tree of divisions in two, each with a committee of questions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from askfew.algorithms.rule.tuning import Tuning
from askfew.answers import AnswerKind, Number
from askfew.estimates.separation import Separation
from askfew.records import Floats, Ints
from askfew.rule import Node, Rule

__all__ = ["grow"]

Group = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Division:
    """A division of some classes into two sides, and the questions that tell them apart."""

    high: Group
    low: Group
    questions: Ints
    signs: Floats
    middles: Floats
    strength: float
    """Half the distance of the nearest two classes, less its error, in spreads of one answer."""


def grow(
    separated: Separation,
    fitted: Floats,
    kind: AnswerKind,
    questions: Ints,
    names: Sequence[str],
    tuning: Tuning,
    *,
    doubt: float,
    committee: int,
    need: int,
    more: float,
) -> Rule | None:
    """The rule for these classes, or None if not even two sides can be told apart.

    ``fitted`` are the model's own levels, ``questions`` the numbers of the columns, ``doubt`` how
    many standard errors are subtracted, ``more`` what one more question is worth. Classes that
    cannot be told apart become one leaf.
    """
    grower = _Grower(
        separated, fitted, isinstance(kind, Number), tuning, doubt, committee, need, more
    )
    root = grower.node(tuple(range(len(names))))
    if not isinstance(root, Node):
        return None
    used = sorted({question for node in root.walk() for question in node.questions})
    places = {question: place for place, question in enumerate(used)}
    moved = _in_units(root, kind, places)
    assert isinstance(moved, Node)
    return Rule(tuple(int(questions[each]) for each in used), moved, tuple(names))


@dataclass(frozen=True, eq=False)
class _Grower:
    separated: Separation
    fitted: Floats
    number: bool
    tuning: Tuning
    doubt: float
    committee: int
    need: int
    more: float

    def node(self, classes: Group) -> Node | Group:
        """The best division of these classes, and of its sides."""
        if len(classes) == 1:
            return classes
        divisions = (self._division(high, low) for high, low in _sides(classes))
        best = max(
            (each for each in divisions if each is not None),
            key=lambda each: each.strength,
            default=None,
        )
        if best is None or best.strength < self.tuning.strength or not self._carried(best):
            return classes
        return self._node(best)

    def _division(self, high: Group, low: Group) -> _Division | None:
        """The questions for one bipartition, chosen greedily.

        Each step adds the question that gains most in the margin: the distance of the nearest two
        classes of different sides, for the mean of equally weighted questions, less its standard
        error.
        """
        levels, spread = self.separated.levels, self.separated.spread
        above, below = levels[list(high)].mean(axis=0), levels[list(low)].mean(axis=0)
        signs = np.where(above >= below, 1.0, -1.0)
        middles = (above + below) / 2
        unit = 1 / spread if self.number else np.ones_like(spread)
        scores = signs * (levels - middles) * unit
        error = self.doubt * self._errors(high, low) * spread * unit
        candidates = np.argsort(-np.abs(above - below) * unit, kind="stable")[
            : self.tuning.looked_at
        ]
        chosen: list[int] = []
        total, squared = np.zeros(len(levels)), 0.0
        best: tuple[float, float, list[int]] | None = None
        while len(chosen) < min(self.committee, len(candidates)):
            left = [each for each in candidates.tolist() if each not in chosen]
            sums = total[:, np.newaxis] + scores[:, left]
            margins = sums[list(high)].min(axis=0) - sums[list(low)].max(axis=0)
            margins = margins - np.sqrt(squared + error[left] ** 2)
            at = int(np.argmax(margins))
            chosen.append(left[at])
            total, squared = sums[:, at], squared + float(error[left[at]] ** 2)
            mean = float(margins[at]) / len(chosen)
            # At the same margin more questions are better: an item's exceptions average out.
            value = mean * math.sqrt(1 + self.more * (len(chosen) - 1))
            if len(chosen) >= self.need and (best is None or value > best[0]):
                best = (value, mean, list(chosen))
        if best is None:
            return None
        _, mean, questions = best
        noise = math.sqrt(float(np.mean((spread * unit)[questions] ** 2)))
        return _Division(high, low, np.array(sorted(questions)), signs, middles, mean / 2 / noise)

    def _carried(self, division: _Division) -> bool:
        """Whether enough questions tell the two sides apart on their own."""
        levels, spread = self.separated.levels, self.separated.spread
        high, low = list(division.high), list(division.low)
        own = np.abs(levels[high].mean(axis=0) - levels[low].mean(axis=0)) / spread
        own = own - self.doubt * self.separated.errors[np.ix_(high, low)].min(axis=(0, 1))
        return int((own[division.questions] > self.tuning.alone).sum()) >= self.need

    def _errors(self, high: Group, low: Group) -> Floats:
        return np.asarray(self.separated.errors[np.ix_(list(high), list(low))].max(axis=(0, 1)))

    def _node(self, division: _Division) -> Node:
        questions = division.questions
        levels, spread = self.separated.levels[:, questions], self.separated.spread[questions]
        weights = division.signs[questions]
        if self.number:
            weights = weights * spread.min() / spread
        cuts = division.middles[questions]
        scores = (weights * (levels - cuts)).mean(axis=1)
        low = float(scores[list(division.low)].max())
        high = float(scores[list(division.high)].min())
        middle = (low + high) / 2
        # The cut, where the score is 0, lies half-way between the nearest classes of both sides.
        cuts = cuts + middle / weights
        # Wrongly assigned items draw the separation's levels together, and the fitted model's lie
        # too far apart: the truth is between, and the mean of both is taken.
        own = (weights * (self.fitted[:, questions] - cuts)).mean(axis=1)
        reach = min(own[list(division.high)].min(), -own[list(division.low)].max())
        level = float(((high - low) / 2 + max(reach, (high - low) / 2)) / 2)
        sides = self.node(division.low), self.node(division.high)
        # Readers expect "yes" to mean "high", so most weights are made positive.
        if (weights < 0).sum() > (weights > 0).sum():
            weights, sides = -weights, sides[::-1]
        return Node(
            tuple(questions.tolist()),
            tuple(weights.tolist()),
            tuple(cuts.tolist()),
            *sides,
            levels=(-level, level),
        )


def _sides(classes: Group) -> Iterator[tuple[Group, Group]]:
    """Every way to divide classes in two, once: the first class is always on the low side."""
    first, *others = classes
    for size in range(1, len(classes)):
        for high in combinations(others, size):
            yield high, (first, *(each for each in others if each not in high))


def _in_units(at: Node | Group, kind: AnswerKind, places: dict[int, int]) -> Node | Group:
    """The tree in the user's units, with questions as places in the rule's list."""
    if not isinstance(at, Node):
        return at
    width, low = (1.0, 0.0) if isinstance(kind, Number) else (kind.high - kind.low, kind.low)
    assert at.levels is not None
    return Node(
        tuple(places[each] for each in at.questions),
        at.weights,
        tuple(low + width * cut for cut in at.cuts),
        _in_units(at.low, kind, places),
        _in_units(at.high, kind, places),
        (at.levels[0] * width, at.levels[1] * width),
    )
