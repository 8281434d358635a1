"""The hunt finds a better question for the pair, and stops where looking does not pay."""

from __future__ import annotations

import numpy as np

from askfew.algorithms.frugal.guess.pooled.history import History, Tuning
from askfew.algorithms.frugal.guess.pooled.hunt import Hunt
from askfew.algorithms.frugal.guess.pooled.search import Pair, Search
from askfew.answers import Number
from askfew.records import Floats, Problem

from ..exact import exact, useful

ITEMS, QUESTIONS = 40, 30


def begin(gap: float, samples: float = 20.0) -> Hunt:
    """A hunt for the items 2 and 3, which differ by the gap on question 0."""
    history = History(Problem(ITEMS, QUESTIONS, Number(1.0)), 0.05, root=5, tuning=Tuning())
    sums = np.array([0.0, samples * gap])
    return Hunt(history, Search(history), Pair(np.array([2, 3]), 0, np.full(2, samples), sums))


def play(hunt: Hunt, means: Floats) -> list[int]:
    """All rounds; the questions that were asked."""
    asked: list[int] = []
    while hunt.goes_on():
        plan = hunt.propose()
        assert set(plan.ints("items")) == {2, 3}
        asked += plan.ints("questions").tolist()
        tally = exact(plan, means)
        hunt.history.record(plan, plan.ints("questions"), tally)
        hunt.learn(plan, tally)
    return asked


def test_a_better_question_becomes_the_target() -> None:
    hunt = begin(gap=0.7)
    play(hunt, useful(ITEMS, QUESTIONS, {0: 0.7, 17: 4.0}))
    target = hunt.target()
    assert target is not None
    assert target.question == 17
    assert target.means[1] > target.means[0]


def test_a_hunt_in_vain_ends_with_the_question_it_began_with() -> None:
    hunt = begin(gap=0.7)
    asked = play(hunt, useful(ITEMS, QUESTIONS, {0: 0.7}))
    assert len(set(asked)) > 5
    target = hunt.target()
    assert target is not None
    assert target.question == 0
    assert hunt.history.asked < float(hunt.history.labelling_cost(0.7))


def test_a_good_question_is_not_worth_a_hunt() -> None:
    assert not begin(gap=8.0).goes_on()


def test_a_gap_is_believed_less_than_it_looks() -> None:
    """The search stopped when the gap looked good."""
    target = begin(gap=1.0, samples=16.0).target()
    assert target is not None
    assert 0.4 < np.ptp(target.means) < 0.95
    assert target.means.mean() == 0.5


def test_after_silence_another_question_is_needed_and_the_silent_one_is_given_up() -> None:
    hunt = begin(gap=2.0)
    hunt.disappoint(0, np.full(2, 20.0), np.array([0.0, 40.0]), silent=True)
    assert hunt.needy
    assert hunt.tries == 1
    assert hunt.target() is None
    assert 0 not in play(hunt, useful(ITEMS, QUESTIONS, {0: 2.0, 9: 2.0}))
    target = hunt.target()
    assert target is not None
    assert target.question == 9


def test_a_question_that_disappoints_counts_by_its_labelling_alone() -> None:
    hunt = begin(gap=2.0)
    hunt.disappoint(0, np.full(2, 50.0), np.array([0.0, 1.0]), silent=False)
    assert hunt.pool.counts[0].tolist() == [50.0, 50.0]
    assert hunt.target() is None


def test_new_questions_come_once_and_the_promising_ones_first() -> None:
    hunt = begin(gap=1.0)
    hunt._first = np.array([11, 4])
    chosen = hunt._unasked(QUESTIONS)
    assert chosen[:2].tolist() == [11, 4]
    assert sorted(chosen) == list(range(1, QUESTIONS))
    assert len(hunt._unasked(3)) == 3
