"""What was asked under a cap: what is refused, and what is remembered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from askfew.algorithms.frugal.claim import ledger as module
from askfew.algorithms.frugal.claim.ledger import Ledger
from askfew.errors import InvalidPlan
from askfew.plans import Plan
from askfew.records import Problem, Tally


def plan(**changed: Any) -> Plan:
    columns = {
        "items": np.array([0, 1, 2]),
        "questions": np.array([0, 0, 1]),
        "repeats": np.array([2, 1, 2]),
    }
    return Plan("explore", {}, {**columns, **changed})


def fresh() -> Ledger:
    return Ledger.deal(Problem(3, 2), 3, root=0)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"repeats": np.array([4, 1, 1])}, "no cell may be asked more than 3 times"),
        ({"repeats": np.array([0, 1, 1])}, "at least once"),
        ({"items": np.array([0, 0, 2])}, "name a cell once"),
        ({"items": np.array([0, 1, 3])}, "items of the problem"),
        ({"questions": np.array([0, 0, 2])}, "questions of the deck"),
        ({"items": np.array([0, 1])}, "ask something of somebody"),
    ],
)
def test_a_plan_that_may_not_be_asked_is_refused(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidPlan, match=sentence):
        fresh().explore(plan(**changed))


def test_answers_fill_cells_up_to_the_cap() -> None:
    ledger = fresh()
    ledger.record(ledger.explore(plan()), Tally(np.array([2, 1, 1]), np.array([2.0, 0.0, 1.0])))
    assert ledger.answers == 4
    assert ledger.room.tolist() == [[1, 3], [2, 3], [3, 2]]
    assert ledger.sums[0, 0] == 2.0
    with pytest.raises(InvalidPlan, match="more than 3 times"):
        ledger.explore(plan())


def test_a_cell_that_stays_silent_is_left_to_others() -> None:
    ledger = fresh()
    for _ in range(2):
        ledger.record(ledger.explore(plan()), Tally(np.array([0, 1, 1]), np.zeros(3)))
    assert ledger.room[0, 0] == 3
    assert ledger.open_room[0, 0] == 0
    assert ledger.open_room[1, 0] == 1


def test_of_very_many_questions_some_are_considered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_CELLS", 30)
    ledger = Ledger.deal(Problem(3, 1000), 1, root=5)
    assert len(np.unique(ledger.deck)) == 10
    np.testing.assert_array_equal(ledger.deck, Ledger.deal(Problem(3, 1000), 1, root=5).deck)
