"""What each group answers on one question, and what labelling by that question would cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from askfew.answers import AnswerKind
from askfew.evidence import log_evidence
from askfew.records import Floats

__all__ = ["Levels", "labelling_cost", "rate"]


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

    @property
    def expected(self) -> Floats:
        """The means as they were when the question was chosen."""
        return self.prior_sums / np.maximum(self.prior_counts, 1)

    @property
    def means(self) -> Floats:
        """The means as they look now."""
        return (self.prior_sums + self.sums) / np.maximum(self.prior_counts + self.counts, 1)

    def smallest_gap(self, sigma: float, sure: float) -> tuple[float, float]:
        """Limits of the references' gap as a share of the expected, for the pair that keeps least.

        The limits lie ``sure`` standard errors below and above; no references yet: no limits.
        """
        limits = (-math.inf, math.inf)
        if (self.counts == 0).any():
            return limits
        seen, hoped = self.sums / self.counts, self.expected
        for one, other in combinations(range(len(hoped)), 2):
            width = sure * sigma * math.sqrt(1 / self.counts[one] + 1 / self.counts[other])
            gap, hope = seen[one] - seen[other], hoped[one] - hoped[other]
            kept = (gap / hope - width / abs(hope), gap / hope + width / abs(hope))
            limits = min(limits, kept, key=lambda each: each[1])
        return limits


def rate(answers: AnswerKind, mean_x: float, mean_r: float, ratio: float) -> float:
    """Expected evidence an answer of the item adds, with ``ratio`` answers of the reference to it.

    >>> from askfew.answers import Number
    >>> rate(Number(1.0), 2.0, 0.0, ratio=1.0)
    1.0
    """
    return float(log_evidence(answers, mean_x, mean_r, mean_x, 1.0, mean_r * ratio, ratio))


def labelling_cost(gap: ArrayLike, items: int, threshold: float) -> Floats:
    """Answers it takes to label ``items`` items, half of them in each group, at a gap in sigmas.

    >>> labelling_cost(1.0, items=18, threshold=6.0)
    np.float64(384.0)
    """
    ratio = math.sqrt(max(items / 2, 1))
    answers = 2 * threshold * (1 + 1 / ratio) / np.maximum(np.square(gap), 1e-12)
    return np.asarray(items * (1 + 1 / ratio) * np.maximum(answers, 1.0))[()]
