"""What many runs say: cost over finished runs, and an error rate with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from askfew.simulation.runs import Run

__all__ = ["RunSummary", "error_interval"]


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
class RunSummary:
    """Cost and error of a set of runs.

    Means and quantiles of answers are over finished runs (None if there is none), except
    ``mean_answers_all``; everything else is over all runs. ``errors`` are runs with a wrong label,
    ``wrong_share`` is the mean share of wrong ones among the labels, ``decided`` the mean share of
    items with a label, ``class_accuracy`` the mean share of labels that agree with the planted
    groups (over the runs that have labels).
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
    decided: float
    wrong_share: float
    class_accuracy: float | None
    no_consensus: int
    unfinished: int
    mean_batches: float

    @classmethod
    def of(cls, runs: Sequence[Run]) -> RunSummary:
        """The summary of some runs, at least one."""
        answers = np.array([run.answers for run in runs])
        finished = answers[[run.finished for run in runs]]
        accuracies = [run.class_accuracy for run in runs if run.class_accuracy is not None]
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
            decided=float(np.mean([run.decided for run in runs])),
            wrong_share=float(np.mean([run.wrong_share for run in runs])),
            class_accuracy=float(np.mean(accuracies)) if accuracies else None,
            no_consensus=sum(run.status == "no-consensus" for run in runs),
            unfinished=len(runs) - len(finished),
            mean_batches=float(np.mean([run.batches for run in runs])),
        )
