"""Which questions carry the split, which agree with it, and which go their own way.

The distance of the groups on a question is measured honestly: a question that helped to make the
groups does not vote for itself. For it, each item is put into the group that its answers to all
other questions make likely; items that stay doubtful are left out.

The constants are plain choices: they only sort questions under headings, beside their intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from askfew.answers import AnswerKind, Number
from askfew.checks.gaps import gap_intervals
from askfew.estimates.cells import CellSums
from askfew.estimates.classes import DISCOUNT, EDGE
from askfew.records import Floats, Ints, Problem

__all__ = ["QuestionCheck", "Role", "questions_of"]

Mask: TypeAlias = NDArray[np.bool_]
Role = Literal["carries", "agrees", "own way", "unknown"]

_SURE = 0.8
"""The least probability at which the other questions put an item into a group."""
_LEAST = 2.0
"""Least answers about a group for anything to be said about it."""
_AGREES = 0.2
"""A question agrees if the groups surely lie at least this far apart on it, as a share of their
distance on the questions that carry the split."""
_OWN_WAY = 0.5
"""A question goes its own way if the groups surely lie at most this far apart, as such a share."""
_TAIL = 0.025
"""Each tail of a 95 % interval."""


@dataclass(frozen=True)
class QuestionCheck:
    """How far apart the groups' mean answers lie on a question, with a 95 % interval.

    Of several groups, it is about the two that lie farthest apart.
    """

    question: int
    role: Role
    answers: int
    gap: float | None
    """None where there are too few answers."""
    low: float | None
    high: float | None
    honest: bool
    """False if the question helped to make the groups and the others are too few to replace it."""


def questions_of(
    problem: Problem,
    cells: CellSums,
    groups: Ints,
    count: int,
    *,
    carrying: Sequence[int],
    voting: Sequence[int] | None,
    identical: bool,
) -> tuple[QuestionCheck, ...]:
    """The check of every question that was asked.

    ``groups`` are the groups of the cells' items (-1: none). ``carrying`` are the questions that
    the labels rest on. ``voting`` are the questions whose answers helped to make the groups (None:
    all); they must not vote for themselves. ``identical`` says that items of one group are the
    same, so that repeats count in full.
    """
    kind = problem.kind
    asked, place = np.unique(cells.question, return_inverse=True)
    weight = cells.count / (1 + (0.0 if identical else DISCOUNT) * (cells.count - 1.0))
    carries = np.isin(asked, np.asarray(carrying, dtype=np.int64))
    own = np.full(len(asked), voting is None) | np.isin(
        asked, np.asarray(voting or [], dtype=np.int64)
    )
    levels = _levels(place, len(asked), groups, count, weight, cells.mean)
    if own.any():
        others = _by_other_questions(kind, cells, place, groups, weight, levels)
        honest = _levels(place, len(asked), others, count, weight, cells.mean)
        told = own & ((honest[1] >= _LEAST).sum(axis=0) >= 2)
        levels = (np.where(told, honest[0], levels[0]), np.where(told, honest[1], levels[1]))
        own = own & ~told
    gaps = _largest(kind, *levels)
    answers = np.bincount(place, cells.count, minlength=len(asked)).astype(np.int64)
    size = _typical(gaps[0], carries)
    return tuple(
        QuestionCheck(
            question=int(question),
            role=_role(bool(carries[at]), float(gaps[1][at]), float(gaps[2][at]), size),
            answers=int(answers[at]),
            gap=_known(gaps[0][at]),
            low=_known(gaps[1][at]),
            high=_known(gaps[2][at]),
            honest=not own[at],
        )
        for at, question in enumerate(asked)
    )


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _levels(
    place: Ints, questions: int, groups: Ints, count: int, weight: Floats, means: Floats
) -> tuple[Floats, Floats]:
    """Mean answers and how many they rest on (groups x questions).

    ``groups`` are the groups of the cells' items.
    """
    kept = groups >= 0
    at = groups[kept] * questions + place[kept]
    shape = (count, questions)
    answers, sums = (
        np.asarray(np.bincount(at, each[kept], minlength=count * questions), dtype=np.float64)
        for each in (weight, weight * means)
    )
    level = np.divide(sums, answers, out=np.zeros(len(sums)), where=answers > 0)
    return level.reshape(shape), answers.reshape(shape)


def _by_other_questions(
    kind: AnswerKind,
    cells: CellSums,
    place: Ints,
    groups: Ints,
    weight: Floats,
    levels: tuple[Floats, Floats],
) -> Ints:
    """For every cell, the group that its item's other answers make likely (-1: none clearly)."""
    means, answers = levels
    overall = (means * answers).sum(axis=0) / np.maximum(answers.sum(axis=0), 1e-9)
    means = (means * answers + overall) / (answers + 1)  # one answer lent at the overall mean
    if isinstance(kind, Number):
        odds = -weight * (cells.mean - means[:, place]) ** 2 / (2 * kind.sigma**2)
    else:
        width = kind.high - kind.low
        share = (cells.mean - kind.low) / width
        level = np.clip((means[:, place] - kind.low) / width, EDGE, 1 - EDGE)
        odds = weight * (share * np.log(level) + (1 - share) * np.log1p(-level))
    items = int(cells.item.max()) + 1 if len(cells) else 0
    size = np.bincount(np.maximum(groups, 0), groups >= 0, minlength=len(means)) + 1.0
    others = np.stack([np.bincount(cells.item, own, minlength=items)[cells.item] for own in odds])
    others = others - odds + np.log(size / size.sum())[:, np.newaxis]
    raised = np.exp(others - others.max(axis=0))
    sure = raised.max(axis=0) >= _SURE * raised.sum(axis=0)
    return np.where(sure, raised.argmax(axis=0), -1)


def _largest(kind: AnswerKind, means: Floats, answers: Floats) -> tuple[Floats, Floats, Floats]:
    """The largest gap of any two groups and its interval; nan if fewer than two are known."""
    # The tail is shared by all pairs, because the largest of them is reported.
    pairs = list(combinations(range(len(means)), 2))
    gap, low, high = (np.full(means.shape[1], -np.inf) for _ in range(3))
    for one, other in pairs:
        known = np.minimum(answers[one], answers[other]) >= _LEAST
        ends = gap_intervals(
            kind,
            means[one][known],
            answers[one][known],
            means[other][known],
            answers[other][known],
            _TAIL / len(pairs),
        )
        apart = np.abs(means[one] - means[other])[known]
        for best, each in zip((gap, low, high), (apart, *ends), strict=True):
            best[known] = np.maximum(best[known], each)
    for each in (low, high, gap):
        each[np.isinf(gap)] = np.nan
    return gap, low, high


def _typical(gaps: Floats, carries: Mask) -> float:
    """The median gap on the questions that carry the split; on all questions, if none does."""
    known = np.isfinite(gaps)
    chosen = carries & known if (carries & known).any() else known
    return float(np.median(gaps[chosen])) if chosen.any() else np.nan


def _role(carries: bool, low: float, high: float, size: float) -> Role:
    if carries:
        return "carries"
    if low > 0 and low >= _AGREES * size:
        return "agrees"
    return "own way" if high <= _OWN_WAY * size else "unknown"
