"""What an owner tells the method beforehand, and how simulated campaigns are told the same.

Items, questions and groups of a simulated world are not the owner's. So as many anchors are drawn
from its groups, as many of its useful questions are marked as defining, and a rule that was brought
gets a world that it sorts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from askfew.answers import AnswerKind
from askfew.errors import InvalidInput
from askfew.planning.ranges import Range, Unknown
from askfew.planning.rule_worlds import RuleWorlds, gap_of_levels
from askfew.records import Ints
from askfew.rule import Rule
from askfew.simulation import Family, World
from askfew.wording import counted

__all__ = ["Told"]


@dataclass(frozen=True)
class Told:
    """How many anchors of each group, how many questions define the split, and a rule, if any."""

    anchors: tuple[int, ...] = ()
    defining: int = 0
    rule: Rule | None = None

    def check(self, items: int, questions: int) -> None:
        """Refuse what cannot be told of so many items and questions."""
        if any(each < 0 for each in self.anchors) or sum(self.anchors) >= items:
            raise InvalidInput(
                f"anchors must leave some of the {items} items to be sorted",
                f"{sum(self.anchors)} anchors",
                "know fewer of them",
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
        """How many groups there are, as far as that was told, and questions can tell apart."""
        if self.rule is not None:
            return min(len(self.rule.groups), 1 << len(self.rule.questions))
        return len(self.anchors) or None

    @property
    def useful(self) -> Range | None:
        """How many questions tell the groups apart, where no others are asked."""
        asked = self.defining if self.rule is None else len(self.rule.questions)
        return Range(asked, asked) if asked else None

    def gap(self, kind: AnswerKind) -> Range | None:
        """How far the groups differ, in the answers' units, as far as a rule says."""
        return None if self.rule is None else gap_of_levels(self.rule, kind)

    def worlds(self, unknown: Unknown, kind: AnswerKind) -> Family:
        """The worlds to simulate."""
        return unknown if self.rule is None else RuleWorlds(unknown, kind, self.rule)

    def hardest(self, unknown: Unknown, kind: AnswerKind) -> Family:
        """Those of the smallest gap, the rarest group and the fewest useful questions."""
        if self.rule is None:
            return unknown.hardest()
        gap, share = unknown.gap.low, unknown.share.low
        corner = replace(unknown, gap=Range(gap, gap), share=Range(share, share))
        return RuleWorlds(corner, kind, self.rule)

    def options(self, world: World, rng: np.random.Generator) -> dict[str, object]:
        """What the method is told of this world."""
        said: dict[str, object] = {}
        if any(self.anchors):
            said["anchors"] = self._anchors(world.labels, rng)
        if self.rule is not None:
            said["given"] = self.rule.renamed(range(len(self.rule.questions)))
        elif self.defining:
            assert world.levels is not None
            useless = np.ptp(world.levels, axis=0) == 0
            said["defining"] = np.argsort(useless, kind="stable")[: self.defining].tolist()
        return said

    def _anchors(self, labels: Ints, rng: np.random.Generator) -> dict[int, int | str]:
        """So many items of each group: the larger numbers from the larger groups."""
        largest_first = np.argsort(-np.bincount(labels), kind="stable").tolist()
        known: dict[int, int | str] = {}
        for group, wanted in zip(largest_first, sorted(self.anchors, reverse=True), strict=False):
            there = np.flatnonzero(labels == group)
            name = group if self.rule is None else self.rule.groups[group]
            for item in rng.choice(there, min(wanted, len(there)), replace=False):
                known[int(item)] = name
        return known

    def __str__(self) -> str:
        """In words; nothing where nothing was told.

        >>> str(Told((3, 2), 1))
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
