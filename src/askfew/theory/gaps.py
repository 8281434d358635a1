r"""The gap vector $\Delta = \mu^a - \mu^b$: how far the two groups differ on each question, and how
many random pairs it takes to meet a gap.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askfew.errors import InvalidInput
from askfew.theory.bound import Bound, check_positive, check_share

__all__ = [
    "Floats",
    "effective_sparsity",
    "norm_squared",
    "ordered_gaps",
    "ordered_squares",
    "random_pairs",
]

Floats: TypeAlias = NDArray[np.float64]

_TIE = 1e-9
"""Relative slack for ties: with gaps h / sqrt(j) every s has the same s Delta_(s)^2."""


def ordered_gaps(gaps: ArrayLike) -> Floats:
    r"""Absolute gaps, largest first: $|\Delta_{(1)}| \ge \dots \ge |\Delta_{(d)}|$ (section 2).

    >>> ordered_gaps([0.5, -2.0, 0.0])
    array([2. , 0.5, 0. ])
    """
    vector = np.asarray(gaps, dtype=np.float64)
    if vector.ndim != 1 or not np.isfinite(vector).all() or not vector.any():
        raise InvalidInput(
            "gaps must be a vector of finite numbers, one per question and not all 0",
            f"shape {vector.shape}, largest {np.abs(vector).max(initial=0):g}",
            "groups that differ nowhere cannot be told apart",
        )
    return np.sort(np.abs(vector))[::-1]


def ordered_squares(gaps: ArrayLike, sigma: float = 1.0) -> Floats:
    r"""$\Delta_{(s)}^2 / \sigma^2$, largest first: what the paper's formulas see.

    >>> ordered_squares([1.0, -4.0], sigma=2.0)
    array([4.  , 0.25])
    """
    check_positive("sigma", sigma)
    with np.errstate(over="ignore", under="ignore"):
        squares = (ordered_gaps(gaps) / sigma) ** 2
        usable = squares[0] > 0 and np.isfinite(squares.sum())
    if not usable:
        raise InvalidInput(
            "gaps over sigma must be neither vanishing nor enormous",
            f"{ordered_gaps(gaps)[0]:g} over {sigma:g}",
            "use other units",
        )
    return squares


def norm_squared(gaps: ArrayLike) -> float:
    r"""$\|\Delta\|_2^2$.

    >>> norm_squared([3.0, 0.0, 4.0])
    25.0
    """
    return float(ordered_squares(gaps).sum())


def effective_sparsity(gaps: ArrayLike) -> int:
    r"""How many questions really carry the gap (eq. 1).

    It is $s^*$, the $s$ that makes $s \Delta_{(s)}^2$ largest; the largest of several, which makes
    $H$ smallest. It satisfies
    $s^* \Delta_{(s^*)}^2 \le \|\Delta\|^2 \le (1 + \log d)\, s^* \Delta_{(s^*)}^2$; eq. (2) of the
    paper has $\log(2d)$ there, which is too small for d <= 4 (gaps 1, 1/sqrt(2): 1.5 > 1.39).

    >>> effective_sparsity([2.0, 2.0, 2.0, 0.1])
    3
    """
    squares = ordered_squares(gaps)
    weights = np.arange(1, len(squares) + 1) * squares
    return int(np.flatnonzero(weights >= weights.max() * (1 - _TIE))[-1]) + 1


def random_pairs(items: int, questions: int, useful: int, share: float) -> Bound:
    r"""About $d / (2 \theta (1-\theta) s)$ random pairs of items, each on a random question, until
    one pair differs on its question.

    The mean of a geometric time when the two items are drawn independently; two different items
    differ a little more often (by n/(n-1)), and a deck of questions dealt without replacement
    hits a little sooner. Seeing that they differ costs answers on top.

    >>> print(random_pairs(items=20, questions=1000, useful=53, share=0.5))
    First separating pair: random pairs until one differs about 37.74
    """
    check_share(share, items)
    if not 1 <= useful <= questions:
        raise InvalidInput(
            f"useful questions must be between 1 and all {questions}", useful, "choose how many"
        )
    return Bound(
        name="First separating pair",
        kind="forecast",
        value=questions / (2 * share * (1 - share) * useful),
        of="random pairs until one differs",
        when="a forecast, not a bound",
        formula="d / (2 theta (1-theta) s)",
        reference="a geometric time",
        unit="pairs",
    )
