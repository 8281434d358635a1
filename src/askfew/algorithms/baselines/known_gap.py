"""The yardstick: what the labels would cost somebody who knew the gap."""

from __future__ import annotations

import math

import numpy as np

from askfew.answers import AnswerKind, Number
from askfew.errors import InvalidInput
from askfew.evidence import log_evidence, nine_digits
from askfew.records import Batch, Finding, Floats, Ints, Known, Problem, Procedure

__all__ = ["known_gap"]

_DISCARD = -0.5
"""Log likelihood ratio below which a candidate pair is dropped for the next."""
_PAIR_SHARE = 0.15


def known_gap(
    problem: Problem, delta: float, rng: np.random.Generator, *, gap: float
) -> Procedure[Finding]:
    """A series of SPRTs on random pairs, then one SPRT an item, all told the ``gap`` beforehand.

    It is no certificate, only a yardstick: nobody knows the gap, and plugged-in means are believed
    as if they were true. For yes/no and scale answers the levels are taken as middle +- gap/2.
    """
    if not (math.isfinite(gap) and gap > 0):
        raise InvalidInput(
            "gap must be a positive number", gap, "pass by how much the groups differ"
        )
    if problem.items == 2:
        return Finding(np.array([0, 1]))
    share = delta * min(4 / (problem.items + 4), _PAIR_SHARE)
    pair, question, levels = yield from _find_pair(problem, share, gap, rng)
    labels = yield from _label(problem, delta - share, gap, pair, question, levels)
    return Finding((labels != labels[0]).astype(np.int64), question)


def _find_pair(
    problem: Problem, delta: float, gap: float, rng: np.random.Generator
) -> Procedure[tuple[Ints, int, Floats]]:
    """The first random pair whose two-sided SPRT accepts a gap, its question and its two means."""
    known = Known("search", np.full(problem.items, -1))
    deck = rng.permutation(problem.questions)
    number = 0
    while True:
        pair = rng.choice(problem.items, 2, replace=False)
        question = int(deck[number % len(deck)])
        number += 1
        counts, sums = np.zeros(2), np.zeros(2)
        ratio = 0.0
        while nine_digits(ratio) >= _DISCARD:
            tally = yield _ask(pair, question, known)
            counts += tally.counts
            sums += tally.sums
            if not tally.counts.all():
                break
            ratio = _two_sided(problem.answers, gap, counts, sums)
            if nine_digits(ratio) >= nine_digits(math.log(number * (number + 1) / delta)):
                return pair, question, sums / counts


def _two_sided(answers: AnswerKind, gap: float, counts: Floats, sums: Floats) -> float:
    """Log likelihood ratio of "they differ by the gap, either way" to "they do not differ"."""
    levels = _middle(answers) + np.array([-gap, gap]) / 2
    (a, b), (x, r) = counts, sums
    up = log_evidence(answers, levels[1], levels[0], x, a, r, b)
    down = log_evidence(answers, levels[0], levels[1], x, a, r, b)
    return float(np.logaddexp(up, down)) - math.log(2)


def _label(
    problem: Problem, delta: float, gap: float, pair: Ints, question: int, levels: Floats
) -> Procedure[Ints]:
    """One answer of every open item at a time, until its ratio of the two levels is decided."""
    threshold = math.log((problem.items - 2) / delta)
    labels = np.full(problem.items, -1)
    labels[pair] = [0, 1]
    ratio = np.zeros(problem.items)
    middle = levels.mean() if isinstance(problem.answers, Number) else _middle(problem.answers)
    low, high = middle + math.copysign(gap / 2, levels[1] - levels[0]) * np.array([-1.0, 1.0])
    while (items := np.flatnonzero(labels < 0)).size:
        known = Known("label", labels.copy(), np.abs(ratio), threshold, question)
        tally = yield _ask(items, question, known)
        ratio[items] += _towards_high(problem.answers, low, high, tally.counts, tally.sums)
        done = items[np.abs(nine_digits(ratio[items])) >= nine_digits(threshold)]
        labels[done] = ratio[done] > 0
    return labels


def _towards_high(
    answers: AnswerKind, low: float, high: float, counts: Ints, sums: Floats
) -> Floats:
    """Log likelihood ratio of level ``high`` to level ``low``."""
    if isinstance(answers, Number):
        return (high - low) * (sums - counts * (high + low) / 2) / answers.sigma**2
    width = answers.high - answers.low
    one, other = np.clip((np.array([low, high]) - answers.low) / width, 1e-6, 1 - 1e-6)
    yes = (sums - counts * answers.low) / width
    return np.asarray(yes * np.log(other / one) + (counts - yes) * np.log((1 - other) / (1 - one)))


def _middle(answers: AnswerKind) -> float:
    return 0.0 if isinstance(answers, Number) else (answers.low + answers.high) / 2


def _ask(items: Ints, question: int, known: Known) -> Batch:
    ones = np.ones(len(items), dtype=np.int64)
    return Batch(items, question * ones, ones, f"known gap: {known.phase}", known)
