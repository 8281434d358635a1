"""What each group answers on one question, and what labelling by that question would cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from askfew.answers import AnswerKind
from askfew.evidence import log_evidence
from askfew.records import Floats, Ints

__all__ = ["Levels", "labelling_cost", "rates"]


@dataclass
class Levels:
    """Answers of the groups on one question: those it was chosen by, and the references since.

    Bets look at both, the test for futility at the references alone.
    """

    question: int
    prior_counts: Floats
    prior_sums: Floats
    counts: Floats
    sums: Floats

    @classmethod
    def chosen(cls, question: int, counts: Floats, sums: Floats, shrink: float) -> Levels:
        """From the answers of the representatives that made us choose the question.

        Chosen because it looked large, the gap is expected to be ``shrink`` times what they say.
        """
        means = sums / np.maximum(counts, 1)
        means = means.mean() + shrink * (means - means.mean())
        return cls(question, counts, means * counts, *np.zeros((2, len(counts))))

    def record(self, groups: Ints, counts: Ints, sums: Floats) -> tuple[Floats, Floats]:
        """Add a step's references; returns how many each group gave, and their sum."""
        b = np.bincount(groups, counts, minlength=len(self.counts)).astype(np.float64)
        r = np.bincount(groups, sums, minlength=len(self.counts)).astype(np.float64)
        self.counts += b
        self.sums += r
        return b, r

    @property
    def expected(self) -> Floats:
        """The means as they were when the question was chosen."""
        return self.prior_sums / np.maximum(self.prior_counts, 1)

    @property
    def means(self) -> Floats:
        """The means as they look now."""
        return (self.prior_sums + self.sums) / np.maximum(self.prior_counts + self.counts, 1)

    def kept(self, sigma: float, sure: float) -> tuple[float, float]:
        """Limits of the references' gap as a share of the expected, where least of it is kept.

        The limits lie ``sure`` standard errors below and above; no references yet: no limits.
        """
        limits = (-math.inf, math.inf)
        if (self.counts == 0).any():
            return limits
        seen, hoped = self.sums / self.counts, self.expected
        for one, other in combinations(range(len(hoped)), 2):
            width = sure * sigma * math.sqrt(1 / self.counts[one] + 1 / self.counts[other])
            gap, hope = seen[one] - seen[other], hoped[one] - hoped[other]
            kept = (float(gap / hope - width / abs(hope)), float(gap / hope + width / abs(hope)))
            limits = kept if kept[1] < limits[1] else limits
        return limits


def rates(answers: AnswerKind, means: Floats, ratios: Floats) -> Floats:
    """Evidence against each group that an answer of an item of the nearest other group brings.

    For one answer of the item there are ``ratios`` answers of the group's references.

    >>> from askfew.answers import Number
    >>> rates(Number(1.0), np.array([0.0, 2.0]), ratios=np.ones(2))
    array([1., 1.])
    """
    item = np.broadcast_to(means[:, np.newaxis], (len(means), len(means)))
    found = log_evidence(answers, item, means, item, 1.0, means * ratios, ratios)
    np.fill_diagonal(found, math.inf)
    return np.asarray(found.min(axis=0))


def labelling_cost(gap: ArrayLike, items: int, threshold: float) -> Floats:
    """Answers it takes to label ``items`` items, half of them in each group, at a gap in sigmas.

    >>> labelling_cost(1.0, items=18, threshold=6.0)
    np.float64(384.0)
    """
    ratio = math.sqrt(max(items / 2, 1))
    answers = 2 * threshold * (1 + 1 / ratio) / np.maximum(np.square(gap), 1e-12)
    return np.asarray(items * (1 + 1 / ratio) * np.maximum(answers, 1.0))[()]
