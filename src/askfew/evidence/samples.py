r"""Many-sample evidence: do all items of a block have the same mean on each question?

With guessed means $p_z$ of the answers, fixed before they were asked, and $p_0$ the mean of the
guesses over the block's answers,

$$\sum_z y_z \log\tfrac{p_z}{p_0} + (1-y_z) \log\tfrac{1-p_z}{1-p_0}$$

for answers in [0, 1]. Weighted AM-GM bounds each factor by a function linear in $y_z$ with mean
$1 + c\,(p_z - p_0)$, the same $c$ for every answer when all means agree; the $p_z - p_0$ add up to
0, so AM-GM over all factors gives at most 1. For numbers
$\sum_z \lambda_z y_z - \tfrac12 \sigma^2 \lambda_z^2$ with $\lambda_z = (p_z - p_0)/\sigma^2$: the
bets add up to 0, so a common mean cancels. Blocks without an item in common multiply, and so do
questions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from askfew.answers import AnswerKind, Number
from askfew.evidence.blocks import EDGE
from askfew.records import Floats

__all__ = ["samples_evidence"]


def samples_evidence(
    kind: AnswerKind, members: ArrayLike, guesses: ArrayLike, sums: ArrayLike, counts: ArrayLike
) -> Floats:
    """Log evidence against "all members have the same mean", added up over questions, per block.

    ``members`` (blocks x items) says who is in a block; guesses, sums and counts are items x
    questions, in the user's units.

    >>> from askfew.answers import YesNo
    >>> alike, apart = [[0.1], [0.1]], [[0.9], [0.1]]
    >>> samples_evidence(YesNo(), [[1, 1]], apart, sums=[[5], [0]], counts=[[5], [5]]).round(3)
    array([5.878])
    >>> samples_evidence(YesNo(), [[1, 1]], alike, sums=[[5], [0]], counts=[[5], [5]]).round(3)
    array([0.])
    """
    inside = np.asarray(members, dtype=np.float64)
    p, y, n = (np.asarray(each, dtype=np.float64) for each in (guesses, sums, counts))
    if isinstance(kind, Number):
        return _numbers(inside, p, y, n, kind.sigma)
    width = kind.high - kind.low
    # Clip first, then form p0: it must be the mean of the guesses that are bet.
    p = np.clip((p - kind.low) / width, EDGE, 1 - EDGE)
    y = (y - kind.low * n) / width
    yes, no, total = inside @ y, inside @ (n - y), inside @ n
    p0 = np.where(total > 0, inside @ (n * p) / np.maximum(total, 1), 0.5)
    bet = (y * np.log(p) + (n - y) * np.log1p(-p)).sum(axis=1)
    common = (yes * np.log(p0) + no * np.log1p(-p0)).sum(axis=1)
    return np.asarray(inside @ bet - common)


def _numbers(inside: Floats, p: Floats, y: Floats, n: Floats, sigma: float) -> Floats:
    # Shifting answers and guesses alike changes nothing; it keeps large numbers from cancelling.
    centre = p.mean(axis=0)
    p, y = (p - centre) / sigma, (y - n * centre) / sigma
    total = inside @ n
    p0 = inside @ (n * p) / np.maximum(total, 1)
    bet = (p * y - n * p**2 / 2).sum(axis=1)
    common = (p0 * (inside @ y) - total * p0**2 / 2).sum(axis=1)
    return np.asarray(inside @ bet - common)
