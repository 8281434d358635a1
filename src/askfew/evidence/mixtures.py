r"""Mixtures of bets: evidence for a gap of unknown size, and intervals that hold at any time.

An average of e-processes is an e-process, so averaging over bets needs no guess of the truth.

*Normal mixture.* Averaging $\exp(\lambda S - \lambda^2 V / 2)$ over bets $\lambda \sim N(0, \rho)$
gives a closed form (Robbins 1970; Howard, Ramdas, McAuliffe and Sekhon 2021, whose $\rho$ is
$1/\rho$ here).

*Beta mixture.* For a mean p and any bet q, $q^X (1-q)^{b-X} / (p^X (1-p)^{b-X})$ is an e-process of
b answers between 0 and 1 with sum X. It is convex in each answer, so yes and no are the worst case.
Averaging over $q \sim$ Beta(1/2, 1/2) gives a closed form (Krichevsky and Trofimov 1981). The means
p that it does not exclude form an interval.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from askfew.records import Floats

__all__ = ["boundary", "log_beta_mixture", "log_mixture", "mean_interval", "tuned_rho"]

_FINE = 1e-9
"""The ends of an interval are found to this accuracy, and rounded outwards: finer than any figure
that is printed."""


def log_mixture(s: ArrayLike, v: ArrayLike, rho: float) -> Floats:
    r"""The normal mixture, $-\tfrac12 \log(1 + \rho V) + \rho S^2 / (2 (1 + \rho V))$.

    >>> log_mixture(s=24.28167, v=64, rho=1 / 8.06436).round(4)  # log(1 / 0.05)
    np.float64(2.9957)
    """
    spread = 1 + rho * np.asarray(v, dtype=np.float64)
    return np.asarray(rho * np.square(s) / (2 * spread) - np.log(spread) / 2)[()]


def boundary(v: ArrayLike, rho: float, alpha: float) -> Floats:
    """The $|S|$ at which the normal mixture reaches 1 / alpha.

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


def log_beta_mixture(total: float, count: float, mean: float) -> float:
    """Log evidence of answers with this sum and count against a mean strictly between 0 and 1.

    >>> round(log_beta_mixture(total=2, count=2, mean=0.5), 4)  # log(3/8 / (1/4))
    0.4055
    """
    no = count - total
    mixed = math.lgamma(total + 0.5) + math.lgamma(no + 0.5) - math.lgamma(count + 1)
    return mixed - math.log(math.pi) - total * math.log(mean) - no * math.log1p(-mean)


def mean_interval(total: float, count: float, alpha: float) -> tuple[float, float]:
    """The interval of means that the answers do not exclude.

    The probability that it ever misses the true mean is at most alpha, whenever one looks.

    >>> [round(end, 3) for end in mean_interval(total=18, count=20, alpha=0.05)]
    [0.591, 0.996]
    """
    seen = total / count if count else 0.5

    def end(outside: float) -> float:
        # The evidence grows with the distance from the mean seen, so bisection finds each end.
        inside = seen
        while abs(outside - inside) > _FINE:
            middle = (inside + outside) / 2
            if log_beta_mixture(total, count, middle) >= math.log(1 / alpha):
                outside = middle
            else:
                inside = middle
        return outside

    return end(0.0), end(1.0)
