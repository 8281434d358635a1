"""The search hands over a pair that differs, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from askfew.algorithms.frugal.guess.pooled import search as module
from askfew.algorithms.frugal.guess.pooled.history import History, Tuning
from askfew.algorithms.frugal.guess.pooled.search import Pair, Search, _Candidate
from askfew.answers import Number
from askfew.plans import Plan
from askfew.records import Floats, Problem, Tally

from ..exact import exact, useful

ITEMS, QUESTIONS = 8, 12


def begin(per_cell: int | None = None) -> Search:
    problem = Problem(ITEMS, QUESTIONS, Number(1.0))
    return Search(History(problem, 0.05, root=5, tuning=Tuning(), per_cell=per_cell))


def one_round(search: Search, means: Floats) -> Plan:
    plan = search.propose()
    assert plan is not None
    tally = exact(plan, means)
    search.history.record(plan, plan.ints("questions"), tally)
    search.learn(plan, tally)
    return plan


def found(search: Search, means: Floats, rounds: int = 40) -> Pair:
    for _ in range(rounds):
        one_round(search, means)
        if (pair := search.sure_pair()) is not None:
            return pair
    raise AssertionError(f"no pair in {rounds} rounds")


def test_a_round_deals_new_questions_to_pairs_of_different_items() -> None:
    plan = begin().propose()
    assert plan is not None
    assert (plan.ints("items") != plan.ints("mates")).all()
    assert len(np.unique(plan.ints("questions"))) == plan.facts["dealt"] >= module._LEAST


def test_a_pair_that_differs_is_handed_over_with_its_question_and_answers() -> None:
    pair = found(begin(), useful(ITEMS, QUESTIONS, {4: 3.0}))
    assert pair.question == 4
    assert set(pair.items % 2) == {0, 1}
    assert sorted(pair.sums / pair.counts) == [0.0, 3.0]


def test_items_that_are_alike_are_never_handed_over() -> None:
    search = begin()
    for _ in range(25):
        one_round(search, np.zeros((ITEMS, QUESTIONS)))
    assert search.sure_pair() is None


def test_a_forgotten_pair_is_not_handed_over_again() -> None:
    search = begin()
    first = found(search, useful(ITEMS, QUESTIONS, {4: 3.0}))
    search.forget(first.items[::-1])
    again = search.sure_pair()
    assert again is None or set(again.items) != set(first.items)


def test_two_orders_of_a_pair_are_one_candidate() -> None:
    search = begin()
    for items in ([2, 5], [5, 2]):
        columns = {"items": items, "mates": items[::-1], "questions": [1, 1], "repeats": [1, 1]}
        plan = Plan("search", {}, {name: np.array(each) for name, each in columns.items()})
        search.learn(plan, Tally(np.array([1, 1]), np.array(items, dtype=np.float64)))
    assert search.pool.items.tolist() == [[2, 5]]
    assert search.pool.sums.tolist() == [[4.0, 10.0]]


def test_two_candidates_that_share_a_cell_share_its_room() -> None:
    each = [_Candidate(0, 1, 3, samples=5), _Candidate(0, 2, 3, samples=5)]
    assert [one.samples for one in begin(per_cell=21)._with_room(each)] == [5, 2]
    assert [one.samples for one in begin()._with_room(each)] == [5, 5]


def test_under_a_cap_most_of_a_cell_is_left_and_the_search_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_LONGEST", 4)
    search, asked = begin(per_cell=21), np.zeros((ITEMS, QUESTIONS))
    while search.asked <= 4 * QUESTIONS:
        plan = one_round(search, np.zeros((ITEMS, QUESTIONS)))
        np.add.at(asked, (plan.ints("items"), plan.ints("questions")), plan.ints("repeats"))
    assert asked.max() <= 7
    assert search.propose() is None
