r"""The normal mixture: evidence against "this sum has mean zero" for a gap of unknown size.

An average of e-processes is an e-process. Averaging $\exp(\lambda S - \lambda^2 V / 2)$ over bets
$\lambda \sim N(0, \rho)$ gives the closed form below (Robbins 1970; Howard, Ramdas, McAuliffe and
Sekhon 2021, whose $\rho$ is $1/\rho$ here).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from askfew.records import Floats

__all__ = ["boundary", "log_mixture", "tuned_rho"]


def log_mixture(s: ArrayLike, v: ArrayLike, rho: float) -> Floats:
    r"""$-\tfrac12 \log(1 + \rho V) + \rho S^2 / (2 (1 + \rho V))$.

    >>> log_mixture(s=24.28167, v=64, rho=1 / 8.06436).round(4)  # log(1 / 0.05)
    np.float64(2.9957)
    """
    spread = 1 + rho * np.asarray(v, dtype=np.float64)
    return np.asarray(rho * np.square(s) / (2 * spread) - np.log(spread) / 2)[()]


def boundary(v: ArrayLike, rho: float, alpha: float) -> Floats:
    """The |S| at which the mixture reaches 1 / alpha.

    >>> boundary(64, rho=tuned_rho(64, 0.05), alpha=0.05).round(5)
    np.float64(24.28167)
    """
    spread = 1 + rho * np.asarray(v, dtype=np.float64)
    return np.asarray(np.sqrt(spread / rho * (2 * math.log(1 / alpha) + np.log(spread))))[()]


def tuned_rho(v: float, alpha: float) -> float:
    """The rho whose boundary is about tightest at variance ``v`` (Howard et al.'s approximation).

    >>> round(1 / tuned_rho(64, 0.05), 5)
    8.06436
    """
    log_term = 2 * math.log(1 / alpha)
    return (log_term + math.log1p(log_term)) / v
