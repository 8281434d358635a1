"""One step: which question each item is asked, beside which references, with which bets."""

from __future__ import annotations

import numpy as np

from askfew.algorithms.frugal.claim.exclusion import Exclusion
from askfew.algorithms.frugal.guess.exclusion.beliefs import Beliefs
from askfew.algorithms.frugal.guess.exclusion.history import History
from askfew.algorithms.frugal.guess.exclusion.step import LabelStep, _few_questions
from askfew.plans import Plan
from askfew.records import Floats

from .known import found, hear


def world(items: int = 8) -> Floats:
    """Groups by turns; question 0 tells them apart well, question 1 a little, 2 not at all."""
    means = np.full((items, 3), 0.5)
    means[:, 0] = np.where(np.arange(items) % 2, 0.9, 0.1)
    means[:, 1] = np.where(np.arange(items) % 2, 0.65, 0.35)
    return means


def known(groups: int) -> tuple[Exclusion, History]:
    means = world()
    claim, history = found(means, groups)
    hear(history, means, [0, 1], 40)
    hear(history, means, list(range(2, 8)), 4)
    return claim, history


def plan_of(claim: Exclusion, history: History) -> Plan | None:
    return LabelStep(claim, history, Beliefs.of(claim, history)).plan()


def test_everybody_answers_the_question_that_tells_most_beside_references() -> None:
    claim, history = known(groups=2)
    plan = plan_of(claim, history)
    assert plan is not None
    assert plan.facts["phase"] == "label"
    assert plan.ints("items").tolist() == list(range(2, 8))
    assert set(plan.ints("questions")) == {0}
    assert dict(zip(plan.ints("reference_items"), plan.ints("reference_groups"), strict=True)) == {
        0: 0,
        1: 1,
    }
    assert claim.ask(plan) is not None


def test_a_bet_is_against_the_other_group_only() -> None:
    plan = plan_of(*known(groups=2))
    assert plan is not None
    own = plan.floats("own_guess", 12).reshape(6, 2)
    group = plan.floats("group_guess", 12).reshape(6, 2)
    bets = own != group
    assert bets.tolist() == [[False, True], [True, False]] * 3
    assert (own[bets][::2] < 0.3).all()  # items of the low group, bet to lie low


def test_who_clearly_fits_is_not_asked_while_a_group_is_missing() -> None:
    assert plan_of(*known(groups=3)) is None


def test_an_item_that_was_asked_for_long_is_given_up() -> None:
    claim, history = known(groups=2)
    means = world()
    means[6] = 0.5
    hear(history, means, [6], 400)
    plan = plan_of(claim, history)
    assert plan is not None
    assert 6 not in plan.ints("items")


def test_answers_to_probes_do_not_count_against_an_item() -> None:
    claim, history = known(groups=2)
    hear(history, world(), list(range(2, 8)), 400, "probe")
    plan = plan_of(claim, history)
    assert plan is not None
    assert plan.ints("items").tolist() == list(range(2, 8))


def test_certified_members_are_references_in_turn() -> None:
    claim, history = known(groups=2)
    claim.groups.excluded[[2, 4], 1] = True
    step = LabelStep(claim, history, Beliefs.of(claim, history))
    items, times = step._rotate(0, 0, 3)
    assert set(items) == {2, 4, 0}
    assert items[-1] == 0  # it has answered most
    assert times.sum() == 3
    items, times = step._rotate(0, 0, 7)
    assert times.tolist() == [3, 2, 2]


def test_items_share_questions_that_are_nearly_as_good() -> None:
    score = np.array([[1.0, 0.9, 0.0], [0.5, 1.0, 0.0], [0.0, 0.1, 1.0]])
    assert _few_questions(score).tolist() == [1, 1, 2]
