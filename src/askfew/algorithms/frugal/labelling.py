"""What labelling knows: evidence and labels of all items, and who answered the question in use."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from askfew.evidence import nine_digits
from askfew.records import Floats, Ints, Known

__all__ = ["Asked", "Labelling", "Mask", "named"]

Mask: TypeAlias = NDArray[np.bool_]


@dataclass
class Labelling:
    """Labels, and the log evidence of each item against each group (items x groups)."""

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
        # Column by column, because every step works through whole columns.
        evidence = np.zeros((items, len(representatives)), order="F")
        return cls(representatives, threshold, evidence, labels)

    @property
    def open(self) -> Ints:
        """Items without a label that may still get one."""
        undecided = self.labels < 0
        undecided[self.misfits] = False
        return np.flatnonzero(undecided)

    def against(self, items: Ints) -> Floats:
        """The evidence as decisions see it, one row a group (groups x items)."""
        return nine_digits(self.evidence.T[:, items])

    def known(self, question: int, expected: float | None) -> Known:
        """The snapshot for people: labels by name, and each item's best exclusion so far."""
        best = self.evidence.T.max(axis=0)
        return Known("label", named(self.labels), best, self.threshold, question, expected)


@dataclass
class Asked:
    """Answers each item gave to the question in use, and how often in a row it gave none."""

    counts: Floats
    sums: Floats
    silent: Ints

    @classmethod
    def nobody(cls, items: int) -> Asked:
        """Nobody has been asked this question yet."""
        return cls(np.zeros(items), np.zeros(items), np.zeros(items, dtype=np.int64))

    def record(self, items: Ints, counts: Ints, sums: Floats) -> None:
        """Add the answers of a step, in which no item comes twice."""
        self.counts[items] += counts
        self.sums[items] += sums
        self.silent[items] = np.where(counts > 0, 0, self.silent[items] + 1)


def named(labels: Ints) -> Ints:
    """The same groups, numbered in the order in which their first item comes; -1 stays.

    >>> named(np.array([-1, 1, 0, 1]))
    array([-1,  0,  1,  0])
    """
    groups = range(int(labels.max()) + 1)
    order = sorted(groups, key=lambda group: int(np.argmax(labels == group)))
    names = np.full(len(groups) + 1, -1)
    names[order] = groups
    return names[labels]
