r"""Lower bounds if the gap may be known but the levels are not: labelling must learn them, too.

The labelling bound lets a method know both groups' means. Here it knows how far they lie apart
and on which questions, but not the *location*: the mean of label g on question j is
$c_j + \Delta_j g$ with c unknown. Answers are normal. That costs a factor n/(n-1) more, and is
without two items that are known to differ.

The family: labels g uniform on the M vectors of $\{0,1\}^n$ that leave at least r items in each
group, and $c = c_0 + u\Delta$ with u on the grid $0, \tau, \dots, (L-1)\tau$. *Flip* item k and
shift the location: from 0 to 1 with u reduced by $\tau$, from 1 to 0 with u raised by it; flips
that leave the family are left out. A flip undone is a flip. Look at the event "the method says
the partition g".

- Under (g, u) its chance is at least $1 - \delta$.
- Under the flipped world it averages to at most $\delta/m'$, $m'$ the flips per world: renaming, it
  is the chance under (g, u) of saying g with item k flipped, and for $n \ge 3$ these are disjoint
  errors for different k. (That is why the shift is the same for all k. With the best shift for
  each k, as one is tempted to take, the errors belong to different worlds and do not add up.)
- A flip moves item k's mean by $(1-\tau)\Delta_j$ and all others' by $\tau\Delta_j$. With $N_{kj}$
  answers expected about k on j, the divergences of all n flips of a world sum to
  $\sum_j \frac{\Delta_j^2}{2\sigma^2} \sum_k \big(N_{kj}(1-\tau)^2 + (N_j - N_{kj})\tau^2\big)
  = \sum_j \frac{\Delta_j^2}{2\sigma^2} N_j (1 - 2\tau + n\tau^2)$, whoever is asked. With
  $\tau = 1/n$ that is at most $\frac{\Delta_{(1)}^2}{2\sigma^2} N \frac{n-1}{n}$.

kl is jointly convex and below the divergence, hence on average over the family
$N \ge \frac{2\sigma^2}{\Delta_{(1)}^2} \frac{n}{n-1}\, m'\,\mathrm{kl}(1-\delta, \delta/m')$.
There are $m' = m (1 - 1/L)$ flips per world, m of them per label vector, and L is as large as one
likes: so the bound holds with m, averaged over labels and a long range of locations, hence for
some location. A shift-equivariant method pays it at every location.
With r = 1 (neither group empty) $m = n (1 - 1/(2^{n-1}-1))$.

*Untold gap.* A method that must be right for every gap too can be compared with worlds of a gap
smaller by $1-\tau$: the flipped item's new group moves towards it by $\tau\Delta$, the other stays.
The divergences of the n flips of a world then sum to $\frac{\Delta_j^2}{2\sigma^2}$ times
$N_j(1-\tau)^2 + \tau^2 (n_0 N_{1j} + n_1 N_{0j}) \le N_j \big((1-\tau)^2 + \tau^2 (n-r)\big)$, and
$\tau = 1/(n-r+1)$ makes the factor $1 + 1/(n-r)$. Its flips lead to the same label vectors, at the
smaller gap and at L + 1 locations. The nearer r is to n/2, the nearer the factor is to 1 + 2/n,
but the fewer flips stay in the family: the best r is taken. (The factor 1 + 2/n itself, for labels
that are exactly balanced, is not proven with it: all their flips are unbalanced label vectors, each
reached by n/2 + 1 flips only, and what is left is $\mathrm{kl}(1-\delta, 2\delta/(n+2))$.)
"""

from __future__ import annotations

import numpy as np
import scipy

from askfew.theory.bound import Bound
from askfew.theory.divergence import bernoulli_kl, normal_divergence
from askfew.theory.gaps import Floats
from askfew.theory.lower import why_no_labelling

__all__ = ["told_gap_mean", "untold_gap_mean"]


def told_gap_mean(items: int, gap: float, delta: float, sigma: float = 1.0) -> Bound:
    r"""$E[T] \ge \frac{2\sigma^2}{\Delta_{(1)}^2} \frac{n}{n-1}\, m\,\mathrm{kl}(1-\delta,
    \frac{\delta}{m})$, the gap told. m is nearly n unless items are few.

    >>> print(told_gap_mean(items=20, gap=2.0, delta=0.05))
    Gap told, mean: mean answers >= 57.83
    """
    return _bound(
        "Gap told, mean",
        items,
        gap,
        delta,
        sigma,
        most_lopsided=1,
        when="normal answers, gap told, location not: averaged over label vectors, for some"
        " location, and for every one if the method shifts with the answers",
        formula="2 sigma^2/Delta^2 n/(n-1) m kl(1-delta, delta/m), m = n (1 - 1/(2^(n-1) - 1))",
    )


def untold_gap_mean(items: int, gap: float, delta: float, sigma: float = 1.0) -> Bound:
    r"""As told, with $1 + 1/(n-r)$ for $n/(n-1)$: for many items nearly $1 + 2/n$.

    >>> print(untold_gap_mean(items=20, gap=2.0, delta=0.05))
    Gap untold, mean: mean answers >= 58.24
    """
    return _bound(
        "Gap untold, mean",
        items,
        gap,
        delta,
        sigma,
        most_lopsided=max(items // 2, 1),
        when="normal answers, right for every gap and location: averaged over label vectors with"
        " {r} or more items in each group, for some location",
        formula="2 sigma^2/Delta^2 max over r of (1 + 1/(n-r)) m kl(1-delta, delta/m)",
    )


def _bound(
    name: str,
    items: int,
    gap: float,
    delta: float,
    sigma: float,
    *,
    most_lopsided: int,
    when: str,
    formula: str,
) -> Bound:
    divergence = normal_divergence(gap, sigma)
    void = why_no_labelling(items, divergence, delta)
    smaller = np.arange(1.0, most_lopsided + 1)
    values = np.zeros(1) if void else _values(items, smaller, delta)
    best = int(np.argmax(values))
    if not void and values[best] == 0:
        void = "void at this delta: 1 - delta is not above delta/m"
    return Bound(
        name=name,
        kind="lower",
        value=float(values[best]) / divergence,
        of="mean answers",
        when=when.format(r=best + 1),
        formula=formula,
        reference="askfew.theory.location",
        void=void,
    )


def _values(n: int, r: Floats, delta: float) -> Floats:
    """The bound times the divergence, for each size r of the smallest group; 0 where void."""
    m = _flips(n, r)
    usable = (1 - delta) * m > delta
    wrong = np.where(usable, delta / np.maximum(m, 1e-300), 1 - delta)
    return (1 + 1 / (n - r)) * m * bernoulli_kl(np.full_like(m, 1 - delta), wrong)


def _flips(n: int, r: Floats) -> Floats:
    """Flips per label vector that leave at least r items in each group."""
    at_edge = np.exp(
        scipy.special.gammaln(n + 1)
        - scipy.special.gammaln(r + 1)
        - scipy.special.gammaln(n - r + 1)
        - n * np.log(2)
    )
    inside = 1 - 2 * scipy.special.bdtr(r - 1, n, 0.5)
    return np.asarray(np.maximum(n - 2 * r * at_edge / inside, 0.0))
