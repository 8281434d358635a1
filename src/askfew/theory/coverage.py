r"""An item that is never asked about is labelled by a guess.

Two items are known to differ; the other m = n - 2 labels are uniform. Given all answers, the labels
of J items never asked are still uniform and independent, so all labels are right with chance
at most $2^{-J}$. That holds for any answers, noiseless ones too.
"""

from __future__ import annotations

import math

from askfew.theory.bound import Bound
from askfew.theory.checks import check_delta, check_items

__all__ = ["everyone_asked", "never_asked"]

_WHEN = "averaged over all label vectors, two items known to differ; any kind of answers"


def never_asked(items: int, delta: float) -> Bound:
    r"""At most a share $2\delta$ of the runs may leave an item out: such a run errs half the time.

    >>> print(never_asked(items=20, delta=0.05))
    Left out: share of runs that never ask some item <= 0.1
    """
    void = _why_void(items, delta) or (
        "void at this delta: 2 delta is at least 1" if 2 * delta >= 1 else None
    )
    return Bound(
        name="Left out",
        kind="upper",
        value=math.inf if void else 2 * delta,
        of="share of runs that never ask some item",
        when=_WHEN,
        formula="2 delta",
        reference="askfew.theory.coverage",
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
    void = _why_void(items, delta)
    guessed = 0.0 if void else -math.expm1(-(items - 2) * math.log(2))
    if not void and delta >= guessed:
        void = "void at this delta: guessing all labels is good enough"
    return Bound(
        name="Everyone asked",
        kind="lower",
        value=0.0 if void else (items - 2) * (1 - delta / guessed),
        of="mean answers",
        when=_WHEN,
        formula="(n-2) (1 - delta/(1 - 2^-(n-2)))",
        reference="askfew.theory.coverage",
        void=void,
    )


def _why_void(items: int, delta: float) -> str | None:
    check_items(items)
    check_delta(delta)
    return "void: two items need no answer" if items == 2 else None
