"""What was asked and heard, in common units; who stays silent."""

from __future__ import annotations

import numpy as np
import pytest

from askfew.algorithms.frugal.guess.exclusion.history import (
    _SILENT,
    History,
    from_units,
    to_units,
)
from askfew.answers import AnswerKind, Number, Scale, YesNo
from askfew.records import Batch, Problem, Tally


def batch(items: list[int], questions: list[int]) -> Batch:
    return Batch(np.array(items), np.array(questions), np.full(len(items), 2))


def tally(*counts: int) -> Tally:
    return Tally(np.array(counts), np.array(counts, dtype=np.float64))


@pytest.mark.parametrize("kind", [YesNo(), Scale(1, 5), Number(2.0)])
def test_units_are_those_of_the_answers_and_back(kind: AnswerKind) -> None:
    levels = np.array([1.0, 1.5])
    counts = np.array([1.0, 3.0])
    units = to_units(kind, counts, counts * levels) / counts
    np.testing.assert_allclose(from_units(kind, units), levels)
    assert to_units(Scale(1, 5), np.array([2.0]), np.array([10.0])).tolist() == [2.0]


def test_columns_in_use_are_kept_up_to_date() -> None:
    history = History(Problem(3, 4))
    history.record(batch([0, 1], [2, 2]), tally(2, 1), "search")
    assert history.columns(np.array([2]))[0].ravel().tolist() == [2, 1, 0]
    history.record(batch([1, 1, 2], [2, 3, 3]), tally(2, 2, 1), "screen")
    counts, sums = history.columns(np.array([2, 3]))
    assert counts.tolist() == [[2, 0], [3, 2], [0, 1]]
    assert sums.tolist() == counts.tolist()
    assert history.looked == 6
    assert history.asked == 10


def test_answers_of_a_group_and_of_the_others_are_apart() -> None:
    history = History(Problem(3, 2))
    history.record(batch([0, 1, 2, 2], [0, 1, 0, 0]), tally(2, 1, 1, 2), "search")
    counts, _, (question, count, _) = history.by_group(np.array([0, 1, -1]), 2)
    assert counts.tolist() == [[2, 0], [0, 1]]
    assert question.tolist() == [0]
    assert count.tolist() == [3]


def test_an_item_and_a_references_cell_are_silent_after_many_empty_returns() -> None:
    history = History(Problem(3, 2))
    asked = batch([0, 1], [0, 1])
    for _ in range(_SILENT - 1):
        history.listen(asked, tally(0, 0), slice(1, None))
    assert not history.silent.any()
    history.listen(asked, tally(0, 0), slice(1, None))
    assert history.silent.tolist() == [True, True, False]
    assert history.is_silent(1, 1)
    assert not history.is_silent(0, 0)  # it is no reference
    history.listen(asked, tally(1, 1), slice(1, None))
    assert not history.silent.any()
    assert not history.is_silent(1, 1)
