"""Block evidence beyond a tolerance: against "the means differ by at most ``w`` in this direction".

Items of one group need not be quite alike. A bet upwards (the item's guess above the reference's)
tests "the item's mean is at most ``w`` above the references'", a bet downwards its mirror image.
Only the average of the references' means counts, so they may be unequal: it is enough that none
lies more than ``w`` below the item's (above it, for a bet downwards). Guesses that differ by no
more than ``w`` are no bet.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from askfew.evidence.bounded import EDGE
from askfew.evidence.number import best_bet, number_block
from askfew.records import Floats

__all__ = ["bounded_beyond", "number_beyond"]

_HALVINGS = 40
"""Of the interval in which the nearest pair of means is sought. They cost speed, never validity."""


def number_beyond(
    guess_x: ArrayLike,
    guess_r: ArrayLike,
    x: ArrayLike,
    a: ArrayLike,
    r: ArrayLike,
    b: ArrayLike,
    sigma: float,
    w: ArrayLike,
) -> Floats:
    r"""Log evidence of blocks of numbers that the means differ by more than ``w``.

    The item's answers are moved by ``w`` towards the reference; the bet is the best one for the
    guessed gap less ``w``. Upwards, $\lambda (X - aw - \tfrac{a}{b} R) - \ldots$ has a first term
    of mean at most zero.

    >>> number_beyond(2.0, 0.0, x=[6.0, 3.0], a=3, r=0.0, b=3, sigma=1.0, w=0.5)
    array([ 1.6875, -0.5625])
    """
    gap = np.subtract(guess_x, guess_r)
    w = np.asarray(w, dtype=np.float64)
    beyond = np.sign(gap) * np.maximum(np.abs(gap) - w, 0.0)
    moved = np.asarray(x, dtype=np.float64) - np.sign(gap) * w * np.asarray(a, dtype=np.float64)
    return number_block(best_bet(beyond, a, b, sigma), moved, a, r, b, sigma)


def bounded_beyond(
    px: ArrayLike,
    pr: ArrayLike,
    x: ArrayLike,
    a: ArrayLike,
    r: ArrayLike,
    b: ArrayLike,
    w: ArrayLike,
) -> Floats:
    r"""Log evidence of blocks of answers in [0, 1] that the means differ by more than ``w``.

    Upwards: of all pairs of means with $p - q = w$ take the one nearest to the guesses, which
    minimises $a\,\mathrm{KL}(p_x|p) + b\,\mathrm{KL}(p_r|q)$, and with $A = (p_x-p)/(p(1-p))$ and
    $B = -aA/b$ add

    $$X \log(1 + A(1-p)) + (a-X) \log(1 - Ap) + R \log(1 + B(1-q)) + (b-R) \log(1 - Bq).$$

    At the minimum $B = (p_r-q)/(q(1-q))$, and this is the likelihood ratio. Weighted AM-GM bounds
    the factors of an answer y by $1 + A(y-p)$ and $1 + B(y-q)$, all of them positive; AM-GM over
    the $a + b$ factors bounds the expectation by $[1 + aA(\mu_x - \mu_r - w)/(a+b)]^{a+b}$, with
    $\mu_r$ the average of the references' means: at most 1. The proof uses $p - q = w$,
    $aA + bB = 0$ and the signs of the factors, which hold however well the minimum was found.

    A larger ``w`` does not always mean less evidence: of random blocks, about one in a hundred is
    evidence that grows with it.

    >>> bounded_beyond(px=0.9, pr=0.1, x=[5, 1], a=5, r=[0, 1], b=5, w=0.2).round(3)
    array([ 4.055, -4.904])
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    x, r = np.asarray(x, dtype=np.float64), np.asarray(r, dtype=np.float64)
    px, pr = np.clip(px, EDGE, 1 - EDGE), np.clip(pr, EDGE, 1 - EDGE)
    down = px < pr  # a bet downwards is a bet upwards on 1 - y
    px, pr = np.where(down, 1 - px, px), np.where(down, 1 - pr, pr)
    x, r = np.where(down, a - x, x), np.where(down, b - r, r)
    bet = (px - pr > w) & (a > 0) & (b > 0)
    # Where there is no bet, equal guesses and no tolerance make every term zero.
    px, pr = np.where(bet, px, 0.5), np.where(bet, pr, 0.5)
    w, a, b = np.where(bet, w, 0.0), np.where(bet, a, 1.0), np.where(bet, b, 1.0)
    p = _nearest(px, pr, a, b, w)
    q = p - w
    # No reference may lose more than all but EDGE of what is left, or its factor turns negative.
    up = np.minimum((px - p) / (p * (1 - p)), (1 - EDGE) * b / (a * (1 - q)))
    down_r = a * up / b
    evidence = (
        x * np.log1p(up * (1 - p))
        + (a - x) * np.log1p(-up * p)
        + r * np.log1p(-down_r * (1 - q))
        + (b - r) * np.log1p(down_r * q)
    )
    return np.where(bet, evidence, 0.0)


def _nearest(px: Floats, pr: Floats, a: Floats, b: Floats, w: Floats) -> Floats:
    """The item's part of the nearest pair: between ``pr + w`` and ``px``, found by halving."""
    low, high = pr + w, px
    for _ in range(_HALVINGS):
        p = (low + high) / 2
        q = p - w
        higher = a * (px - p) * q * (1 - q) > b * (q - pr) * p * (1 - p)
        low, high = np.where(higher, p, low), np.where(higher, high, p)
    return np.asarray((low + high) / 2)
