"""From evidence to labels: which items may be labelled, so that the promise holds.

*any*: all labels are right with probability at least 1 - delta. Each item has one true null at each
of the rule's nodes, so ``log(items * nodes / delta)`` is enough.

*share*: the expected share of wrong labels is at most delta (e-BH, Wang and Ramdas 2022): label the
k items with evidence at least ``log(items * nodes / (delta * k))``, k as large as possible. It
holds under any dependence. A labelled item's evidence must be frozen: then k never falls, and the
labels may be looked at, and the run stopped, at any time.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from askfew.records import Floats

__all__ = ["Error", "label_threshold"]

Error = Literal["any", "share"]


def label_threshold(
    evidence: Floats, error: Error, delta: float, *, items: int, nodes: int = 1
) -> float:
    """The nats that a label needs now; infinite if no item may be labelled.

    ``evidence`` has the best label's nats of every item that is in the running; ``items`` is how
    many there are in all, fixed before the first answer.

    >>> label_threshold(np.array([9.0, 4.0, 1.0]), "any", 0.05, items=3) == math.log(3 / 0.05)
    True
    >>> round(label_threshold(np.array([9.0, 4.0, 1.0]), "share", 0.05, items=3), 2)  # k = 2
    3.4
    """
    alone = math.log(items * nodes / delta)
    if error == "any":
        return alone
    best = np.sort(evidence)[::-1]
    enough = np.flatnonzero(best >= alone - np.log(np.arange(1, len(best) + 1)))
    return alone - math.log(enough[-1] + 1) if len(enough) else math.inf
