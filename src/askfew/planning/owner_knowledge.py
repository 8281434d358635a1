"""What the owner tells a method before a campaign: anchors, defining questions, a rule.

A simulated world has other items, questions and groups than the owner's campaign. To forecast with
the same knowledge, as many anchors are drawn from its groups, as many of its useful questions are
marked as defining, and for a given rule ``RuleWorlds`` draws worlds that the rule sorts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from askfew.answers import AnswerKind, Number, YesNo
from askfew.errors import InvalidInput
from askfew.oracles import bernoulli, gaussian, scale
from askfew.planning.ranges import Range, Unknown
from askfew.records import Floats, Ints, Oracle
from askfew.rule import Node, Rule, groups_of
from askfew.simulation import Family, World
from askfew.wording import counted

__all__ = ["OwnerKnowledge", "RuleWorlds", "gap_of_levels"]


@dataclass(frozen=True)
class OwnerKnowledge:
    """The number of anchors of each group, the number of defining questions, and a given rule."""

    anchors: tuple[int, ...] = ()
    defining: int = 0
    rule: Rule | None = None

    def check(self, items: int, questions: int) -> None:
        """Raise InvalidInput if this cannot be known of this many items and questions."""
        if any(each < 0 for each in self.anchors) or sum(self.anchors) >= max(items, 1):
            raise InvalidInput(
                f"anchors must leave some of the {items} items to be sorted",
                f"{sum(self.anchors)} anchors",
                "use fewer anchors",
            )
        if not 0 <= self.defining <= questions:
            raise InvalidInput(
                f"questions that define the split must be from 0 to all {questions}",
                self.defining,
                "say how many do",
            )
        if self.rule is not None and len(self.rule.questions) > questions:
            raise InvalidInput(
                f"a rule of {counted(len(self.rule.questions), 'question')} needs all of them",
                counted(questions, "question"),
                "plan with at least as many",
            )

    @property
    def groups(self) -> int | None:
        """The number of groups, if it is known; at most as many as the questions can separate."""
        if self.rule is not None:
            return min(len(self.rule.groups), 1 << len(self.rule.questions))
        return len(self.anchors) or None

    @property
    def useful(self) -> Range | None:
        """The number of useful questions, if no others are asked."""
        asked = self.defining if self.rule is None else len(self.rule.questions)
        return Range(asked, asked) if asked else None

    def gap(self, kind: AnswerKind) -> Range | None:
        """How far the groups differ, in the answers' units, if a rule says it."""
        return None if self.rule is None else gap_of_levels(self.rule, kind)

    def worlds(self, unknown: Unknown, kind: AnswerKind) -> Family:
        """The worlds to simulate campaigns on."""
        return unknown if self.rule is None else RuleWorlds(unknown, kind, self.rule)

    def hardest(self, unknown: Unknown, kind: AnswerKind) -> Family:
        """The worlds with the smallest gap, the rarest group and the fewest useful questions."""
        if self.rule is None:
            return unknown.hardest()
        gap, share = unknown.gap.low, unknown.share.low
        # The useful questions are those of the rule, whatever the ranges say.
        corner = replace(unknown, gap=Range(gap, gap), share=Range(share, share))
        return RuleWorlds(corner, kind, self.rule)

    def options(self, world: World, rng: np.random.Generator) -> dict[str, object]:
        """The same knowledge about this world, as options of the method."""
        said: dict[str, object] = {}
        if any(self.anchors):
            said["anchors"] = self._anchors(world.labels, rng)
        if self.rule is not None:
            said["given"] = self.rule.renamed(range(len(self.rule.questions)))
        elif self.defining:
            assert world.levels is not None
            # Owners mark questions that they know to separate, so useful ones come first.
            useless = np.ptp(world.levels, axis=0) == 0
            said["defining"] = np.argsort(useless, kind="stable")[: self.defining].tolist()
        return said

    def _anchors(self, labels: Ints, rng: np.random.Generator) -> dict[int, int | str]:
        """Draw the anchors: the larger numbers from the larger groups."""
        largest_first = np.argsort(-np.bincount(labels), kind="stable").tolist()
        known: dict[int, int | str] = {}
        # Not strict: the owner need not know an item of every group.
        for group, wanted in zip(largest_first, sorted(self.anchors, reverse=True), strict=False):
            there = np.flatnonzero(labels == group)
            name = group if self.rule is None else self.rule.groups[group]
            # A simulated group may be smaller than the number of anchors that the owner has of it.
            for item in rng.choice(there, min(wanted, len(there)), replace=False):
                known[int(item)] = name
        return known

    def __str__(self) -> str:
        """In words; empty if nothing is known.

        >>> str(OwnerKnowledge((3, 2), 1))
        '3 + 2 anchors, 1 question defines the split'
        """
        return ", ".join(self._said())

    def _said(self) -> Iterator[str]:
        if any(self.anchors):
            yield f"{' + '.join(str(each) for each in self.anchors)} anchors"
        if self.rule is not None:
            yield f"a given rule of {counted(len(self.rule.questions), 'question')}"
        elif self.defining:
            yield counted(self.defining, "question defines", "questions define") + " the split"


