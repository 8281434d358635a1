"""Which candidates a round samples again, and which of them leads."""

from __future__ import annotations

import math

import numpy as np

from askfew.algorithms.frugal.pool import Pool
from askfew.algorithms.frugal.prospects import Prospects
from askfew.evidence import nine_digits
from askfew.records import Floats, Ints

__all__ = ["plan_round", "samples_wanted"]

_LEADS = 0.3
"""The probability of a difference from which on a candidate may lead and be registered."""
_LIKELY = 0.2
"""The probability from which on a candidate is sampled as if to be confirmed at once."""
_CONFIRM = 5.0
"""Nats of hindsight such a candidate is given the samples for."""
_FAVOURITE = 0.15
"""Share of a round that goes to the favourite when nothing else is sampled again."""


def plan_round(pool: Pool, now: Prospects, budget: int) -> tuple[Ints, Ints, int | None]:
    """Rows to sample again, how often, and the leader; what is left of the budget is for new ones.

    A candidate is sampled again if that promises more than a new one, best first.
    """
    order = np.argsort(-now.values, kind="stable")
    order = order[now.values[order] > now.new]
    wanted = samples_wanted(pool, now)[order]
    granted = np.clip(budget - (np.cumsum(wanted) - wanted), 0, wanted).astype(np.int64)
    rows, sizes = order[granted > 0], granted[granted > 0]
    spare = math.ceil(_FAVOURITE * budget) - int(sizes.sum())
    if spare > 0 and (favourite := _favourite(pool)) is not None and favourite not in rows:
        size = min(spare, math.ceil(pool.samples[favourite]))
        rows, sizes = np.append(rows, favourite), np.append(sizes, size)
    leads = len(rows) > 0 and now.chances[rows[0]] > _LEADS
    return rows, sizes, int(rows[0]) if leads else None


def _favourite(pool: Pool) -> int | None:
    """The candidate whose score most exceeds what chance shows among as many, right or wrong.

    Prospects believe in sigma. Where the noise is far smaller, nothing looks promising to them for
    ever; sampling this one all the same ends that.
    """
    if pool.size == 0:
        return None
    rungs = np.maximum(np.frexp(pool.samples)[1] - 1, 0)
    as_deep = np.cumsum(np.bincount(rungs)[::-1])[::-1][rungs]
    score = nine_digits(pool.scores - np.log(as_deep))
    row = int(np.argmax(score))
    return row if score[row] > -math.inf else None


def samples_wanted(pool: Pool, now: Prospects) -> Floats:
    """How many samples each candidate should get next.

    Doubling keeps all that was learned in proportion; a likely one gets what would confirm it,
    because every round of waiting costs as much as the whole round.
    """
    finish = np.ceil(_CONFIRM * pool.samples / np.maximum(pool.scores - 1, 0.5))
    return np.where(now.chances > _LIKELY, np.maximum(pool.samples, finish), pool.samples)
