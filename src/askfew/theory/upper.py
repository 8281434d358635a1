r"""Upper bounds for the paper's BanditClustering: Theorem 3.1 and Corollary 3.2.

Both hold up to a numerical constant C that the paper does not give. The functions compute their
*shape*, with C = 1. Compare shapes with each other, never with a number of answers. For
sigma-subGaussian answers every gap is divided by sigma; terms without a gap do not depend on sigma.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from askfew.theory.bound import Bound, check_delta, check_share
from askfew.theory.gaps import Floats, effective_sparsity, ordered_squares

__all__ = ["complexity", "corollary_3_2", "theorem_3_1"]

_OF = "answers, with probability 1 - delta"
_ALIKE = 1e-9
"""Relative slack for "all useful gaps are equal", because of rounding."""


def complexity(gaps: ArrayLike, items: int, share: float, sigma: float = 1.0) -> float:
    r"""The sampling complexity $H$ (eq. 3 of the paper), either group's ``share`` giving theta.

    $$H = \frac d\theta \Big(\frac{1}{\|\Delta\|^2} + \frac{1}{s^*}\Big)
    + \min_s \Big(\frac ds + n\Big)\Big(\frac{1}{\Delta_{(s)}^2} + 1\Big)$$

    >>> complexity([1.0, 1.0, 0.0, 0.0], items=10, share=0.5)
    32.0
    """
    check_share(share, items)
    squares = ordered_squares(gaps, sigma)
    d = len(squares)
    finding = d / min(share, 1 - share) * (1 / squares.sum() + 1 / effective_sparsity(gaps))
    s = np.arange(1, np.count_nonzero(squares) + 1)
    labelling = ((d / s + items) * (1 / squares[: len(s)] + 1)).min()
    return float(finding + labelling)


def theorem_3_1(
    gaps: ArrayLike,
    items: int,
    share: float,
    delta: float,
    sigma: float = 1.0,
    *,
    logarithms: bool = True,
) -> Bound:
    r"""$T \le C\,L \log(1/\delta)\, H$ with probability $1 - \delta$ (Theorem 3.1), without C.

    $$L = (\log\log(1/\delta) \vee 1)^4 \log(dn)^5 \log(d)
    (\log_+ \log(1/\Delta_{(\tilde s)}^2) \vee 1), \quad
    \tilde s = s^* \vee (\lceil d/n \rceil \wedge \#\{\Delta_j \ne 0\})$$

    ``logarithms=False`` leaves out L too: the leading term. One question makes log(d) and with it
    the printed bound 0, so it is void there.

    >>> gaps = [1.0, 1.0, 0.0, 0.0]
    >>> print(theorem_3_1(gaps, items=10, share=0.5, delta=0.05, logarithms=False))
    Theorem 3.1, leading term: answers, with probability 1 - delta <= C * 95.86
    """
    void = _why_void(delta, "Theorem 3.1")
    value = complexity(gaps, items, share, sigma) * math.log(1 / delta)
    if logarithms and not void:
        squares = ordered_squares(gaps, sigma)
        d = len(squares)
        void = "void: log(d) is 0 for one question" if d == 1 else None
        some = min(math.ceil(d / items), int(np.count_nonzero(squares)))
        s = max(effective_sparsity(gaps), some)
        value *= _logarithms(squares[s - 1], d, items, delta) * math.log(d)
    return Bound(
        name="Theorem 3.1" if logarithms else "Theorem 3.1, leading term",
        kind="shape",
        value=math.inf if void else value,
        of=_OF,
        when="BanditClustering, delta < 1/e; unknown constant C left out"
        + ("" if logarithms else ", logarithms too"),
        formula="L log(1/delta) H" if logarithms else "log(1/delta) H",
        reference="paper, Theorem 3.1",
        void=void,
    )


def corollary_3_2(
    gaps: ArrayLike, items: int, share: float, delta: float, sigma: float = 1.0
) -> Bound:
    r"""For gaps 0 or h < 1 (in sigmas), all useful questions alike (Corollary 3.2), without C.

    $$T \le C\,L' \log(1/\delta) \Big(\frac{d}{\theta \|\Delta\|^2} + \frac{n}{h^2}\Big), \quad
    L' = (\log\log(1/\delta) \vee 1)^4 \log(dn)^5 (\log_+ \log(1/h^2) \vee 1)$$

    >>> print(corollary_3_2([0.5, 0.5, 0.0, 0.0], items=10, share=0.5, delta=0.05))
    Corollary 3.2: answers, with probability 1 - delta <= C * 1.661e+05
    >>> print(corollary_3_2([2.0, 2.0, 0.0, 0.0], items=10, share=0.5, delta=0.05))
    Corollary 3.2: void: stated for gaps below sigma
    """
    check_share(share, items)
    squares = ordered_squares(gaps, sigma)
    d, h2, theta = len(squares), squares[0], min(share, 1 - share)
    void = _why_void(delta, "Corollary 3.2") or _why_not_simple(squares)
    value = math.inf
    if not void:
        value = _logarithms(h2, d, items, delta) * math.log(1 / delta)
        value *= d / (theta * squares.sum()) + items / h2
    return Bound(
        name="Corollary 3.2",
        kind="shape",
        value=float(value),
        of=_OF,
        when="BanditClustering, delta < 1/e, gaps 0 or h < sigma; unknown constant C left out",
        formula="L' log(1/delta) (d/(theta |Delta|^2) + n/h^2)",
        reference="paper, Corollary 3.2",
        void=void,
    )


def _logarithms(square: float, d: int, n: int, delta: float) -> float:
    """The factors that both statements share; log_+ x is log(max(x, 1))."""
    in_delta = max(math.log(math.log(1 / delta)), 1.0) ** 4
    in_gap = max(math.log(max(math.log(1 / square), 1.0)), 1.0)
    return in_delta * math.log(d * n) ** 5 * in_gap


def _why_void(delta: float, name: str) -> str | None:
    check_delta(delta)
    if delta < 1 / math.e:
        return None
    return f"void at this delta: {name} is stated for delta < 1/e"


def _why_not_simple(squares: Floats) -> str | None:
    useful = squares[squares > 0]
    if useful[-1] < useful[0] * (1 - _ALIKE):
        return "void: stated for useful questions with equal gaps"
    return "void: stated for gaps below sigma" if squares[0] >= 1 else None
