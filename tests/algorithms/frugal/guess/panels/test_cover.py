"""Whom panels that cover all items ask, and on which side an item's answers are bet."""

from __future__ import annotations

import numpy as np

from askfew.algorithms.frugal.claim.cover import Cover
from askfew.algorithms.frugal.claim.ledger import Ledger
from askfew.algorithms.frugal.guess.panels.cover import (
    _SURE,
    _TESTERS,
    CoverGuesser,
    _levels,
)
from askfew.estimates.classes import CellMeans
from askfew.records import Ints, Problem

N, D = 24, 6


def guesser(counts: Ints, yes: Ints, labels: Ints | None = None) -> CoverGuesser:
    """One that has heard these answers."""
    cover = Cover(Ledger(Problem(N, D), 1, np.arange(D)), 0.05, np.arange(N))
    cover.ledger.counts, cover.ledger.sums = counts, yes.astype(np.float64)
    if labels is not None:
        cover.labels = labels
    return CoverGuesser(cover, root=3)


def test_levels_lie_apart_where_answers_do_and_nowhere_else() -> None:
    answered = CellMeans(
        np.ones((20, 2)), np.tile([[1.0, 1.0], [0.0, 1.0], [1.0, 0.0], [0.0, 0.0]], (5, 1)), None
    )
    weight = np.full((2, 2), 10.0)
    likely, levels = _levels(answered, weight, np.array([[10.0, 5.0], [0.0, 5.0]]))
    assert likely[0] > 0.99 > 0.3 > likely[1]
    assert levels[0, 0] > 0.9
    assert levels[1, 0] < 0.1
    assert abs(levels[0, 1] - levels[1, 1]) < 1e-9


def test_an_item_is_not_believed_for_its_own_answers_alone() -> None:
    """It says yes where ten others say no, and is the only one of its group."""
    counts, yes = np.zeros((N, D), dtype=np.int64), np.zeros((N, D), dtype=np.int64)
    counts[:11], yes[0] = 1, 1
    guess = guesser(counts, yes)
    guess.chances[:] = [0.01, 0.99]
    guess.chances[0] = [0.99, 0.01]
    guess._measure(CellMeans.of(guess.ledger.problem.kind, counts, yes.astype(np.float64), 0.0))
    assert guess.likely.min() > 0.5
    assert guess.beliefs[0].max() < _SURE


def test_an_item_that_answers_like_its_group_is_believed() -> None:
    truth = np.arange(N) % 2
    counts = np.ones((N, D), dtype=np.int64)
    guess = guesser(counts, np.repeat(truth[:, np.newaxis], D, axis=1))
    guess.chances[:] = np.eye(2)[truth]
    guess._measure(CellMeans.of(guess.ledger.problem.kind, counts, guess.ledger.sums, 0.0))
    assert (guess.beliefs.argmax(axis=1) == truth).all()
    assert guess.beliefs.max(axis=1).min() > _SURE


def test_items_with_a_label_try_a_question_for_those_that_wait() -> None:
    nothing = np.zeros((N, D), dtype=np.int64)
    labels = np.full(N, -1)
    labels[:_TESTERS], labels[_TESTERS : 2 * _TESTERS] = 0, 1
    guess = guesser(nothing, nothing, labels)
    waiting = np.flatnonzero(labels < 0)
    assert len(guess._triers(waiting, 2, guess.ledger.room)) == 0
    guess.cover.labels = np.full(N, -1)
    some = guess._triers(np.arange(N), 2, guess.ledger.room)
    assert 0 < len(some) < N / 2


def test_references_are_those_with_a_label_first() -> None:
    nothing = np.zeros((N, D), dtype=np.int64)
    labels = np.full(N, -1)
    labels[12:18], labels[18:] = 0, 1
    guess = guesser(nothing, nothing, labels)
    guess.chances[:] = np.eye(2)[(np.arange(N) >= 18).astype(np.int64)]
    rows: dict[tuple[int, int], int] = {}
    guess._add_references(rows, 1, 1, guess.ledger.room)
    assert {item for item, _ in rows} == set(range(12, 24))
