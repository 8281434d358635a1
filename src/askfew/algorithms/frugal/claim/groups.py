"""The groups found so far by exclusion: their representatives, and the evidence against each."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from askfew.records import Floats, Ints

__all__ = ["Groups", "Mask"]

Mask = NDArray[np.bool_]


@dataclass
class Groups:
    """The groups found so far: their representatives, and every item's evidence against each."""

    items: int
    told: int | None
    """How many groups there are, or None if the number was not told."""
    representatives: list[int] = field(default_factory=list)
    closed: bool = False
    """Whether the search for further groups has ended, where their number is not told."""

    def __post_init__(self) -> None:
        self.evidence: Floats = np.zeros((self.items, 0))
        """Nats against each group (items x groups); a process ends when it excludes."""
        self.excluded: Mask = np.zeros((self.items, 0), dtype=bool)

    @property
    def found(self) -> int:
        """Groups that have a representative."""
        return len(self.representatives)

    @property
    def complete(self) -> bool:
        """Whether every group has a representative: all that were told, or the search ended."""
        return self.found == self.told or (self.closed and self.told is None)

    @property
    def rotating(self) -> bool:
        """Whether any certified member may be a reference: all groups that were told are found.

        If the number was not told, another group may be found later and a label then be taken
        back; its item must not have been a reference.
        """
        return self.found == self.told

    @property
    def only_left(self) -> Ints:
        """The only group that each item is not excluded from; -1 if there are several or none."""
        if not self.found:
            return np.full(self.items, -1)
        one = (~self.excluded).sum(axis=1) == 1
        return np.where(one, self.excluded.argmin(axis=1), -1)

    @property
    def labels(self) -> Ints:
        """Certified groups, by representative; all -1 while a group may be missing."""
        return self.only_left if self.complete else np.full(self.items, -1)

    @property
    def misfits(self) -> Ints:
        """Items excluded from every group there is."""
        return np.flatnonzero(self.excluded.all(axis=1)) if self.found else np.zeros(0, np.int64)

    @property
    def settled(self) -> Mask:
        """Representatives, labelled items and misfits: nothing more is weighed about them."""
        settled = self.labels >= 0
        settled[self.misfits] = True
        settled[self.representatives] = True
        return np.asarray(settled)

    @property
    def open_items(self) -> Ints:
        """Items that are neither a representative, nor labelled, nor misfits."""
        return np.flatnonzero(~self.settled)

    def add(self, item: int) -> None:
        """Add a group with this representative; all processes against it begin now."""
        before = self.representatives
        self.evidence = np.column_stack([self.evidence, np.zeros(self.items)])
        self.excluded = np.column_stack([self.excluded, np.zeros(self.items, dtype=bool)])
        # The new representative is excluded from every older group. So it differs from the older
        # representatives, and none of them is of its group.
        self.excluded[before, -1] = True
        self.excluded[item, : len(before)] = True
        self.representatives = [*before, item]

    def add_misfits(self) -> None:
        """Make an item that is excluded from every group represent the next, if one may exist."""
        # One at a time: no item is excluded from the new group yet, so the others must wait.
        while self.told is None or self.found < self.told:
            new = self.misfits
            if not len(new):
                return
            self.add(int(new[0]))
            self.closed = False

    def may_refer(self, items: Ints, groups: Ints) -> Mask:
        """Whether these items are certified to be of these groups."""
        representatives = np.array(self.representatives)[groups] == items
        return np.asarray(representatives | (self.rotating & (self.labels[items] == groups)))

    def for_labels(self, threshold: float) -> Floats:
        """The nats for each item's label: the weakest of the exclusions that the label needs."""
        if self.found < 2:
            return np.zeros(self.items)
        # The smallest entry is against the item's own group, so the second smallest counts.
        best = np.partition(self.evidence, 1, axis=1)[:, 1]
        best[self.representatives] = threshold
        return np.asarray(best)
