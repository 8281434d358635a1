"""The search for the first pair, and which phase comes next."""

from __future__ import annotations

import math

import numpy as np

from askfew.algorithms.frugal.claim.exclusion import REASONS
from askfew.algorithms.frugal.guess.exclusion.beliefs import Beliefs
from askfew.algorithms.frugal.guess.exclusion.phases import Chooser, PairSearch, dealt
from askfew.answers import Number
from askfew.plans import Plan
from askfew.records import Floats, Problem, Tally

from .known import found, hear

MEANS = np.full((8, 4), 0.5)
MEANS[:, 0] = [0.1, 0.9] * 4


def search_round(search: PairSearch, means: Floats, rng: np.random.Generator) -> Plan:
    plan = search.propose(rng)
    search.accept(plan)
    who = np.concatenate([plan.ints("first"), plan.ints("second")])
    repeats = np.tile(plan.ints("repeats"), 2)
    sums = repeats * means[who, np.tile(plan.ints("questions"), 2)]
    search.learn(plan, Tally(repeats, sums))
    return plan


def registered(search: PairSearch, means: Floats, rounds: int) -> list[tuple[int, ...]]:
    rng, pairs = np.random.default_rng(1), []
    for _ in range(rounds):
        plan = search_round(search, means, rng)
        for row in plan.ints("register").tolist():
            columns = ("first", "second", "questions")
            pairs.append(tuple(int(plan.ints(each)[row]) for each in columns))
    return pairs


def begin() -> PairSearch:
    return PairSearch(Problem(8, 12, Number(1.0)), 0.05, root=5)


def test_a_pair_that_differs_is_registered_on_its_question() -> None:
    means = np.zeros((8, 12))
    means[1::2, 4] = 3.0
    pairs = registered(begin(), means, 20)
    assert pairs
    assert all((first + second) % 2 for first, second, _ in pairs)
    assert pairs[0][2] == 4


def test_nobody_is_registered_where_all_are_alike() -> None:
    assert not registered(begin(), np.zeros((8, 12)), 20)


def test_a_forgotten_pair_does_not_lead_again() -> None:
    search, means = begin(), np.zeros((8, 12))
    means[1::2, 4] = 3.0
    first, second, _ = registered(search, means, 20)[0]
    search.forget(np.array([second, first]))
    same = (np.sort(search.pool.items, axis=1) == sorted((first, second))).all(axis=1)
    assert same.any()
    assert np.isneginf(search.pool.scores[same]).all()


def test_questions_are_dealt_once_before_any_comes_again() -> None:
    deck = dealt(5, root=1, start=0, many=10)
    assert sorted(deck[:5]) == sorted(deck[5:]) == list(range(5))
    np.testing.assert_array_equal(dealt(5, root=1, start=3, many=4), deck[3:7])


def chooser(groups: int = 2) -> Chooser:
    claim, history = found(MEANS, groups)
    guess = Chooser(claim, root=5)
    guess.history = history
    return guess


def test_representatives_answer_what_may_tell_them_apart_before_items_are_asked() -> None:
    guess = chooser()
    hear(guess.history, MEANS, [0, 1], 1)
    plan = guess.propose()
    assert plan.facts["phase"] == "hunt"
    assert set(plan.ints("items")) == {0, 1}


def test_items_are_labelled_once_all_groups_are_found() -> None:
    guess = chooser()
    hear(guess.history, MEANS, [0, 1], 40)
    hear(guess.history, MEANS, list(range(2, 8)), 2)
    plan = guess.propose()
    assert plan.facts["phase"] == "label"
    assert set(plan.ints("questions")) == {0}


def test_a_missing_group_is_looked_for_where_items_were_not_asked_yet() -> None:
    guess = chooser(groups=3)
    hear(guess.history, MEANS, [0, 1], 40)
    now = Beliefs.of(guess.claim, guess.history)
    rng = np.random.default_rng(0)
    screen = guess._screen(now, rng)
    assert screen is not None
    assert screen.facts["phase"] == "screen"
    assert set(screen.ints("questions")) <= set(now.known)
    assert len(screen.ints("items")) == math.ceil(0.3 * 6)
    probe = guess._probe(now, rng)
    assert probe.facts["phase"] == "probe"
    assert not set(probe.ints("questions")) & set(now.known)


def test_many_items_left_mean_another_pair_and_few_an_end_with_reasons() -> None:
    guess = chooser()
    assert guess._end().kind == "restart"
    guess.claim.groups.excluded[2:6, 0] = True
    guess.claim.groups.excluded[6, 1] = True
    guess.history._unheard[7] = 99
    plan = guess._end()
    assert plan.kind == "end"
    assert plan.ints("left").tolist() == [7]
    assert REASONS[plan.ints("why")[0]] == "few-answers"
