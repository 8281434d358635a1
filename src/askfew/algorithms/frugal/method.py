"""The frugal method: search two representatives, hunt a good question, label by exclusion."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import count

import numpy as np

from askfew.algorithms.frugal.certificate import give_certificate, two_items
from askfew.algorithms.frugal.course import Course
from askfew.algorithms.frugal.hunt import Hunt
from askfew.algorithms.frugal.hunt import hunt as hunting
from askfew.algorithms.frugal.label import label
from askfew.algorithms.frugal.labelling import Labelling, named
from askfew.algorithms.frugal.levels import Levels
from askfew.algorithms.frugal.options import Options
from askfew.algorithms.frugal.pool import Pool
from askfew.algorithms.frugal.search import Pair, Search, search
from askfew.errors import EndOfAnswers
from askfew.records import Finding, Problem, Procedure, Status

__all__ = ["frugal"]

_QUESTIONS = 6
"""Questions on which somebody stays silent, or that disappoint, before their pair is given up."""


def frugal(
    problem: Problem,
    delta: float,
    rng: np.random.Generator,
    *,
    pair_share: float = Options.pair_share,
    hunt: float = Options.hunt,
    rotate: bool = Options.rotate,
    growth: float = Options.growth,
    step: float = Options.step,
) -> Procedure[Finding]:
    """All labels right with probability at least 1 - delta, from few answers.

    The options are those of ``Options``: they change what is asked, never what is promised.
    """
    if problem.items == 2:
        return Finding(np.array([0, 1]), None, two_items(delta))
    options = Options(pair_share, hunt, rotate, growth, step)
    course = Course(problem, rng, options, delta_pair(problem.items, delta, pair_share))
    finding = yield from attempts(course, delta, Search.begin(course))
    return finding


def attempts(course: Course, delta: float, searching: Search, first: int = 1) -> Procedure[Finding]:
    """Find a pair and label by it; if it proves useless, search on with the next part of delta."""
    for attempt in count(first):
        pair = yield from search(course, searching)
        finding = yield from with_pair(course, delta, attempt, pair, searching.pool)
        if finding is not None:
            return finding
        searching.forget(pair.items)
    raise AssertionError("count() does not end")


def with_pair(
    course: Course, delta: float, attempt: int, pair: Pair, searched: Pool
) -> Procedure[Finding | None]:
    """Label by the pair's best question, then by the next best; None if all fail."""
    n = course.problem.items
    threshold = label_threshold(n, delta - course.delta_pair, attempt)
    labelling = Labelling.begin(n, pair.items, threshold)
    state = Hunt(course, pair, searched, threshold)
    levels: Levels | None = None
    silent = False
    for _ in range(_QUESTIONS):
        chosen = yield from hunting(course, state)
        if chosen is None:
            break
        levels = chosen
        try:
            end = yield from label(course, labelling, levels)
        except EndOfAnswers as stop:
            stopped = _finding(course, delta, attempt, pair, labelling, levels, stop.status)
            return replace(stopped, reason=str(stop))
        if end == "done":
            status: Status = "undecided" if labelling.misfits else "done"
            return _finding(course, delta, attempt, pair, labelling, levels, status)
        silent = end == "silent"
        state.learn(levels, silent=silent)
    if silent and levels is not None:
        return _finding(course, delta, attempt, pair, labelling, levels, "stalled")
    return None


def delta_pair(items: int, delta: float, most: float) -> float:
    """The part of delta that confirms representatives: less the more items there are to label."""
    return delta * min(4 / (items + 4), most)


def label_threshold(items: int, delta_label: float, attempt: int) -> float:
    """Evidence that excludes a group: the attempt's part of delta, shared by the items to label."""
    part = 0.9 if attempt == 1 else 0.1 / 2 ** (attempt - 1)
    return math.log(items_to_label(items) / (part * delta_label))


def items_to_label(items: int) -> int:
    """The union bound's count: every item but the representatives."""
    return items - 2


def _finding(
    course: Course,
    delta: float,
    attempt: int,
    pair: Pair,
    labelling: Labelling,
    levels: Levels,
    status: Status,
) -> Finding:
    certificate = give_certificate(
        course.problem, delta, course.delta_pair, pair, labelling, levels, attempt
    )
    return Finding(
        named(labelling.labels),
        levels.question,
        certificate,
        status,
        labelling.evidence.max(axis=1),
        undecided={
            int(item): "misfit" if item in labelling.misfits else "few-answers"
            for item in np.flatnonzero(labelling.labels < 0)
        },
    )
