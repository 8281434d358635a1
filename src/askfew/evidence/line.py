r"""Round evidence: is the mean score of one item, over several questions, above a line?

A *round* asks each of the m questions of a rule once. An answer y to question j scores
$z_j = w_j (y_j - t_j)$, and the null is "the mean of the m expected scores is at most $\ell$".
No other item and no model enters: only the item's own answers, and a bet fixed beforehand.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from askfew.answers import AnswerKind, Number
from askfew.records import Floats

__all__ = ["largest_bet", "round_evidence"]

_MOST = 0.85
"""The largest bet, as a share of the bet at which one surprising answer would lose everything. The
value hardly matters: for 20,000 simulated items at .85, .95 or .99 (rounds of three yes/no answers,
7.6 nats) .7 to .99 cost the same within 1.5 %. What matters is that it is below 1, so that no
answer can make the evidence infinite."""


def round_evidence(
    kind: AnswerKind, scores: ArrayLike, line: float, bets: ArrayLike, weights: ArrayLike
) -> Floats:
    r"""Log evidence of complete rounds (items x questions) that the mean score exceeds ``line``.

    For bounded answers $\sum_j \log(1 + \lambda (z_j - \ell))$ with one bet $\lambda$ a round. The
    m factors are independent given the past, their expectations $1 + \lambda (E z_j - \ell)$ are
    positive and average to at most 1 under the null, so their product is at most 1 (AM-GM).
    For numbers $\lambda \sum_j (z_j - \ell) - \lambda^2 \sigma^2 \sum_j w_j^2 / 2$.

    It holds for complete rounds only: unequal numbers of answers with one bet reach an expectation
    of 3, and rounds that are abandoned after a look reach 1.69.

    >>> from askfew.answers import YesNo
    >>> z = np.array([[0.5, 0.5, 0.5], [0.5, 0.5, -0.5]])  # three yeses; two
    >>> round_evidence(YesNo(), z, 0.0, [1.4, 1.4], [1, 1, 1]).round(3)
    array([ 1.592, -0.143])
    """
    # One bet for the whole round: with a bet of its own for each question the factors'
    # expectations would no longer average to at most 1, and AM-GM would say nothing.
    above = np.asarray(scores, dtype=np.float64) - line
    bet = np.asarray(bets, dtype=np.float64)
    if isinstance(kind, Number):
        loss = kind.sigma**2 * float(np.square(weights).sum()) / 2
        return np.asarray(bet * (above.sum(axis=1) - bet * loss))
    return np.asarray(np.log1p(bet[:, np.newaxis] * above).sum(axis=1))


def largest_bet(kind: AnswerKind, weights: ArrayLike, cuts: ArrayLike, line: float) -> float:
    """The largest bet allowed on a round: even the worst answer must leave something.

    >>> from askfew.answers import Scale, YesNo
    >>> largest_bet(YesNo(), [1.0], [0.5], 0.0), largest_bet(Scale(1, 5), [1.0], [3.0], 0.0)
    (1.7, 0.425)
    """
    if isinstance(kind, Number):
        return np.inf  # a normal factor is positive whatever the answer
    w, t = np.asarray(weights, dtype=np.float64), np.asarray(cuts, dtype=np.float64)
    # A factor 1 + bet (z - line) must stay positive at the worst answer of the worst question.
    worst = line - float(np.minimum(w * (kind.low - t), w * (kind.high - t)).min())
    return _MOST / worst if worst > 0 else np.inf
