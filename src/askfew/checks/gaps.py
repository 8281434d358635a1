"""The distance of two groups' mean answers, with an interval that holds for few answers too.

Answers between two ends vary no more than yes/no answers of the same mean. So the exact interval
for a share (Clopper and Pearson 1934) serves scales too; there it is rather too wide. It stays wide
where a handful of answers agree. Two such intervals make one for the distance: their arms are
squared and added (Newcombe 1998). Numbers have a known spread.

With two to forty yes/no answers about each group the interval holds in at least 92 % whatever the
truth, and in more than 96 % on average. It is meant for a fixed number of answers. The interval of
a certificate is wider, and valid whenever one stops.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from askfew.answers import AnswerKind, Number
from askfew.records import Floats

__all__ = ["gap_interval", "gap_intervals"]

_TAIL = 0.025
"""Each tail of a 95 % interval."""


def gap_interval(
    kind: AnswerKind, one: tuple[float, int], other: tuple[float, int]
) -> tuple[float, float]:
    """A 95 % interval for the distance of two means, each given with its number of answers.

    >>> from askfew.answers import YesNo
    >>> low, high = gap_interval(YesNo(), (0.0, 5), (1.0, 5))
    >>> round(low, 2), round(high, 2)
    (0.26, 1.0)
    """
    low, high = gap_intervals(kind, *one, *other)
    return float(low), float(high)


def gap_intervals(
    kind: AnswerKind,
    one: ArrayLike,
    n: ArrayLike,
    other: ArrayLike,
    m: ArrayLike,
    tail: float = _TAIL,
) -> tuple[Floats, Floats]:
    """The intervals of many distances: means ``one`` of ``n`` answers each, and ``other`` of ``m``.

    ``tail`` is the chance that the distance is smaller, and that it is larger. Fractions of an
    answer are allowed, for answers that count less than others.
    """
    one, n, other, m = np.broadcast_arrays(
        *(np.asarray(x, dtype=np.float64) for x in (one, n, other, m))
    )
    swap = one > other
    lower, upper = np.where(swap, other, one), np.where(swap, one, other)
    below_n, above_n = np.where(swap, m, n), np.where(swap, n, m)
    gap = upper - lower
    if isinstance(kind, Number):
        below = above = -scipy.special.ndtri(tail) * kind.sigma * np.sqrt(1 / n + 1 / m)
    else:
        width = kind.high - kind.low
        low, high = _arms((lower - kind.low) / width, below_n, tail)
        bottom, top = _arms((upper - kind.low) / width, above_n, tail)
        below, above = width * np.hypot(high, bottom), width * np.hypot(low, top)
    # If the interval reaches below 0, the means may lie the other way round, that far apart.
    return np.maximum(gap - below, 0.0), np.maximum(gap + above, below - gap)


def _arms(share: Floats, n: Floats, tail: float) -> tuple[Floats, Floats]:
    """How far below and above a share among ``n`` the truth may be."""
    share = np.clip(share, 0.0, 1.0)  # rounding may put it just outside
    yes, no = share * n, (1 - share) * n
    low = np.where(yes > 0, scipy.special.betaincinv(np.maximum(yes, 1e-9), no + 1, tail), 0.0)
    high = np.where(no > 0, scipy.special.betaincinv(yes + 1, np.maximum(no, 1e-9), 1 - tail), 1.0)
    return np.maximum(share - low, 0.0), np.maximum(high - share, 0.0)
