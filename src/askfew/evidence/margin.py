r"""The margin after the fact: how much may items of a group differ while the labels stay right?

Beside the evidence that labels, an e-process is kept for every value w of a *fixed* grid, against
"item x is in group g, and its mean is within w of its references' in g". An item's margin is the
largest w of the grid at which all other groups are excluded, *and are at every smaller value too*:
evidence is not monotone in w, and the proof below needs the smaller ones.

What is proven. Let D(x) be the largest distance of x from the references of its own group that it
was compared with, in the direction of the bets. It is unknown but fixed, so the first value w(x) of
the grid that is not below it is fixed, too. The process of x, its own group and w(x) has a true
null: it ever reaches log(n / delta) with probability at most delta / n. A wrong label with a margin
of at least D(x) has excluded that group at every grid value up to the margin, w(x) among them. So,
with probability at least 1 - delta and for all n items at once:

- *itemwise*: every labelled item whose D(x) is at most its own margin is labelled right;
- *for all items*: if no D(x) exceeds the smallest margin, all labels are right.

Neither the size of the grid nor the number of groups costs anything. Nothing is claimed about D(x)
itself. That items are that much alike stays an assumption, but a weaker one than that they are the
same. If references rotate, the number must bound *every pair* of a group: D(x) has to be fixed
beforehand, and which references are used depends on the answers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from askfew.records import Floats, Ints

__all__ = ["Margins"]


class Margins:
    """E-processes of every item, group and value of the grid; the caller computes their blocks.

    Blocks at all values of the grid are ``log_evidence(..., tolerance=grid)`` of the same answers
    and guesses; ``threshold`` is the log(n / delta) at which an item is excluded from a group.

    >>> margins = Margins([0.0, 0.1, 0.2], items=2, groups=2, threshold=3.0)
    >>> margins.add([0, 1], 1, [[4.0, 3.5, 1.0], [4.0, 2.0, 3.5]])
    >>> margins.reported([0, 0])  # the second item was not excluded at 0.1
    array([0.1, 0. ])
    """

    def __init__(self, grid: ArrayLike, *, items: int, groups: int, threshold: float) -> None:
        self.grid: Floats = np.unique(np.asarray(grid, dtype=np.float64))
        self._threshold = threshold
        self._evidence = np.zeros((items, groups, len(self.grid)))
        self._excluded = np.zeros(self._evidence.shape, dtype=bool)

    def add(self, items: ArrayLike, group: int, blocks: ArrayLike) -> None:
        """Count the blocks (different items x grid) of these items against references of a group.

        Evidence that once reached the threshold has excluded for good: that is what Ville's
        inequality bounds.
        """
        who: Ints = np.asarray(items)
        self._evidence[who, group] += np.asarray(blocks, dtype=np.float64)
        self._excluded[who, group] |= self._evidence[who, group] >= self._threshold  # for good

    def reported(self, labels: ArrayLike) -> Floats:
        """The margin of each label; NaN without a label (-1) or if the smallest value fails."""
        given: Ints = np.asarray(labels)
        groups = self._excluded.shape[1]
        # An item needs no exclusion from the group of its own label.
        own = given[:, np.newaxis] == np.arange(groups)
        excluded = (self._excluded | own[:, :, np.newaxis]).all(axis=1) & (given >= 0)[:, None]
        # The product stops at the first value that fails: all smaller ones must hold.
        steps = np.cumprod(excluded, axis=1).sum(axis=1)
        return np.where(steps > 0, self.grid[np.maximum(steps - 1, 0)], np.nan)
