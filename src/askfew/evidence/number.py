"""Block evidence for numbers with sigma-subGaussian noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from askfew.records import Floats

__all__ = ["best_bet", "number_block"]


def number_block(
    bet: ArrayLike, x: ArrayLike, a: ArrayLike, r: ArrayLike, b: ArrayLike, sigma: float
) -> Floats:
    r"""Log evidence of blocks of ``a`` answers with sum ``x`` against ``b`` with sum ``r``.

    $$\lambda (X - \tfrac{a}{b} R) - \tfrac12 \lambda^2 \sigma^2 (a + a^2/b)$$

    The first term has mean zero under the null, and is subGaussian with the variance proxy in the
    second. A block with no answer on one side is no evidence.

    >>> number_block(bet=1.0, x=[6.0, 6.0], a=[3, 3], r=[0.0, 0.0], b=[3, 0], sigma=1.0)
    array([3., 0.])
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    ratio = a / np.maximum(b, 1)
    bet = np.asarray(bet, dtype=np.float64)
    difference = np.asarray(x, dtype=np.float64) - ratio * np.asarray(r, dtype=np.float64)
    evidence = bet * difference - bet**2 * sigma**2 * a * (1 + ratio) / 2
    return np.where((a > 0) & (b > 0), evidence, 0.0)


def best_bet(gap: ArrayLike, a: ArrayLike, b: ArrayLike, sigma: float) -> Floats:
    r"""The bet that grows fastest if the means differ by ``gap``: $h / (\sigma^2 (1 + a/b))$.

    >>> best_bet(gap=2.0, a=3, b=3, sigma=1.0)
    array(1.)
    """
    ratio = np.asarray(a, dtype=np.float64) / np.maximum(b, 1)
    return np.asarray(np.asarray(gap, dtype=np.float64) / (sigma**2 * (1 + ratio)))
