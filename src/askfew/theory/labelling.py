r"""Lower bounds of ours for two groups: what labelling costs, and that everyone must be asked.

Two items are known to differ; the other m = n - 2 labels are uniform on the $2^m$ vectors g.

*Labelling* costs like $\log(n/\delta)$ per item, where the paper's Theorem 4.1 has
$\log(1/\delta)$. Write $g^k$ for g with item k flipped, and look at the event "the method says g".

- Under g its chance is at least $1 - \delta$ on average.
- Under $g^k$ it averages, over g and k, to at most $\delta/m$: renaming, it is the chance under
  g of saying $g^k$, these are disjoint errors for different k, and errors sum to $\delta$.
- The laws of all answers under g and $g^k$ differ on item k alone, so their divergence is at most
  $D\,E_g[T_k]$ with $T_k$ the answers about k; it is at least the binary kl of the two chances.

kl is jointly convex, so that kl is on average at least $\mathrm{kl}(1-\delta, \delta/m)$
as long as $1 - \delta \ge \delta/m$, and the $T_k$ sum to at most T. Errors, too, count only on
average: nothing is asked of a single label vector.

*Everyone asked.* An item that is never asked about is labelled by a guess. Given all answers, the
labels of J items never asked are still uniform and independent, so all labels are right with chance
at most $2^{-J}$. That holds for any answers, noiseless ones too.
"""

from __future__ import annotations

import math

from askfew.theory.bound import Bound, check_delta, check_items, too_few_items
from askfew.theory.divergence import binary_kl
from askfew.theory.lower import why_no_labelling

__all__ = ["everyone_asked", "labelling_mean", "labelling_quantile", "never_asked"]

_RANDOM_LABELS = (
    "averaged over all label vectors, two items known to differ; no bound for one skewed vector"
)
_ANY_ANSWERS = "averaged over all label vectors, two items known to differ; any kind of answers"


def labelling_mean(items: int, divergence: float, delta: float) -> Bound:
    r"""$E[T] \ge \frac{n-2}{D}\,\mathrm{kl}(1-\delta, \frac{\delta}{n-2})$, labels uniform.

    With normal answers $1/D = 2 \sigma^2 / \Delta_{(1)}^2$. It says something for
    $\delta < (n-2)/(n-1)$, which from four items on covers every $\delta \le 1/2$.

    >>> from askfew.theory import normal_divergence
    >>> print(labelling_mean(items=20, divergence=normal_divergence(gap=2.0), delta=0.05))
    Labelling, mean: mean answers >= 48.54
    """
    void = why_no_labelling(items, divergence, delta) or _too_lax(
        "1 - delta", 1 - delta, items, delta
    )
    return Bound(
        name="Labelling, mean",
        kind="lower",
        value=0.0 if void else _cost(1 - delta, items, divergence, delta),
        of="mean answers",
        when=_RANDOM_LABELS,
        formula="(n-2)/D kl(1-delta, delta/(n-2))",
        reference="askfew.theory.labelling",
        void=void,
    )


def labelling_quantile(items: int, divergence: float, delta: float) -> Bound:
    r"""$(1-\delta)$-quantile $\ge \frac{n-2}{D}\,\mathrm{kl}(1-2\delta, \frac{\delta}{n-2})$.

    The quantile of T when the labels are uniform, hence of T under at least one label vector. As
    for the mean, with the event "says g before x", whose chance under g is above $1 - 2\delta$
    if T reaches x with a chance below $\delta$. It says something for $\delta < (n-2)/(2n-3)$,
    at three items 1/3.

    >>> from askfew.theory import normal_divergence
    >>> print(labelling_quantile(items=20, divergence=normal_divergence(gap=2.0), delta=0.05))
    Labelling, quantile: (1 - delta)-quantile of answers >= 44.75
    """
    void = why_no_labelling(items, divergence, delta) or _too_lax(
        "1 - 2 delta", 1 - 2 * delta, items, delta
    )
    return Bound(
        name="Labelling, quantile",
        kind="lower",
        value=0.0 if void else _cost(1 - 2 * delta, items, divergence, delta),
        of="(1 - delta)-quantile of answers",
        when=_RANDOM_LABELS,
        formula="(n-2)/D kl(1-2 delta, delta/(n-2))",
        reference="askfew.theory.labelling",
        void=void,
    )


def _cost(right: float, items: int, divergence: float, delta: float) -> float:
    open_items = items - 2
    return open_items / divergence * binary_kl(right, delta / open_items)


def _too_lax(name: str, right: float, items: int, delta: float) -> str | None:
    # Beyond this point kl no longer falls as the allowed error grows, and the argument fails.
    if right > delta / (items - 2):
        return None
    return f"void at this delta: {name} is not above delta/(n-2)"


def never_asked(items: int, delta: float) -> Bound:
    r"""At most a share $2\delta$ of the runs may leave an item out: such a run errs half the time.

    >>> print(never_asked(items=20, delta=0.05))
    Left out: share of runs that never ask some item <= 0.1
    """
    void = _too_few(items, delta) or (
        "void at this delta: 2 delta is at least 1" if 2 * delta >= 1 else None
    )
    return Bound(
        name="Left out",
        kind="upper",
        value=math.inf if void else 2 * delta,
        of="share of runs that never ask some item",
        when=_ANY_ANSWERS,
        formula="2 delta",
        reference="askfew.theory.labelling",
        unit="share",
        void=void,
    )


def everyone_asked(items: int, delta: float) -> Bound:
    r"""$E[T] \ge (n-2)\big(1 - \delta / (1 - 2^{-(n-2)})\big)$, whatever the gap.

    J is convex in $1 - 2^{-J}$, whose mean is at most delta: the cheapest method asks about all
    items, or with chance $\delta / (1 - 2^{-m})$ about none, and with noiseless answers that
    method reaches the bound.

    >>> print(everyone_asked(items=20, delta=0.05))
    Everyone asked: mean answers >= 17.1
    """
    void = _too_few(items, delta)
    guessed = 0.0 if void else -math.expm1(-(items - 2) * math.log(2))
    if not void and delta >= guessed:
        void = "void at this delta: guessing all labels is good enough"
    return Bound(
        name="Everyone asked",
        kind="lower",
        value=0.0 if void else (items - 2) * (1 - delta / guessed),
        of="mean answers",
        when=_ANY_ANSWERS,
        formula="(n-2) (1 - delta/(1 - 2^-(n-2)))",
        reference="askfew.theory.labelling",
        void=void,
    )


def _too_few(items: int, delta: float) -> str | None:
    check_items(items)
    check_delta(delta)
    return too_few_items(items)
