"""The floor: what labelling costs if every group's mean answers are told."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from askfew.answers import AnswerKind, Number
from askfew.errors import InvalidInput
from askfew.evidence import nine_digits
from askfew.records import (
    Batch,
    Certificate,
    Finding,
    Floats,
    Ints,
    Problem,
    Procedure,
    Snapshot,
    renumbered,
)

__all__ = ["told_levels"]

_EDGE = 1e-6
"""Told chances stay this far from 0 and 1: one answer is never proof."""
_EAGER = 0.7
"""How sharply the choice of a question follows the group that is hardest to exclude. It is the
value of ``_FOCUS`` in frugal's ``guess/exclusion/step.py``; not tuned here."""


def told_levels(
    problem: Problem,
    delta: float,
    rng: np.random.Generator,  # noqa: ARG001 (nothing is left to chance)
    *,
    levels: ArrayLike,
) -> Procedure[Finding]:
    """Wald's sequential test of every item, told the ``levels``: groups x questions, their means.

    An item is labelled h once its answers are (K - 1) n / delta times likelier under h than under
    any other of the K groups: under its own group g, a likelihood ratio h : g reaches that with a
    chance of at most delta / ((K - 1) n) (Ville), so all labels are right with probability at least
    1 - delta. Nothing is searched: an item is asked the question that best tells its likeliest
    group from the others, where groups that are hard to exclude count most. For two groups that is
    always the best question, and the cost is that of the labelling bound but for the overshoot of
    the last answer. Answers on a scale count as parts of a yes. Nobody really knows the levels.
    """
    told = _checked(levels, problem)
    groups, n = len(told), problem.items
    needed = math.log(max(groups - 1, 1) * n / delta)
    told_apart = _divergences(problem.kind, told)
    informative = bool((told_apart.max(axis=2) + np.eye(groups) > 0).all())
    score = np.zeros((n, groups))
    labels = np.full(n, -1)
    silent = 0
    while (waiting := np.flatnonzero(labels < 0)).size and informative:
        questions = _chosen(score[waiting], told_apart)
        ones = np.ones_like(waiting)
        known = Snapshot("label", renumbered(labels), threshold=needed)
        tally = yield Batch(waiting, questions, ones, f"label {len(waiting)} items", known)
        score[waiting] += _log_likelihood(
            problem.kind, told[:, questions].T, tally.counts, tally.sums
        )
        silent = 0 if tally.answers else silent + 1
        if silent == 5:  # nobody answers any more
            break
        two = np.sort(score[waiting], axis=1)
        sure = nine_digits(two[:, -1] - two[:, -2]) >= nine_digits(needed)
        labels[waiting[sure]] = score[waiting[sure]].argmax(axis=1)
    decided = int((labels >= 0).sum())
    promise = Certificate(
        delta,
        f"The {decided} labels given are all right with probability at least {1 - delta:g}.",
        _assumptions(problem.kind),
    )
    return Finding(
        renumbered(labels),
        certificate=promise if decided else None,
        status="done" if decided == n else "stalled",
        groups=groups,
    )


def _assumptions(kind: AnswerKind) -> tuple[str, ...]:
    noise = (
        f"their noise is subGaussian with sigma = {kind.sigma:g}"
        if isinstance(kind, Number)
        else "they never leave their scale"
    )
    return (
        "the groups' mean answers are the ones told, and every item has those of one group",
        f"answers are independent, each with its cell's mean whatever was answered before; {noise}",
        "people may skip a question, but not because of what they would have answered",
    )


def _checked(levels: ArrayLike, problem: Problem) -> Floats:
    told = np.array(levels, dtype=np.float64)
    if told.ndim != 2 or len(told) < 2 or told.shape[1] != problem.questions:
        raise InvalidInput(
            f"levels must be groups x {problem.questions} questions, at least two groups",
            f"shape {told.shape}",
            "pass every group's mean answer to every question",
        )
    if not np.isfinite(told).all():
        raise InvalidInput("levels must be finite numbers", "others", "fix them")
    kind = problem.kind
    if isinstance(kind, Number):
        return told
    return np.asarray(np.clip((told - kind.low) / (kind.high - kind.low), _EDGE, 1 - _EDGE))


def _divergences(kind: AnswerKind, told: Floats) -> Floats:
    """What an answer tells of a group against another (groups x groups x questions)."""
    one, other = told[:, np.newaxis], told[np.newaxis]
    if isinstance(kind, Number):
        return np.asarray((one - other) ** 2 / (2 * kind.sigma**2))
    return np.asarray(one * np.log(one / other) + (1 - one) * np.log((1 - one) / (1 - other)))


def _chosen(score: Floats, told_apart: Floats) -> Ints:
    """The question for each item: multiplicative weights on the groups still to be excluded."""
    lean = nine_digits(score).argmax(axis=1)
    questions = np.zeros(len(score), dtype=np.int64)
    for group in np.unique(lean):
        rows = np.flatnonzero(lean == group)
        weights = np.exp(_EAGER * (score[rows] - score[rows, group][:, np.newaxis]))
        weights[:, group] = 0.0
        weights /= weights.max(axis=1, keepdims=True)
        questions[rows] = nine_digits(weights @ told_apart[group]).argmax(axis=1)
    return questions


def _log_likelihood(kind: AnswerKind, levels: Floats, counts: Ints, sums: Floats) -> Floats:
    """Log likelihood of each row's answers under every group, up to a constant (rows x groups)."""
    count, total = counts[:, np.newaxis], sums[:, np.newaxis]
    if isinstance(kind, Number):
        return np.asarray((total * levels - count * levels**2 / 2) / kind.sigma**2)
    yes = (total - kind.low * count) / (kind.high - kind.low)
    return np.asarray(yes * np.log(levels) + (count - yes) * np.log1p(-levels))
