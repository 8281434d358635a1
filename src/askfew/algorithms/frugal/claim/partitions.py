"""Every way to divide the members of a panel into at most K groups, and the nats against each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askfew.evidence import nine_digits
from askfew.records import Floats, Ints

__all__ = ["Partitions", "places"]

_MOST_PLACES = 12
"""Most items of a panel, where its partitions are few enough."""
_MOST_PARTITIONS = 120_000
"""Most partitions of a panel: they allow twelve items for two or three groups, ten for more. A
plain choice: every partition is weighed after every Batch."""
_STARTS = {0: 0.5, 2: 0.3, 5: 0.2}
"""Batches from which the panel's evidence is counted, and their weights. The average of e-processes
is an e-process, for any fixed weights that sum to 1. The later starts forget what was lost while a
member was presumed on the wrong side; that costs one to two nats."""


class Partitions:
    """The partitions of a panel, as rows of blocks; a block is a set of members, as bits.

    The nats against a partition are those against its blocks, added up, and averaged over the
    starts.
    """

    def __init__(self, size: int, groups: int, needed: float) -> None:
        self.size, self.needed = size, needed
        self._all = _partitions(size, groups)
        self._left: NDArray[np.bool_] = np.ones(len(self._all), dtype=bool)
        self.inside = _subsets(size)
        """Every subset of the members, as a row of zeros and ones."""
        self._blocks = np.zeros((len(_STARTS), len(self.inside)))
        """Nats against "all of this subset are alike", counted from each start."""
        self._batches = 0

    @property
    def all(self) -> Ints:
        """All partitions, excluded or not."""
        return self._all

    @property
    def left(self) -> Ints:
        """The partitions that are not excluded."""
        return self._all[self._left]

    @property
    def bits(self) -> Ints:
        """The bit of each member."""
        return 1 << np.arange(self.size)

    def weigh(self, against: Floats) -> None:
        """Add the nats of a Batch against "all of this subset are alike", one number per subset."""
        self._blocks[np.array(list(_STARTS)) <= self._batches] += against
        self._batches += 1

    def sift(self) -> None:
        """Exclude the partitions that have enough nats against them."""
        self._left[self._left] = nine_digits(self.against(self.left)) < self.needed

    def against(self, partitions: Ints) -> Floats:
        """Nats against each of these partitions."""
        total = np.log(list(_STARTS.values()))[:, np.newaxis] + sum(
            self._blocks[:, blocks] for blocks in partitions.T
        )
        # The logarithm of the weighted mean, computed from the largest term so as not to overflow.
        highest = total.max(axis=0)
        return np.asarray(highest + np.log(np.exp(total - highest).sum(axis=0)))

    def block_of(self, partitions: Ints) -> Ints:
        """Which block each member is in (partitions x members)."""
        return np.asarray(((partitions[:, :, np.newaxis] & self.bits) > 0).argmax(axis=1))


def places(groups: int) -> int:
    """How many items a panel may have.

    >>> [places(groups) for groups in (2, 3, 4, 5, 10)]
    [12, 12, 10, 10, 10]
    """
    most = groups
    while most < _MOST_PLACES and _how_many(most + 1, groups) <= _MOST_PARTITIONS:
        most += 1
    return most


def _subsets(size: int) -> Floats:
    """Every subset as a row of zeros and ones; the row's number has its bits."""
    return ((np.arange(1 << size)[:, np.newaxis] >> np.arange(size)) & 1).astype(np.float64)


def _how_many(size: int, blocks: int) -> int:
    """How many partitions of ``size`` items have at most ``blocks`` blocks."""
    ways = [1] + [0] * blocks
    for _ in range(size):
        ways = [0] + [ways[b - 1] + b * ways[b] for b in range(1, blocks + 1)]
    return sum(ways)


def _partitions(size: int, blocks: int) -> Ints:
    """Every partition into at most ``blocks`` blocks (partitions x blocks), a block as bits.

    >>> _partitions(3, 2)
    array([[7, 0],
           [5, 2],
           [3, 4],
           [1, 6]])
    """
    masks = np.zeros((1, blocks), dtype=np.int64)
    for item in range(size):
        parts = []
        # An item joins a used block or opens the next one: so each partition comes once.
        used = (masks > 0).sum(axis=1)
        for block in range(blocks):
            grown = masks[used >= block].copy()
            grown[:, block] |= 1 << item
            parts.append(grown)
        masks = np.concatenate(parts)
    return masks
