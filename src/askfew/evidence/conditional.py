r"""Conditional evidence for yes/no answers: of a block's answers, who gave the yes?

If all items of a block have the same mean, then, given how many of the block's answers were yes,
every way to deal them out is equally likely, whatever the mean is. So the $y$ yes among the $n$
answers of one item are a hypergeometric draw $J$. The bet is that the item's odds of a yes are
$\psi$ times those of the others:

$$y \log\psi - \log E\left[\psi^J\right].$$

Its exponential has expectation 1 for every $\psi$ that is a function of the past and of the blocks'
numbers of yes. So the level of a block need not be known before: it is read off the answers that
are weighed. (The bets of ``samples`` must be fixed before the answers come.)
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from askfew.records import Floats

__all__ = ["conditional_evidence"]


def conditional_evidence(
    odds: ArrayLike, yes: int, answers: int, block_yes: ArrayLike, block_answers: ArrayLike
) -> Floats:
    """Log evidence that an item's odds of a yes are ``odds`` times those of the rest of its block.

    The block's numbers include the item's own.

    >>> conditional_evidence(1 / 81, yes=0, answers=1, block_yes=5, block_answers=6).round(3)
    np.float64(1.732)
    >>> conditional_evidence(1 / 81, yes=1, answers=1, block_yes=6, block_answers=6).round(3)
    np.float64(0.0)
    """
    psi, s, k = (np.asarray(each, dtype=np.float64) for each in (odds, block_yes, block_answers))
    mean = sum(
        math.comb(answers, j) * _falling(s, j) * _falling(k - s, answers - j) * psi**j
        for j in range(answers + 1)
    )
    return np.asarray(yes * np.log(psi) - np.log(mean / _falling(k, answers)))


def _falling(top: Floats, length: int) -> Floats:
    """The falling factorial top (top - 1) ... of this many factors; 0 if there are too few."""
    factors = (np.maximum(top - taken, 0.0) for taken in range(length))
    return math.prod(factors, start=np.ones_like(top))
