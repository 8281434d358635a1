"""What many runs say: cost over finished runs, and an error rate with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from askfew.simulation.runs import Run

__all__ = ["Summary", "error_interval"]


def error_interval(errors: int, runs: int, level: float = 0.95) -> tuple[float, float]:
    """Clopper-Pearson interval of an error rate.

    >>> low, high = error_interval(0, 100)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    tail = (1 - level) / 2  # scipy.stats has this ready, but takes a second to import
    low = betaincinv(errors, runs - errors + 1, tail) if errors > 0 else 0.0
    high = betaincinv(errors + 1, runs - errors, 1 - tail) if errors < runs else 1.0
    return float(low), float(high)


@dataclass(frozen=True)
class Summary:
    """Cost and error of a set of runs. Unfinished runs count as errors and are never dropped.

    Means and quantiles of answers are over finished runs (None if there is none), except
    ``mean_answers_all``.
    """

    mean_answers: float | None
    mean_answers_all: float
    median_answers: float | None
    q05_answers: float | None
    q95_answers: float | None
    max_answers_seen: int
    errors: int
    error_rate: float
    error_interval: tuple[float, float]
    unfinished: int
    mean_batches: float

    @classmethod
    def of(cls, runs: Sequence[Run]) -> Summary:
        """The summary of some runs, at least one."""
        answers = np.array([run.answers for run in runs])
        finished = answers[[run.status == "done" for run in runs]]
        errors = sum(not run.correct for run in runs)
        q05, median, q95 = np.quantile(finished, [0.05, 0.5, 0.95]) if len(finished) else [None] * 3
        return cls(
            mean_answers=float(finished.mean()) if len(finished) else None,
            mean_answers_all=float(answers.mean()),
            median_answers=None if median is None else float(median),
            q05_answers=None if q05 is None else float(q05),
            q95_answers=None if q95 is None else float(q95),
            max_answers_seen=int(answers.max()),
            errors=errors,
            error_rate=errors / len(runs),
            error_interval=error_interval(errors, len(runs)),
            unfinished=len(runs) - len(finished),
            mean_batches=float(np.mean([run.batches for run in runs])),
        )
