"""What one answer can tell: Kullback-Leibler divergences between distributions of an answer.

A *divergence* D is the most that one answer about an item can tell about its group; a larger D
makes every labelling bound smaller. *Information* is what an answer in a random cell tells about
whether there are two groups at all.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from askfew.errors import InvalidInput
from askfew.theory.bound import check_positive
from askfew.theory.gaps import Floats, ordered_squares

__all__ = [
    "bernoulli_kl",
    "binary_kl",
    "chances",
    "normal_divergence",
    "normal_information",
    "yes_no_divergence",
    "yes_no_information",
]


def binary_kl(p: float, q: float) -> float:
    r"""$\mathrm{kl}(p, q) = p \log\frac{p}{q} + (1-p) \log\frac{1-p}{1-q}$, with 0 log 0 = 0.

    >>> round(binary_kl(0.5, 0.25), 4), binary_kl(0.3, 0.3), binary_kl(0.5, 0.0)
    (0.1438, 0.0, inf)
    """
    return float(bernoulli_kl(chances(p), chances(q)))


def normal_divergence(gap: float, sigma: float = 1.0) -> float:
    r"""$D = \Delta_{(1)}^2 / (2 \sigma^2)$: two normal laws ``gap``, the largest, apart.

    >>> normal_divergence(gap=3.0, sigma=2.0)
    1.125
    """
    return float(ordered_squares([gap], sigma)[0]) / 2


def yes_no_divergence(first: ArrayLike, second: ArrayLike) -> float:
    r"""$D = \max_j \max(\mathrm{kl}(p_j, q_j), \mathrm{kl}(q_j, p_j))$: yes/no answers.

    ``first`` and ``second`` are the two groups' chances of a yes, one per question (or one number).
    Both directions count, for an item may be of either group. Infinite if one answer can settle an
    item for certain.

    >>> round(yes_no_divergence([0.85, 0.5], [0.15, 0.5]), 4)
    1.2142
    """
    p, q = _two_groups(first, second)
    return float(np.maximum(bernoulli_kl(p, q), bernoulli_kl(q, p)).max())


def normal_information(gaps: ArrayLike, share: float, sigma: float = 1.0) -> float:
    r"""$\theta \|\Delta\|^2 / (2 \sigma^2 d)$ per answer in a random cell, over "all alike".

    ``share`` is the part of the items whose means are off by ``gaps``, while all other items have
    one and the same mean on every question.

    >>> normal_information([2.0, 0.0, 0.0, 0.0], share=0.5)
    0.25
    """
    _check_part(share)
    return share * float(ordered_squares(gaps, sigma).mean()) / 2


def yes_no_information(
    first: ArrayLike, second: ArrayLike, share: float, common: float = 0.5
) -> float:
    r"""$\frac1d \sum_j (1-\theta)\,\mathrm{kl}(r, p_j) + \theta\,\mathrm{kl}(r, q_j)$.

    The world in which nothing differs answers yes with chance ``common`` (r) in every cell; any r
    is allowed, and the chance of the useless questions makes the best bound. ``share`` is the
    second group's.

    >>> round(yes_no_information([0.85, 0.5], [0.15, 0.5], share=0.2), 4)
    0.1683
    """
    _check_part(share)
    (p, q), r = _two_groups(first, second), chances(common)
    return float(np.mean((1 - share) * bernoulli_kl(r, p) + share * bernoulli_kl(r, q)))


def bernoulli_kl(p: Floats, q: Floats) -> Floats:
    """``binary_kl`` of arrays of probabilities, without checks."""
    # If p and q nearly agree, the two terms cancel; log1p keeps the digits that are left.
    near = np.abs(q - p) < 0.1 * np.minimum(p, 1 - p)
    step, at = np.where(near, q - p, 0.0), np.where(near, p, 0.5)
    close = -at * np.log1p(step / at) - (1 - at) * np.log1p(-step / (1 - at))
    apart = scipy.special.rel_entr(p, q) + scipy.special.rel_entr(1 - p, 1 - q)
    return np.maximum(np.where(near, close, apart), 0.0)


def chances(values: ArrayLike) -> Floats:
    """The values as an array of probabilities."""
    found = np.asarray(values, dtype=np.float64)
    if not ((found >= 0) & (found <= 1)).all():
        raise InvalidInput("chances must lie between 0 and 1", values, "pass probabilities")
    return found


def _two_groups(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    p, q = np.atleast_1d(chances(first)), np.atleast_1d(chances(second))
    if p.ndim != 1 or p.shape != q.shape or np.array_equal(p, q):
        raise InvalidInput(
            "the two groups need one chance of a yes for each question, and must differ on one",
            f"shapes {p.shape} and {q.shape}",
            "groups that differ nowhere cannot be told apart",
        )
    return p, q


def _check_part(share: float) -> None:
    check_positive("share", share)
    if share >= 1:
        raise InvalidInput("share must lie strictly between 0 and 1", share, "pass a group's part")
