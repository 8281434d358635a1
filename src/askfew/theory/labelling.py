r"""What labelling really pays, ours: like $\log(n/\delta)$ an item, where Theorem 4.1 has
$\log(1/\delta)$.

Two items are known to differ; the other m = n - 2 labels are uniform on the $2^m$ vectors g.
Write $g^k$ for g with item k flipped, and look at the event "the method says g".

- Under g its chance is at least $1 - \delta$ on average.
- Under $g^k$ it averages, over g and k, to at most $\delta/m$: renaming, it is the chance under
  g of saying $g^k$, these are disjoint errors for different k, and errors sum to $\delta$.
- The laws of all answers under g and $g^k$ differ on item k alone, so their divergence is at most
  $D\,E_g[T_k]$ with $T_k$ the answers about k; it is at least the binary kl of the two chances.

kl is jointly convex, so that kl is on average at least $\mathrm{kl}(1-\delta, \delta/m)$
as long as $1 - \delta \ge \delta/m$, and the $T_k$ sum to at most T. Nothing is asked of a
single label vector: errors count on average too.
"""

from __future__ import annotations

from askfew.theory.bound import Bound
from askfew.theory.divergence import binary_kl
from askfew.theory.lower import why_no_labelling

__all__ = ["labelling_mean", "labelling_quantile"]

_RANDOM_LABELS = (
    "averaged over all label vectors, two items known to differ; no bound for one skewed vector"
)


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
    # From here on kl no longer falls with the allowed error, and the argument ends.
    if right > delta / (items - 2):
        return None
    return f"void at this delta: {name} is not above delta/(n-2)"
