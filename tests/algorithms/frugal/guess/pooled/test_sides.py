"""Who is presumed on which side of a question, whom a step asks how often, and when it is over."""

from __future__ import annotations

import numpy as np
import pytest

from askfew.algorithms.frugal.claim.pooled import HIGH, LOW, PooledClaim
from askfew.algorithms.frugal.guess.pooled import sides as module
from askfew.algorithms.frugal.guess.pooled.history import History, Tuning
from askfew.algorithms.frugal.guess.pooled.hunt import Target
from askfew.algorithms.frugal.guess.pooled.sides import Sides, _references
from askfew.answers import Number
from askfew.plans import Plan
from askfew.records import Floats, Problem, Tally

from ..exact import exact, useful

ITEMS = 12
TRUTH = np.arange(ITEMS) % 2


def begin(gap: float = 2.0, tolerance: float = 0.0, per_cell: int | None = None) -> Sides:
    """Labelling by question 0, on which the items 0 and 1 are expected to differ by the gap."""
    problem = Problem(ITEMS, 1, Number(1.0))
    claim = PooledClaim(problem, 0.05, tolerance, per_cell)
    history = History(problem, 0.05, 5, Tuning(), tolerance, per_cell)
    target = Target(0, np.array([0, 1]), np.full(2, 4.0), np.array([0.0, gap]))
    return Sides(history, claim, target)


def step(sides: Sides, means: Floats, silent: int | None = None) -> Plan:
    plan = sides.propose()
    batch = sides.claim.ask(plan)
    assert batch is not None
    tally = exact(plan, means, batch.questions)
    if silent is not None:
        heard = np.where(batch.items == silent, 0, tally.counts)
        tally = Tally(heard, np.where(heard, tally.sums, 0.0))
    sides.claim.settle(tally)
    sides.history.record(plan, batch.questions, tally)
    sides.learn(plan, tally)
    return plan


def play(sides: Sides, means: Floats, silent: int | None = None, most: int = 200) -> str:
    for _ in range(most):
        step(sides, means, silent)
        if (end := sides.end()) is not None:
            return end
    raise AssertionError(f"no end in {most} steps")


def test_every_item_is_labelled_by_its_side() -> None:
    sides = begin()
    assert play(sides, useful(ITEMS, 1, {0: 2.0})) == "done"
    labelling = sides.claim.labelling(0)
    assert labelling is not None
    np.testing.assert_array_equal(labelling.sides, TRUTH)


def test_the_first_step_asks_everybody_and_labelled_items_wait_no_more() -> None:
    sides = begin()
    plan = step(sides, useful(ITEMS, 1, {0: 2.0}))
    assert plan.ints("items").tolist() == list(range(ITEMS))
    labelling = sides.claim.labelling(0)
    assert labelling is not None
    labelling.sides[:10] = TRUTH[:10]
    assert sides._waiting().tolist() == [10, 11]
    assert sides.high[[10, 11]].round().tolist() == [0, 1]


def test_references_are_on_the_side_they_are_presumed_on() -> None:
    sides, means = begin(), useful(ITEMS, 1, {0: 2.0})
    step(sides, means)
    plan = sides.propose()
    for side in (LOW, HIGH):
        who = plan.ints("items")[(plan.ints("roles") >> side & 1).astype(bool)]
        assert len(who)
        assert set(TRUTH[who]) == {side}
    levels = plan.floats("levels", 2)
    assert abs(levels - [0.0, 2.0]).max() < 0.3


def test_a_gap_that_is_not_there_is_futile() -> None:
    assert play(begin(), np.zeros((ITEMS, 1))) == "futile"


def test_an_item_that_never_answers_is_left_alone() -> None:
    sides = begin()
    assert play(sides, useful(ITEMS, 1, {0: 2.0}), silent=7) == "silent"
    assert sides._waiting().tolist() == [7]
    assert not sides._answering()[7]


def test_a_cap_is_kept_by_items_and_references() -> None:
    sides = begin(gap=0.5, per_cell=20)
    assert play(sides, useful(ITEMS, 1, {0: 0.5})) == "silent"  # nobody has room left
    labelling = sides.claim.labelling(0)
    assert labelling is not None
    assert labelling.counts.max() <= 20


@pytest.mark.parametrize(("tolerance", "given_up"), [(0.1, [3]), (0.0, [])])
def test_with_a_tolerance_an_item_is_given_up_after_many_answers(
    tolerance: float, given_up: list[int]
) -> None:
    sides = begin(tolerance=tolerance)
    step(sides, useful(ITEMS, 1, {0: 2.0}))
    labelling = sides.claim.labelling(0)
    assert labelling is not None
    labelling.sides[:] = TRUTH
    labelling.sides[[2, 3]] = -1
    sides._counts[:] = 10.0
    sides._counts[3] = 10 * module._DOUBTFUL + 1
    assert np.flatnonzero(sides.doubtful()).tolist() == given_up
    assert sides._waiting().tolist() == ([2] if given_up else [2, 3])


def test_a_late_item_is_bet_to_answer_as_it_has_done() -> None:
    sides = begin()
    step(sides, useful(ITEMS, 1, {0: 2.0}))
    sides._counts[5], sides._sums[5] = 1000.0, 700.0
    plan = sides.propose()
    assert plan.ints("items")[plan.ints("late")].tolist() == [5]
    assert plan.floats("own", 1).tolist() == [0.7]


def test_unsure_items_are_references_only_where_they_help() -> None:
    size, chance = np.ones(8, dtype=np.int64), np.array([1.0] * 6 + [0.65, 0.3])
    who, impurity = _references(size, chance, typical=1.0)
    assert sorted(who) == [0, 1, 2, 3, 4, 5]
    assert impurity == 0.0
    # If nobody is likely, the likeliest who is asked serves.
    who, impurity = _references(size, np.array([0.1] * 7 + [0.4]), typical=1.0)
    assert who.tolist() == [7]
    assert impurity == 0.6


def test_sure_members_are_asked_for_more_where_others_lack_references() -> None:
    sides = begin()
    size, chance = np.zeros(ITEMS, dtype=np.int64), np.where(TRUTH, 1.0, 0.0)
    sides._counts[1] = 50.0
    sides._ask_more(size, chance, waits=16.0, typical=1.0)
    assert size.sum() == 4  # the root of those who wait
    assert size[TRUTH == 0].sum() == 0
    assert size[1] == 0  # it has been asked most
