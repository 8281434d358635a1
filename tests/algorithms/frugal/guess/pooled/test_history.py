"""What a guess knows of a run: looks at a question, room under a cap, random numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from askfew.algorithms.frugal.guess.pooled.history import History, Tuning
from askfew.errors import InvalidInput
from askfew.plans import Plan
from askfew.records import Ints, Problem, Tally

QUESTIONS = np.array([1, 1, 0])


def record(history: History, kind: str, sums: list[float], questions: Ints = QUESTIONS) -> None:
    columns = {"items": np.array([0, 2, 2]), "repeats": np.array([1, 2, 1])}
    history.record(Plan(kind, {}, columns), questions, Tally(np.array([1, 2, 1]), np.array(sums)))


def fresh(per_cell: int | None = None) -> History:
    return History(Problem(4, 5), 0.05, root=7, tuning=Tuning(), per_cell=per_cell)


@pytest.mark.parametrize(("name", "value"), [("growth", 0.0), ("step", 1.5), ("hunt", -1.0)])
def test_tuning_is_checked(name: str, value: float) -> None:
    with pytest.raises(InvalidInput, match=name):
        Tuning(**{name: value})


def test_a_look_at_a_question_knows_what_search_and_hunt_heard() -> None:
    history = fresh()
    record(history, "search", [1.0, 1.0, 0.0])
    record(history, "hunt", [0.0, 2.0, 1.0])
    counts, sums = history.looks_at(1)
    assert counts.tolist() == [2, 0, 4, 0]
    assert sums.tolist() == [1, 0, 3, 0]
    assert history.asked == 8
    assert history.steps == 2


def test_answers_of_labelling_are_no_look() -> None:
    history = fresh()
    record(history, "label", [1.0, 1.0, 0.0], questions=np.array([1, 1, 1]))
    assert not history.looks_at(1)[0].any()
    assert history.asked == 4


def test_search_and_hunt_leave_most_of_a_cell_to_labels() -> None:
    history = fresh(per_cell=12)
    assert history.room([0, 2], 1) == 4
    record(history, "search", [1.0, 1.0, 0.0])
    assert history.room([0], 1) == 3
    assert history.room([0, 2], 1) == 2
    assert fresh().room([0, 2], 1) == math.inf


def test_a_guess_that_takes_over_draws_the_same_numbers() -> None:
    one, other = fresh(), fresh()
    for history in (one, other):
        record(history, "search", [1.0, 1.0, 0.0])
    assert one.rng().random() == other.rng().random()
    np.testing.assert_array_equal(one.deck(3), other.deck(3))
    assert sorted(one.deck(0)) == list(range(5))


def test_labelling_costs_more_at_a_smaller_gap() -> None:
    costs = fresh().labelling_cost([0.5, 1.0, 2.0])
    assert (np.diff(costs) < 0).all()
