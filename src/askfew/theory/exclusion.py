r"""Any number of groups: which questions exclude an item from all groups but its own, and how fast.

$D_q(g, h)$ is what one answer to question q about an item of group g tells against group h. An item
of g is labelled when every other group is excluded, so of all ways to spread its answers over the
questions (weights w) the best makes the slowest exclusion fastest: the *rate* of g is

$$\rho_g = \max_w \min_{h \ne g} \sum_q w_q D_q(g, h),$$

a linear program. A vertex of it uses at most K - 1 questions.

*No method labels faster, not even one that is told every group's means.* One item of each group is
known; the other m = n - K labels are uniform on the $K^m$ vectors. The program's dual are chances
$\lambda^g_h$ of the other groups with $\sum_h \lambda^g_h D_q(g, h) \le \rho_g$ for every q. Move
item k of group g to a group h drawn with them, and look at the event "the method says the labels
before the move". Before the move its chance is at least $1-\delta$ on average; after it, renaming,
it averages to at most $\delta/m$, for these are disjoint errors and no $\lambda$ exceeds 1. The
divergence between the two worlds is on average over h at most $\rho_g E[T_k]$. kl is jointly
convex, so $E[T] \ge \frac{m}{\max_g \rho_g}\, \mathrm{kl}(1-\delta, \delta/m)$. With two groups
that is the labelling bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from askfew.errors import InvalidInput
from askfew.theory.bound import Bound, check_delta, check_positive
from askfew.theory.divergence import bernoulli_kl, binary_kl, chances
from askfew.theory.gaps import Floats

__all__ = [
    "Mix",
    "best_mixes",
    "groups_forecast",
    "groups_mean",
    "normal_divergences",
    "yes_no_divergences",
]

_USED = 1e-7
"""A question with less weight is not used. HiGHS solves to tolerances of 1e-7."""


@dataclass(frozen=True)
class Mix:
    """How to ask about an item of one group: the share of its answers that each question gets."""

    rate: float
    """Nats per answer against the group hardest to exclude; infinite if an answer can be proof."""
    weights: dict[int, float]


def normal_divergences(means: ArrayLike, sigma: float = 1.0) -> Floats:
    r"""$D_q(g, h) = (\mu_{gq} - \mu_{hq})^2 / (2 \sigma^2)$ from K groups' means (K x questions).

    >>> normal_divergences([[0.0, 1.0], [2.0, 1.0]])[:, 0, 1]
    array([2., 0.])
    """
    check_positive("sigma", sigma)
    levels = _levels(means)
    return ((levels[:, :, np.newaxis] - levels[:, np.newaxis, :]) / sigma) ** 2 / 2


def yes_no_divergences(means: ArrayLike) -> Floats:
    r"""$D_q(g, h) = \mathrm{kl}(p_{gq}, p_{hq})$ from K groups' chances of a yes (K x questions).

    >>> yes_no_divergences([[0.85, 0.5], [0.15, 0.5]])[:, 0, 1].round(4)
    array([1.2142, 0.    ])
    """
    levels = chances(_levels(means))
    return bernoulli_kl(levels[:, :, np.newaxis], levels[:, np.newaxis, :])


def best_mixes(divergences: ArrayLike) -> tuple[Mix, ...]:
    """For each group the mix of questions with the best rate; ``divergences`` is questions x K x K.

    Three groups, each apart from the two others on a question of its own. An item of group 0 needs
    its own question alone, which excludes both others at once.

    >>> mixes = best_mixes(normal_divergences(2 * np.eye(3)))
    >>> mixes[0]
    Mix(rate=2.0, weights={0: 1.0})
    """
    told = np.asarray(divergences, dtype=np.float64)
    square = told.ndim == 3 and told.shape[1] == told.shape[2] >= 2 and len(told) > 0
    if not square or not (told >= 0).all():
        raise InvalidInput(
            "divergences must be questions x groups x groups, none negative",
            f"shape {told.shape}",
            "make them with normal_divergences or yes_no_divergences",
        )
    found = tuple(_best_mix(np.delete(told[:, g], g, axis=1)) for g in range(told.shape[1]))
    if any(mix.rate == 0 for mix in found):
        raise InvalidInput(
            "every two groups must differ on some question",
            "two that differ on none",
            "groups that differ nowhere cannot be told apart",
        )
    return found


def _best_mix(against: Floats) -> Mix:
    """The best mix against the other groups (``against`` is questions x groups).

    A group that one answer can exclude for certain does not matter: any weight on that question
    makes its rate infinite.
    """
    slow = against[:, np.isfinite(against).all(axis=0)]
    if slow.shape[1] == 0:
        sure = np.unique(np.isinf(against).argmax(axis=0))
        return Mix(math.inf, {int(q): 1 / len(sure) for q in sure})
    questions, groups = slow.shape
    scale = slow.max()  # the solver's tolerances are absolute
    if slow.max(axis=0).min() == 0:
        return Mix(0.0, {})
    solved = scipy.optimize.linprog(
        np.append(np.zeros(questions), -1.0),
        A_ub=np.column_stack([-slow.T / scale, np.ones(groups)]),
        b_ub=np.zeros(groups),
        A_eq=np.append(np.ones(questions), 0.0)[np.newaxis],
        b_eq=[1.0],
        bounds=(0, None),
        method="highs-ds",  # simplex: a vertex, hence few questions
    )
    assert solved.x is not None  # any mix is feasible, and no rate is above the largest divergence
    weights = solved.x[:-1]
    used = np.flatnonzero(weights > _USED)
    return Mix(float((slow.T @ weights).min()), {int(q): float(weights[q]) for q in used})


def groups_mean(items: int, mixes: Sequence[Mix], delta: float) -> Bound:
    r"""$E[T] \ge \frac{n-K}{\max_g \rho_g}\,\mathrm{kl}(1-\delta, \frac{\delta}{n-K})$.

    >>> print(groups_mean(30, best_mixes(normal_divergences(2 * np.eye(3))), delta=0.05))
    Groups, mean: mean answers >= 78.01
    """
    _check_items(items, mixes)
    check_delta(delta)
    left, rate = items - len(mixes), max(mix.rate for mix in mixes)
    void = (
        "void: an item of each group is known, and no other is left"
        if left == 0
        else "void: one answer can be proof"
        if math.isinf(rate)
        else "void at this delta: 1 - delta is not above delta/(n-K)"
        if 1 - delta <= delta / left
        else None
    )
    return Bound(
        name="Groups, mean",
        kind="lower",
        value=0.0 if void else left / rate * binary_kl(1 - delta, delta / left),
        of="mean answers",
        when="averaged over all label vectors, one item of each group known; means may be told",
        formula="(n-K)/max rate kl(1-delta, delta/(n-K))",
        reference="askfew.theory.exclusion",
        void=void,
    )


def groups_forecast(items: int, mixes: Sequence[Mix], delta: float) -> Bound:
    r"""About $\frac nK \sum_g \frac{1}{\rho_g} \log\frac n\delta$ if groups have equal sizes.

    Labelling by exclusion at the best rate, as if the means were known. Search and references come
    on top.

    >>> print(groups_forecast(30, best_mixes(normal_divergences(2 * np.eye(3))), delta=0.05))
    Groups, labelling: answers at the best rate about 95.95
    """
    _check_items(items, mixes)
    check_delta(delta)
    each = float(np.mean([1 / mix.rate for mix in mixes]))
    return Bound(
        name="Groups, labelling",
        kind="forecast",
        value=items * each * math.log(items / delta),
        of="answers at the best rate",
        when="a forecast, not a bound: groups of equal size, means known, nothing to search",
        formula="n log(n/delta) mean(1/rate)",
        reference="askfew.theory.exclusion",
    )


def _levels(means: ArrayLike) -> Floats:
    """The means as questions x groups, checked."""
    levels = np.asarray(means, dtype=np.float64)
    if levels.ndim != 2 or len(levels) < 2 or levels.shape[1] < 1 or not np.isfinite(levels).all():
        raise InvalidInput(
            "means must be a table of finite numbers, a row for each of two or more groups",
            f"shape {levels.shape}",
            "give each group's mean on every question",
        )
    return levels.T


def _check_items(items: int, mixes: Sequence[Mix]) -> None:
    if items < len(mixes):
        raise InvalidInput(
            f"{len(mixes)} groups need at least as many items", items, "count the items"
        )
