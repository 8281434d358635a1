"""Block evidence for answers in [0, 1]: yes/no, and scales after rescaling."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from askfew.records import Floats

__all__ = ["EDGE", "bounded_block"]

EDGE = 1e-6
"""Guesses are kept this far from 0 and 1, where a single surprise would be infinite."""


def bounded_block(
    px: ArrayLike, pr: ArrayLike, x: ArrayLike, a: ArrayLike, r: ArrayLike, b: ArrayLike
) -> Floats:
    r"""Log evidence of blocks when the item's mean is guessed as ``px``, the reference's as ``pr``.

    With $p_0 = (a p_x + b p_r)/(a+b)$,

    $$X \log\tfrac{p_x}{p_0} + (a-X) \log\tfrac{1-p_x}{1-p_0}
      + R \log\tfrac{p_r}{p_0} + (b-R) \log\tfrac{1-p_r}{1-p_0}.$$

    For yes/no answers this is the two-sample e-variable of Turner, Ly and Grünwald (2024). For any
    answer $y \in [0,1]$, weighted AM-GM bounds each factor by a function linear in $y$ with mean
    $1 + (u-p_0)c$, the same $c$ on both sides when the means agree; AM-GM once more over the
    $a + b$ factors gives at most 1.

    >>> bounded_block(px=0.9, pr=0.1, x=[5, 1], a=5, r=[0, 1], b=5).round(3)
    array([ 5.878, -5.108])
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    x, r = np.asarray(x, dtype=np.float64), np.asarray(r, dtype=np.float64)
    # Clip first, then form p0: the other order would break the equation that makes it valid,
    # a (px - p0) + b (pr - p0) = 0. Written with the gap, it holds to the last digit too.
    px, pr = np.clip(px, EDGE, 1 - EDGE), np.clip(pr, EDGE, 1 - EDGE)
    gap = (pr - px) / np.maximum(a + b, 1)
    p0 = px + b * gap
    evidence = (
        x * np.log1p(-b * gap / p0)
        + (a - x) * np.log1p(b * gap / (1 - p0))
        + r * np.log1p(a * gap / p0)
        + (b - r) * np.log1p(-a * gap / (1 - p0))
    )
    return np.where((a > 0) & (b > 0), evidence, 0.0)
