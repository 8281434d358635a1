"""The spread of items within their groups, beyond noise, as a share of the gap.

The variance of the items' mean answers is that of their true means plus that of the noise, which
repeated answers show: ``variance of means - mean of (variance within a cell / answers)``. All items
count alike, however often they were asked. The interval takes items as a sample of their group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy

from askfew.estimates.cells import CellSums
from askfew.records import Floats, Ints

__all__ = ["Spread", "spread_of"]

_LEAST = 4
"""A question counts if at least this many items of a group were asked it more than once. A plain
choice: a variance of fewer items says next to nothing."""


@dataclass(frozen=True)
class Spread:
    """The standard deviation of items' true means within a group, in gaps between the groups."""

    share: float
    low: float
    high: float
    """A 95 % interval."""
    questions: int
    """How many questions the estimate rests on."""


def spread_of(cells: CellSums, groups: Ints, gaps: Mapping[int, float]) -> Spread | None:
    """The spread on the questions of ``gaps``, each with its gap; None if the answers cannot say.

    ``groups`` are those of the cells' items (-1: none).

    >>> item, twice = np.arange(8), np.full(8, 2)
    >>> sums = np.array([2.0, 2, 2, 0, 0, 0, 0, 2])
    >>> cells = CellSums(item, np.zeros(8, int), twice, sums, sums)
    >>> spread = spread_of(cells, item // 4, {0: 0.5})
    >>> round(spread.share, 2), round(spread.low, 2)
    (1.0, 0.0)
    """
    kept = (groups >= 0) & np.isfinite(cells.variance)
    kept &= np.isin(cells.question, [q for q, gap in gaps.items() if gap > 0])
    cells, groups = cells.where(kept), groups[kept]
    if len(cells) == 0:
        return None
    many = int(groups.max()) + 1
    block, place, size = np.unique(
        cells.question * many + groups, return_inverse=True, return_counts=True
    )
    large = size >= _LEAST
    if not large.any():
        return None
    question = block // many
    gap = np.array([gaps[int(each)] for each in question])
    means = cells.mean / gap[place]
    middle = np.bincount(place, means) / size
    noise = cells.variance / cells.count / gap[place] ** 2
    parts = (means - middle[place]) ** 2 * (size / np.maximum(size - 1, 1))[place] - noise
    said = large[place]
    return _pooled(cells.item[said], parts[said], len(np.unique(question[large])))


def _pooled(item: Ints, parts: Floats, questions: int) -> Spread:
    """The mean over all cells, with an interval by items.

    An item's answers to several questions depend on each other, so the error counts items and not
    cells.
    """
    _, item = np.unique(item, return_inverse=True)
    square = float(parts.mean())
    own = np.bincount(item, parts - square)
    n = len(own)
    error = float(np.sqrt((own**2).sum() * n / max(n - 1, 1))) / len(parts)
    half = float(scipy.special.stdtrit(max(n - 1, 1), 0.975)) * error
    share, low, high = (float(np.sqrt(max(x, 0.0))) for x in (square, square - half, square + half))
    return Spread(share, low, high, questions)
