"""The referee: it knows the truth, and counts which labels of a run are wrong.

A label is judged by what its certificate says. Without a rule, that is the planted groups, whatever
their names. With a rule, it is the side of the rule on which the item's true means lie; an item
exactly on a cut is right either way. Anchors are not counted: the method was told their groups. If
nothing is certified, every label counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from askfew.errors import InvalidInput
from askfew.records import Finding, Floats, Ints
from askfew.rule import Rule, groups_of
from askfew.simulation.instances import World

__all__ = ["LabelCounts", "judge", "wrong_about"]

_ON_THE_CUT = 1e-9
"""A score this near to a cut counts as on the cut, because sums of floats are not exact."""


@dataclass(frozen=True)
class LabelCounts:
    """The number of items to label, of labels, and of wrong labels."""

    items: int
    labelled: int
    wrong: int
    as_planted: int
    """Labels that agree with the planted groups, under the naming that agrees best."""

    @property
    def decided(self) -> float:
        """The share of the items that were labelled."""
        return self.labelled / self.items if self.items else 1.0

    @property
    def wrong_share(self) -> float:
        """The share of the labels that are wrong; 0 without labels."""
        return self.wrong / self.labelled if self.labelled else 0.0

    @property
    def class_accuracy(self) -> float | None:
        """The share of the labels that agree with the planted groups; None without labels."""
        return self.as_planted / self.labelled if self.labelled else None


def judge(finding: Finding | None, world: World) -> LabelCounts:
    """Compare what a method found with the truth; None if the run was stopped."""
    n = len(world.labels)
    if finding is None:
        return LabelCounts(n, 0, 0, 0)
    own = np.ones(n, dtype=bool) if finding.told is None else finding.told < 0
    items = np.flatnonzero(own & (finding.labels >= 0))
    labels = finding.labels[items]
    as_planted = _best_naming(labels, world.labels[items])
    if finding.rule is None:
        wrong = len(items) - as_planted
    else:
        margin = getattr(finding.certificate, "margin", 0.5)
        means = _means_of(finding.rule, world)[items]
        wrong = int(wrong_about(finding.rule, margin, labels, means).sum())
    return LabelCounts(int(own.sum()), len(items), wrong, as_planted)


def _best_naming(labels: Ints, planted: Ints) -> int:
    """How many labels agree with the planted groups, under the naming that agrees best."""
    if not len(labels):
        return 0
    together = np.zeros((labels.max() + 1, planted.max() + 1), dtype=np.int64)
    np.add.at(together, (labels, planted), 1)
    return int(together[scipy.optimize.linear_sum_assignment(together, maximize=True)].sum())


def wrong_about(
    rule: Rule, margin: float, labels: Ints, means: Floats
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which labels are wrong about the rule; ``means`` are those of its questions, in its order."""
    wrong = np.zeros(len(labels), dtype=bool)
    for node in rule.nodes:
        scores = node.scores(means)
        below, above = node.lines(margin)
        wrong |= np.isin(labels, groups_of(node.low)) & (scores > below + _ON_THE_CUT)
        wrong |= np.isin(labels, groups_of(node.high)) & (scores < above - _ON_THE_CUT)
    return wrong


def _means_of(rule: Rule, world: World) -> Floats:
    """The means of the rule's questions, which are numbers."""
    if world.means is None:
        raise InvalidInput(
            "a world must know its means, so that labels of a rule can be judged",
            "none",
            "draw worlds that have them",
        )
    return world.means(rule.places(range(world.oracle.problem.questions)))