@dataclass(frozen=True)
class RuleWorlds:
    """Worlds whose questions are those of a rule, with groups where the rule puts them.

    A group lies half a gap from a cut, and its items are spread around it, as ``unknown`` says. A
    given rule asks no other questions, so the worlds have none.
    """

    unknown: Unknown
    kind: AnswerKind
    rule: Rule

    def draw(self, seed: np.random.SeedSequence) -> World:
        """Draw the world of this seed."""
        # Two generators, so that the world does not depend on how many answers are drawn.
        for_world, for_answers = seed.spawn(2)
        rng = np.random.default_rng(for_world)
        gap = self.unknown.gap.at(rng.random()) * _width(self.kind)
        planted = rng.permutation(self._planted(self.unknown.share.at(rng.random())))
        levels = np.array([self._levels(group, gap) for group in range(len(self.rule.groups))])
        own = rng.standard_normal((len(planted), levels.shape[1]))
        means = levels[planted] + self.unknown.spread * gap * own
        if not isinstance(self.kind, Number):
            # The spread may push a mean past the ends of the scale, where no answers are.
            np.clip(means, self.kind.low, self.kind.high, out=means)
        oracle = _oracle(means, self.kind, np.random.default_rng(for_answers))
        return World(oracle, planted, lambda questions: means[:, questions], levels)

    def _planted(self, share: float) -> Ints:
        """The group of every item: the second of two has the share, more have equal sizes."""
        items, groups = self.unknown.items, len(self.rule.groups)
        if groups > 2:
            return np.arange(items) % groups
        # Never an empty group: there would be nothing to find.
        second = min(max(round(items * share), 1), items - 1)
        return (np.arange(items) < second).astype(np.int64)

    def _levels(self, group: int, gap: float) -> Floats:
        """A group's mean answer to every question of the rule.

        If several nodes ask the same question, the mean must lie on the right side of each cut, so
        the nearest cuts above and below decide.
        """
        low = np.full(len(self.rule.questions), -np.inf)
        high = np.full(len(self.rule.questions), np.inf)
        for node, on_high in _path(self.rule.root, group):
            for question, weight, cut in zip(node.questions, node.weights, node.cuts, strict=True):
                if on_high == (weight > 0):
                    low[question] = max(low[question], cut + gap / 2)
                else:
                    high[question] = min(high[question], cut - gap / 2)
        # Half a gap from a cut on one side; in the middle between two cuts.
        both = np.where(np.isfinite(low), low, high), np.where(np.isfinite(high), high, low)
        asked = np.isfinite(both[0])
        return np.where(asked, (both[0] + both[1]) / 2, self._cuts())

    def _cuts(self) -> Floats:
        """One cut of every question, as the mean of a group that is never asked about it."""
        cuts = np.zeros(len(self.rule.questions))
        for node in self.rule.nodes:
            cuts[list(node.questions)] = node.cuts
        return cuts


def gap_of_levels(rule: Rule, kind: AnswerKind) -> Range | None:
    """How far typical items of both sides differ on a question; None if no node has levels.

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
    """The nodes on the way to a group, and whether the group is on their high side."""
    while isinstance(at, Node):
        high = group in groups_of(at.high)
        yield at, high
        at = at.high if high else at.low


def _width(kind: AnswerKind) -> float:
    """A gap of 1 in the answers' units."""
    return 1.0 if isinstance(kind, Number) else kind.high - kind.low


def _oracle(means: Floats, kind: AnswerKind, rng: np.random.Generator) -> Oracle:
    if isinstance(kind, Number):
        return gaussian(means, kind.sigma, rng=rng)
    if isinstance(kind, YesNo):
        return bernoulli(means, rng=rng)
    return scale(means, kind.low, kind.high, rng=rng)
