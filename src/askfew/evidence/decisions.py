"""From evidence to decisions: rounding that is the same everywhere, and the threshold of a label.

*any*: all labels are right with probability at least 1 - delta. Each item has one true null at each
of the rule's nodes, so ``log(items * nodes / delta)`` is enough (a union bound over Ville's
inequality).

*share*: the expected share of wrong labels is at most delta (e-BH, Wang and Ramdas 2022): label the
k items with evidence at least ``log(items * nodes / (delta * k))``, k as large as possible. It
holds under any dependence. A labelled item's evidence must be frozen: then k never falls, and the
labels may be looked at, and the run stopped, at any time.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from askfew.records import Floats

__all__ = ["Error", "label_threshold", "nine_digits"]

Error = Literal["any", "share"]

_STEPS = 2.0**30
"""Thirty bits of the mantissa are kept: a little more than nine decimal digits."""


def nine_digits(values: ArrayLike) -> Floats:
    """The values rounded to nine significant digits; decisions compare these.

    NumPy's log and exp differ in the last bit between CPU generations. A decision that compared raw
    scores could fall differently on another machine, and a campaign resumed there would not replay.

    >>> bool(nine_digits(0.1 + 0.2) == nine_digits(0.3))
    True
    """
    # Thirty bits of the mantissa instead of nine decimals: scaling by a power of two is exact.
    mantissa, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    return np.asarray(np.ldexp(np.rint(mantissa * _STEPS) / _STEPS, exponent))[()]


def label_threshold(
    evidence: Floats, error: Error, delta: float, *, items: int, nodes: int = 1
) -> float:
    """The nats that a label needs now; infinite if no item may be labelled.

    ``evidence`` holds, for every candidate item, the nats of its best label. ``items`` is how many
    there are in all, fixed before the first answer.

    >>> label_threshold(np.array([9.0, 4.0, 1.0]), "any", 0.05, items=3) == math.log(3 / 0.05)
    True
    >>> round(label_threshold(np.array([9.0, 4.0, 1.0]), "share", 0.05, items=3), 2)  # k = 2
    3.4
    """
    alone = math.log(items * nodes / delta)
    if error == "any":
        return alone
    best = np.sort(evidence)[::-1]
    # e-BH takes the largest k whose k-th best passes, even if an earlier one does not.
    enough = np.flatnonzero(best >= alone - np.log(np.arange(1, len(best) + 1)))
    return alone - math.log(enough[-1] + 1) if len(enough) else math.inf
