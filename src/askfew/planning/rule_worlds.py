"""Worlds that a given rule sorts, to forecast what it costs to apply it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from askfew.answers import AnswerKind, Number, YesNo
from askfew.oracles import bernoulli, gaussian, scale
from askfew.planning.ranges import Range, Unknown
from askfew.records import Floats, Ints, Oracle
from askfew.rule import Node, Rule
from askfew.simulation import World

__all__ = ["RuleWorlds", "gap_of_levels"]


@dataclass(frozen=True)
class RuleWorlds:
    """Questions of the rule alone, and groups on the sides of its cuts where it puts them.

    A group lies half a gap from a cut, and its items around it, as ``unknown`` says. Nothing else
    is asked, so that other questions need no answers.
    """

    unknown: Unknown
    kind: AnswerKind
    rule: Rule

    def draw(self, seed: np.random.SeedSequence) -> World:
        """A world that the seed decides."""
        for_world, for_answers = seed.spawn(2)
        rng = np.random.default_rng(for_world)
        gap = self.unknown.gap.at(rng.random()) * _width(self.kind)
        planted = rng.permutation(self._planted(self.unknown.share.at(rng.random())))
        levels = np.array([self._levels(group, gap) for group in range(len(self.rule.groups))])
        own = rng.standard_normal((len(planted), levels.shape[1]))
        means = levels[planted] + self.unknown.spread * gap * own
        if not isinstance(self.kind, Number):
            np.clip(means, self.kind.low, self.kind.high, out=means)
        oracle = _oracle(means, self.kind, np.random.default_rng(for_answers))
        return World(oracle, planted, lambda questions: means[:, questions], levels)

    def _planted(self, share: float) -> Ints:
        """The group of every item: the second of two has its share, more have equal sizes."""
        items, groups = self.unknown.items, len(self.rule.groups)
        if groups > 2:
            return np.arange(items) % groups
        second = min(max(round(items * share), 1), items - 1)
        return (np.arange(items) < second).astype(np.int64)

    def _levels(self, group: int, gap: float) -> Floats:
        """A group's mean answer to every question of the rule.

        A question that several divisions ask must be answered on the right side of each: the
        nearest cuts above and below it decide.
        """
        low = np.full(len(self.rule.questions), -np.inf)
        high = np.full(len(self.rule.questions), np.inf)
        for node, on_high in _path(self.rule.root, group):
            for question, weight, cut in zip(node.questions, node.weights, node.cuts, strict=True):
                if on_high == (weight > 0):
                    low[question] = max(low[question], cut + gap / 2)
                else:
                    high[question] = min(high[question], cut - gap / 2)
        both = np.where(np.isfinite(low), low, high), np.where(np.isfinite(high), high, low)
        asked = np.isfinite(both[0])
        return np.where(asked, (both[0] + both[1]) / 2, self._cuts())

    def _cuts(self) -> Floats:
        """Of every question one cut: a group that is never asked about it may lie there."""
        cuts = np.zeros(len(self.rule.questions))
        for node in self.rule.nodes:
            cuts[list(node.questions)] = node.cuts
        return cuts


def gap_of_levels(rule: Rule, kind: AnswerKind) -> Range | None:
    """How far typical items of both sides differ on a question; None if no node says it.

    >>> node = Node((0,), (2.0,), (0.5,), (0,), (1,), levels=(-0.5, 0.7))
    >>> gap_of_levels(Rule(("wings",), node), YesNo())
    Range(low=0.6, high=0.6)
    """
    gaps = [
        (node.levels[1] - node.levels[0]) / float(np.abs(node.weights).mean())
        for node in rule.nodes
        if node.levels is not None
    ]
    most = np.inf if isinstance(kind, Number) else kind.high - kind.low
    return Range(min(*gaps, most), min(max(gaps), most)) if gaps else None


def _path(at: Node | tuple[int, ...], group: int) -> Iterator[tuple[Node, bool]]:
    """The divisions on the way to a group, and whether it is on their high side."""
    while isinstance(at, Node):
        high = any(group in leaf for leaf in _leaves(at.high))
        yield at, high
        at = at.high if high else at.low


def _leaves(at: Node | tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if isinstance(at, Node):
        yield from _leaves(at.low)
        yield from _leaves(at.high)
    else:
        yield at


def _width(kind: AnswerKind) -> float:
    """What a gap of 1 is in the answers' units."""
    return 1.0 if isinstance(kind, Number) else kind.high - kind.low


def _oracle(means: Floats, kind: AnswerKind, rng: np.random.Generator) -> Oracle:
    if isinstance(kind, Number):
        return gaussian(means, kind.sigma, rng=rng)
    if isinstance(kind, YesNo):
        return bernoulli(means, rng=rng)
    return scale(means, kind.low, kind.high, rng=rng)
