"""Which questions tell groups apart, and whom items fit."""

from __future__ import annotations

import numpy as np

from askfew.algorithms.frugal.guess.exclusion.beliefs import (
    KNOWN,
    Beliefs,
    _max_min,
    evidence_rate,
    fit_shapes,
)
from askfew.answers import Number, YesNo

from .known import found, hear

NONE = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
MEANS = np.full((6, 5), 0.5)
MEANS[:, 0] = [0.1, 0.9, 0.1, 0.9, 0.9, 0.1]
MEANS[:, 1] = [0.1, 0.9, 0.1, 0.9, 0.1, 0.9]


def test_a_question_tells_where_groups_answer_differently() -> None:
    counts = np.full((2, 3), 30.0)
    sums = counts * [[0.1, 0.5, 0.9], [0.9, 0.5, 0.9]]
    shapes = fit_shapes(YesNo(), counts, sums, NONE)
    assert shapes.differs[0] > KNOWN
    assert shapes.differs[1:].max() < 0.1
    np.testing.assert_allclose(shapes.levels, sums / counts, atol=0.06)


def test_other_items_show_a_side_that_no_group_is_on() -> None:
    counts = np.full((2, 2), 30.0)
    others = np.array([0] * 6), np.full(6, 20.0), np.array([2.0] * 3 + [18.0] * 3)
    shapes = fit_shapes(YesNo(), counts, counts * 0.1, others)
    assert shapes.tells[0] > KNOWN > 0.2 > shapes.differs[0]
    assert shapes.tells[1] < KNOWN


def test_numbers_may_lie_anywhere() -> None:
    counts = np.full((2, 1), 30.0)
    sums = counts * [[100.0], [103.0]]
    shapes = fit_shapes(Number(1.0), counts, sums, NONE)
    assert shapes.differs[0] > KNOWN
    np.testing.assert_allclose(shapes.levels.ravel(), [100.0, 103.0], atol=0.6)


def test_items_fit_the_group_they_answer_like_or_none() -> None:
    claim, history = found(MEANS)
    hear(history, MEANS, [0, 1], 30)
    hear(history, MEANS, [2, 3, 4, 5], 10)
    now = Beliefs.of(claim, history)
    assert now.known.tolist() == [0, 1]
    assert now.open.tolist() == [2, 3, 4, 5]
    assert now.chances.argmax(axis=1).tolist() == [0, 1, 2, 2]
    assert now.chances.max(axis=1).min() > 0.9


def test_an_item_excluded_from_a_group_does_not_fit_it() -> None:
    claim, history = found(MEANS)
    hear(history, MEANS, [0, 1], 30)
    hear(history, MEANS, [2, 3, 4, 5], 10)
    claim.groups.excluded[2, 0] = True
    assert Beliefs.of(claim, history).chances[0, 0] == 0


def test_the_slowest_exclusion_of_the_best_mixture_of_questions() -> None:
    """Each of two questions tells group 0 from one other group: half of the answers go to each."""
    rates = np.zeros((2, 3, 3))
    rates[0, 0, 1] = rates[1, 0, 2] = 1.0
    rates[:, 1, [0, 2]] = 0.4
    assert abs(_max_min(rates)[0] - 0.5) < 0.1
    assert abs(_max_min(rates)[1] - 0.4) < 1e-9


def test_an_answer_within_the_tolerance_brings_nothing() -> None:
    own, group = np.array([0.5, 0.9]), np.array([0.4, 0.4])
    rate = evidence_rate(YesNo(), own, group, 3.0, 0.2)
    assert rate[0] == 0 < rate[1]
