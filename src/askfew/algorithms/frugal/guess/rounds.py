"""Which candidates a round samples again, and which of them leads."""

from __future__ import annotations

import math

import numpy as np

from askfew.algorithms.frugal.guess.pool import Pool
from askfew.algorithms.frugal.guess.posterior import Posterior
from askfew.records import Floats, Ints

__all__ = ["plan_round", "samples_wanted"]

_LEADS = 0.3
"""The probability of a difference from which on a candidate may lead and be registered."""
_LIKELY = 0.2
"""The probability from which on a candidate is sampled as if to be confirmed at once."""
_CONFIRM = 5.0
"""Nats of hindsight such a candidate is given the samples for."""
_SURE = 0.9
"""The probability from which on the leader is sampled alone: its rivals wait."""
_PROMOTED = 0.15
"""Share of a round that is sampled again in any case."""


def plan_round(
    pool: Pool, now: Posterior, budget: int, most: float = math.inf
) -> tuple[Ints, Ints, int | None]:
    """Rows to sample again, how often, and the leader; what is left of the budget is for new ones.

    A candidate is sampled again if that promises more than a new one, best first; but not while it
    seems to need more than ``most`` samples yet: no cell is asked very often in vain.
    """
    order = np.argsort(-now.values, kind="stable")
    order = order[(now.values[order] > now.new) & (_to_confirm(pool)[order] <= most)]
    if len(order) and now.chances[order[0]] > _SURE:
        order = order[:1]
    wanted = samples_wanted(pool, now)[order]
    granted = np.clip(budget - (np.cumsum(wanted) - wanted), 0, wanted).astype(np.int64)
    rows, sizes = order[granted > 0], granted[granted > 0]
    spare = math.ceil(_PROMOTED * budget) - int(sizes.sum())
    if spare > 0 and pool.size:
        promoted, extra = _promotions(pool, spare, most)
        new = ~np.isin(promoted, rows)
        rows, sizes = np.append(rows, promoted[new]), np.append(sizes, extra[new])
    leads = len(rows) > 0 and now.chances[rows[0]] > _LEADS
    return rows, sizes, int(rows[0]) if leads else None


def _promotions(pool: Pool, budget: int, most: float) -> tuple[Ints, Ints]:
    """Double the samples, below ``most``, of each rung's best half; all rungs share the budget.

    Candidates with at least 2^r samples stand on rung r. The posterior believes in sigma and in one
    gap; where that is far off they may wait for ever, and this will not.
    """
    samples, scores = pool.samples, pool.scores
    rungs = np.maximum(np.frexp(samples)[1] - 1, 0)
    extra = np.zeros(pool.size, dtype=np.int64)
    left, deepest = float(budget), int(rungs.max())
    for rung in range(deepest, -1, -1):
        here = np.flatnonzero((rungs >= rung) & (scores > -math.inf))
        best = here[np.argsort(-scores[here], kind="stable")][: (len(here) + 1) // 2]
        due = best[(rungs[best] == rung) & (samples[best] < most)]
        share = left - budget * rung / (deepest + 1)  # what deeper rungs did not use comes along
        wanted = 2.0 ** (rung + 1) - samples[due]
        extra[due] = np.clip(share - (np.cumsum(wanted) - wanted), 0, wanted).astype(np.int64)
        left -= extra[due].sum()
    rows = np.flatnonzero(extra)
    return rows, extra[rows]


def samples_wanted(pool: Pool, now: Posterior) -> Floats:
    """How many samples each candidate should get next.

    Doubling keeps all that was learned in proportion; a likely one gets what would confirm it,
    because every round of waiting costs as much as the whole round.
    """
    likely = now.chances > _LIKELY
    return np.where(likely, np.maximum(pool.samples, _to_confirm(pool)), pool.samples)


def _to_confirm(pool: Pool) -> Floats:
    """How many more samples should confirm each candidate, if it goes on as it began."""
    return np.asarray(np.ceil(_CONFIRM * pool.samples / np.maximum(pool.scores - 1, 0.5)))
