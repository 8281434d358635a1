"""The order of the phases, and that a plan from a log leads into its own."""

from __future__ import annotations

import numpy as np

from askfew.algorithms.frugal.claim.pooled import PooledClaim
from askfew.algorithms.frugal.guess.pooled.history import Tuning
from askfew.algorithms.frugal.guess.pooled.phases import _QUESTIONS, Chooser
from askfew.answers import Number
from askfew.plans import Plan
from askfew.records import Floats, Problem

from ..exact import exact, useful

ITEMS, QUESTIONS = 16, 10


def begin(items: int = ITEMS, questions: int = QUESTIONS) -> Chooser:
    return Chooser(PooledClaim(Problem(items, questions, Number(1.0)), 0.05), 5, Tuning())


def step(chooser: Chooser, means: Floats) -> str:
    plan = chooser.propose()
    batch = chooser.claim.ask(plan)
    chooser.accept(plan)
    if batch is not None:
        tally = exact(plan, means, batch.questions)
        chooser.claim.settle(tally)
        chooser.learn(plan, batch, tally)
    return plan.kind


def test_search_then_hunt_then_label_then_end() -> None:
    """Many questions tell the groups apart a little, so a pair is found by one of them."""
    chooser, kinds = begin(400, 100), list[str]()
    gaps = {**dict.fromkeys(range(60), 0.8), 99: 3.0}
    while not chooser.claim.over:
        kinds.append(step(chooser, useful(400, 100, gaps)))
    assert list(dict.fromkeys(kinds)) == ["search", "hunt", "label", "end"]
    assert kinds == sorted(kinds, key=["search", "hunt", "label", "end"].index)
    np.testing.assert_array_equal(chooser.claim.labels(), np.arange(400) % 2)


def test_a_plan_of_another_version_leads_into_its_phase() -> None:
    chooser = begin()
    columns = {
        "items": np.arange(ITEMS),
        "repeats": np.ones(ITEMS, dtype=np.int64),
        "roles": np.arange(ITEMS) % 2 + 1,
        "levels": np.array([0.0, 2.0]),
        "references": np.array([0.0, 2.0]),
        "late": np.zeros(0, dtype=np.int64),
        "own": np.zeros(0),
    }
    chooser.accept(Plan("label", {"question": 6, "pair": [4, 7]}, columns))
    assert chooser.sides is not None
    assert chooser.sides.question == 6
    assert chooser.sides.mean.tolist() == [0.0, 2.0]
    assert chooser.hunt is not None
    assert chooser.hunt.items.tolist() == [4, 7]
    chooser.accept(Plan("search"))
    assert chooser.sides is None
    assert chooser.hunt is None


def at_label(means: Floats) -> Chooser:
    chooser = begin()
    while chooser.sides is None:
        step(chooser, means)
    return chooser


def test_a_question_that_disappoints_is_left_and_the_pair_is_kept() -> None:
    chooser = at_label(useful(ITEMS, QUESTIONS, {2: 2.0}))
    pair = chooser.hunt
    chooser._leave_labelling("futile")
    assert chooser.sides is None
    assert chooser.hunt is pair
    assert not chooser.over


def test_a_pair_is_given_up_after_some_questions() -> None:
    chooser = at_label(useful(ITEMS, QUESTIONS, {2: 2.0}))
    assert chooser.hunt is not None
    items = chooser.hunt.items
    chooser.hunt.tries = _QUESTIONS - 1
    chooser._leave_labelling("futile")
    assert chooser.hunt is None
    pair = chooser.search.sure_pair()
    assert pair is None or not np.array_equal(pair.items, items)
    assert not chooser.over


def test_doubtful_items_are_named_at_the_end() -> None:
    chooser = begin()
    chooser.over, chooser._doubtful = True, np.array([3, 5])
    assert chooser.claim.ask(chooser.propose()) is None
    assert chooser.claim.over
    assert chooser.claim.doubtful == {3, 5}
