"""Uniform sampling: every cell equally often, within a fixed budget."""

from __future__ import annotations

import numpy as np

from askfew.errors import InvalidInput, MissingExtra
from askfew.records import Batch, Floats, Ints, Problem, Procedure, Snapshot

__all__ = ["labelled_from_zero", "require_scikit_learn", "uniform_means"]

_ROWS = 1_000_000
"""Cells in one Batch, so that a large table does not need a large memory at once."""


def uniform_means(
    problem: Problem, budget: int, rng: np.random.Generator, *, whole_sweeps: bool
) -> Procedure[Floats]:
    """The mean answer of every cell that was asked, as a matrix items x asked questions.

    A sweep asks every cell once. What is left of the budget after whole sweeps buys one more answer
    on as many random questions as it can, unless ``whole_sweeps`` says to leave it unspent.
    A cell nobody answered gets the mean of its question.
    """
    require_scikit_learn()
    n, d = problem.items, problem.questions
    sweeps, extra = divmod(budget // n, d)
    if whole_sweeps:
        extra = 0
    if sweeps + extra == 0:
        least = n * d if whole_sweeps else n
        raise InvalidInput(
            f"budget must be at least {least:,}, to ask something of every item",
            f"{budget:,}",
            "raise the budget",
        )
    repeats = np.full(d, sweeps)
    repeats[rng.permutation(d)[:extra]] += 1
    asked = np.flatnonzero(repeats)
    means = np.empty((n, len(asked)))
    known = Snapshot("uniform sampling", np.full(n, -1))
    for items in np.array_split(np.arange(n), -(-n * len(asked) // _ROWS)):
        tally = yield Batch(
            np.repeat(items, len(asked)),
            np.tile(asked, len(items)),
            np.tile(repeats[asked], len(items)),
            f"ask {len(items)} items each of {len(asked)} questions",
            known,
        )
        with np.errstate(invalid="ignore"):
            means[items] = (tally.sums / tally.counts).reshape(len(items), -1)
    return _filled(means)


def require_scikit_learn() -> None:
    """Say so if it is missing, before the budget is spent."""
    try:
        import sklearn.cluster  # noqa: F401
    except ImportError as error:
        raise MissingExtra(
            "the baselines need scikit-learn", "no such package", "pip install 'askfew[baselines]'"
        ) from error


def labelled_from_zero(labels: Ints) -> Ints:
    """The same two groups, named so that item 0 has label 0."""
    return np.asarray(labels != labels[0], dtype=np.int64)


def _filled(means: Floats) -> Floats:
    holes = np.isnan(means)
    if not holes.any():
        return means
    answered = np.maximum((~holes).sum(axis=0), 1)
    column = np.where(holes, 0.0, means).sum(axis=0) / answered
    return np.where(holes, column, means)
