r"""The beta mixture: where the mean of answers between 0 and 1 can lie, whenever one looks.

For a mean p and any bet q, $q^X (1-q)^{b-X} / (p^X (1-p)^{b-X})$ is an e-process of b answers with
sum X; it is convex in each answer, so that yes and no are the worst case. Averaging over bets
$q \sim$ Beta(1/2, 1/2) gives the closed form below (Krichevsky and Trofimov 1981). The p that it
does not exclude are an interval.
"""

from __future__ import annotations

import math

__all__ = ["log_beta_mixture", "mean_interval"]

_FINE = 1e-9
"""Ends of the interval are found to this fineness, and lie on its outer side."""


def log_beta_mixture(total: float, count: float, mean: float) -> float:
    """Log evidence of answers with this sum and count against a mean strictly between 0 and 1.

    >>> round(log_beta_mixture(total=2, count=2, mean=0.5), 4)  # log(3/8 / (1/4))
    0.4055
    """
    no = count - total
    mixed = math.lgamma(total + 0.5) + math.lgamma(no + 0.5) - math.lgamma(count + 1)
    return mixed - math.log(math.pi) - total * math.log(mean) - no * math.log1p(-mean)


def mean_interval(total: float, count: float, alpha: float) -> tuple[float, float]:
    """Means that the answers do not exclude; it ever misses with probability at most alpha.

    >>> [round(end, 3) for end in mean_interval(total=18, count=20, alpha=0.05)]
    [0.591, 0.996]
    """
    seen = total / count if count else 0.5

    def end(outside: float) -> float:
        inside = seen
        while abs(outside - inside) > _FINE:
            middle = (inside + outside) / 2
            if log_beta_mixture(total, count, middle) >= math.log(1 / alpha):
                outside = middle
            else:
                inside = middle
        return outside

    return end(0.0), end(1.0)
