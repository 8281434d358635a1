"""Two-sample evidence: do an item and its references have different means?

One *block* is ``a`` fresh answers of an item with sum ``x`` and ``b`` fresh answers of its
references with sum ``r``. Two means are guessed before the block is asked, and the block's log
evidence is the log of an e-value against "both have the same mean". With a tolerance ``w`` the null
is "the means differ by at most ``w``".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from askfew.answers import AnswerKind, Number
from askfew.records import Floats

__all__ = [
    "best_bet",
    "bounded_beyond",
    "bounded_block",
    "log_evidence",
    "number_beyond",
    "number_block",
]

EDGE = 1e-6
"""Guesses stay this far from 0 and 1, where one surprising answer would cost infinitely much. A
round number, not tuned: it only has to be smaller than any mean that is worth betting on."""
_HALVINGS = 40
"""Bisection steps for the null means nearest to the guesses: enough for double precision. Fewer
steps cost evidence, never validity (tests/evidence/test_tolerance.py)."""


def log_evidence(
    kind: AnswerKind,
    guess_x: ArrayLike,
    guess_r: ArrayLike,
    x: ArrayLike,
    a: ArrayLike,
    r: ArrayLike,
    b: ArrayLike,
    tolerance: ArrayLike = 0.0,
) -> Floats:
    """Log evidence that the two means differ, for any kind of answer and in the user's units.

    The guesses must have been made before the block was asked. With a ``tolerance`` it is evidence
    that the means differ by more than that, in the direction of the guesses.

    >>> from askfew.answers import Scale, YesNo
    >>> log_evidence(YesNo(), 0.9, 0.1, x=5, a=5, r=0, b=5).round(3)
    np.float64(5.878)
    >>> log_evidence(Scale(1, 5), 4.6, 1.4, x=25, a=5, r=5, b=5).round(3)
    np.float64(5.878)
    >>> log_evidence(Scale(1, 5), 4.6, 1.4, x=25, a=5, r=5, b=5, tolerance=0.8).round(3)
    np.float64(4.055)
    """
    exactly = not np.any(tolerance)
    if isinstance(kind, Number):
        if not exactly:
            return number_beyond(guess_x, guess_r, x, a, r, b, kind.sigma, tolerance)[()]
        gap = np.subtract(guess_x, guess_r)
        return number_block(best_bet(gap, a, b, kind.sigma), x, a, r, b, kind.sigma)[()]
    # Bounded answers are rescaled to [0, 1]: the e-value does not depend on the units.
    low, width = kind.low, kind.high - kind.low
    block = (
        (np.asarray(guess_x) - low) / width,
        (np.asarray(guess_r) - low) / width,
        (np.asarray(x) - low * np.asarray(a)) / width,
        a,
        (np.asarray(r) - low * np.asarray(b)) / width,
        b,
    )
    if not exactly:
        return bounded_beyond(*block, np.asarray(tolerance) / width)[()]
    return bounded_block(*block)[()]


# Answers in [0, 1]: yes/no, and scales after rescaling.


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
    # A block with no answer on one side compares nothing, so it must add nothing.
    return np.where((a > 0) & (b > 0), evidence, 0.0)


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

    A bet upwards (the item's guess above the reference's) tests "the item's mean is at most ``w``
    above the references'", a bet downwards its mirror image. Only the average of the references'
    means counts, so they may be unequal. Guesses that differ by at most ``w`` are no bet.

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
    """The item's mean in the nearest pair: between ``pr + w`` and ``px``, found by bisection."""
    low, high = pr + w, px
    for _ in range(_HALVINGS):
        p = (low + high) / 2
        q = p - w
        # The derivative of a KL(px|p) + b KL(pr|p - w), multiplied by the positive denominators.
        higher = a * (px - p) * q * (1 - q) > b * (q - pr) * p * (1 - p)
        low, high = np.where(higher, p, low), np.where(higher, high, p)
    return np.asarray((low + high) / 2)


# Numbers with sigma-subGaussian noise.


def number_block(
    bet: ArrayLike, x: ArrayLike, a: ArrayLike, r: ArrayLike, b: ArrayLike, sigma: float
) -> Floats:
    r"""Log evidence of blocks of numbers.

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
    # A gap within the tolerance makes the bet 0, and with it the evidence.
    beyond = np.sign(gap) * np.maximum(np.abs(gap) - w, 0.0)
    moved = np.asarray(x, dtype=np.float64) - np.sign(gap) * w * np.asarray(a, dtype=np.float64)
    return number_block(best_bet(beyond, a, b, sigma), moved, a, r, b, sigma)


def best_bet(gap: ArrayLike, a: ArrayLike, b: ArrayLike, sigma: float) -> Floats:
    r"""The bet that grows fastest if the means differ by ``gap``: $h / (\sigma^2 (1 + a/b))$.

    >>> best_bet(gap=2.0, a=3, b=3, sigma=1.0)
    array(1.)
    """
    ratio = np.asarray(a, dtype=np.float64) / np.maximum(b, 1)
    return np.asarray(np.asarray(gap, dtype=np.float64) / (sigma**2 * (1 + ratio)))
