"""The claim alone, with plans made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from askfew.algorithms.frugal.claim.exclusion import Exclusion
from askfew.errors import InvalidPlan
from askfew.plans import Plan
from askfew.records import Problem, Tally

_INTS = np.zeros(0, dtype=np.int64)


def compare(**changes: Any) -> Plan:
    columns = {
        "first": np.array([0]),
        "second": np.array([1]),
        "questions": np.array([0]),
        "repeats": np.array([40]),
        "first_guess": np.array([0.1]),
        "second_guess": np.array([0.9]),
        "register": np.array([0]),
    }
    return Plan("compare", {}, {**columns, **changes})


def exclude(item: int, references: list[tuple[int, int]], **changes: Any) -> Plan:
    """One item on question 0, against (item, group)s."""
    groups = changes.pop("groups", 2)
    who, group = np.array(references, dtype=np.int64).reshape(-1, 2).T
    columns = {
        "items": np.array([item]),
        "questions": np.array([0]),
        "repeats": np.array([40]),
        "reference_items": who,
        "reference_groups": group,
        "reference_questions": np.zeros(len(who), dtype=np.int64),
        "reference_repeats": np.full(len(who), 40),
        "own_guess": np.full(groups, 0.5),
        "group_guess": np.linspace(0.1, 0.9, groups),
    }
    return Plan("exclude", {"phase": "label"}, {**columns, **changes})


def told(claim: Exclusion, plan: Plan, *yes: int) -> None:
    batch = claim.ask(plan)
    assert batch is not None
    claim.settle(Tally(batch.repeats, np.array(yes, dtype=np.float64)))


def with_pair(groups: int | None = 3, items: int = 6) -> Exclusion:
    """Items 0 and 1 are confirmed: all no, and all yes."""
    claim = Exclusion(Problem(items, 2), 0.1, groups)
    told(claim, compare(), 0, 40)
    assert claim.groups.representatives == [0, 1]
    return claim


def test_whoever_is_excluded_from_all_represents_the_next_group() -> None:
    claim = with_pair()
    assert (claim.groups.labels < 0).all()
    told(claim, exclude(2, [(0, 0), (1, 1)]), 20, 0, 40)
    assert claim.groups.representatives == [0, 1, 2]
    assert claim.groups.labels.tolist() == [0, 1, 2, -1, -1, -1]


def test_evidence_outlives_a_new_group() -> None:
    claim = with_pair()
    own = np.array([0.9, 0.9])
    told(claim, exclude(3, [(0, 0)], own_guess=own), 40, 0)
    before = claim.groups.evidence[3, 0]
    told(claim, exclude(2, [(0, 0), (1, 1)]), 20, 0, 40)
    assert claim.groups.evidence[3].tolist() == [before, 0, 0]
    assert claim.groups.excluded[3].tolist() == [True, False, False]


def test_a_misfit_is_set_aside_and_does_not_end_the_run() -> None:
    claim = with_pair(groups=2)
    told(claim, exclude(2, [(0, 0), (1, 1)]), 20, 0, 40)
    assert claim.groups.misfits.tolist() == [2]
    assert claim.groups.open_items.tolist() == [3, 4, 5]
    assert not claim.done


def test_references_rotate_only_once_all_groups_exist() -> None:
    claim = with_pair()
    own = np.array([0.1, 0.1])
    told(claim, exclude(3, [(1, 1)], own_guess=own), 0, 40)
    assert claim.groups.only_left[3] == 0
    with pytest.raises(InvalidPlan, match="references must be certified"):
        claim.ask(exclude(4, [(3, 0)]))
    claim = with_pair(groups=2)
    told(claim, exclude(3, [(1, 1)], own_guess=own), 0, 40)
    told(claim, exclude(4, [(3, 0)], own_guess=np.array([0.9, 0.9])), 40, 0)
    assert claim.groups.labels.tolist() == [0, 1, -1, 0, 1, -1]
    with pytest.raises(InvalidPlan, match="references must be certified"):
        claim.ask(exclude(5, [(2, 0)]))


def test_an_unknown_number_of_groups_grows_even_after_it_was_closed() -> None:
    claim = with_pair(groups=None)
    assert claim.ask(Plan("close")) is None
    told(claim, exclude(3, [(1, 1)], own_guess=np.array([0.1, 0.1])), 0, 40)
    assert claim.groups.labels[3] == 0
    with pytest.raises(InvalidPlan, match="references must be certified"):
        claim.ask(exclude(4, [(3, 0)]))
    told(claim, exclude(2, [(0, 0), (1, 1)]), 20, 0, 40)
    assert claim.groups.found == 3
    assert (claim.groups.labels < 0).all()


def test_a_block_without_answers_on_one_side_adds_nothing() -> None:
    claim = with_pair()
    batch = claim.ask(exclude(2, [(0, 0), (1, 1)]))
    assert batch is not None
    claim.settle(Tally(np.array([40, 0, 40]), np.array([20.0, 0.0, 40.0])))
    assert claim.groups.evidence[2, 0] == 0
    assert claim.groups.evidence[2, 1] > claim.threshold


def test_answers_before_registration_do_not_count() -> None:
    claim = Exclusion(Problem(6, 2), 0.1, 3)
    told(claim, compare(register=_INTS), 0, 40)
    assert not claim.groups.found
    told(claim, compare(repeats=np.array([1])), 0, 1)
    assert not claim.groups.found


def test_all_attempts_together_spend_delta() -> None:
    claim = Exclusion(Problem(60, 40), 0.05, 3)
    spent = claim.delta_pair
    for _ in range(30):
        spent += claim.item_delta
        claim.groups.representatives = [0, 1]
        claim.ask(Plan("restart"))
    assert spent == pytest.approx(0.05)
    assert spent <= 0.05
    assert claim.attempt == 31


WRONG: dict[str, dict[str, Any]] = {
    "items lie between": {"items": np.array([6])},
    "questions lie between": {"questions": np.array([2])},
    "a row asks at least once": {"repeats": np.array([0])},
    "references have a group": {"reference_groups": np.array([0, 2])},
    "own_guess must be 2 finite numbers": {"own_guess": np.array([np.nan, 0.5])},
    "a cell is asked once": {
        "items": np.array([2, 2]),
        "questions": np.array([0, 0]),
        "repeats": np.array([1, 1]),
        "own_guess": np.full(4, 0.5),
        "group_guess": np.full(4, 0.5),
    },
}


@pytest.mark.parametrize("sentence", WRONG)
def test_a_plan_that_cannot_be_acted_on_is_refused(sentence: str) -> None:
    with pytest.raises(InvalidPlan, match=sentence):
        with_pair().ask(exclude(2, [(0, 0), (1, 1)], **WRONG[sentence]))


@pytest.mark.parametrize("kind", ["close", "compare", "freeze"])
def test_a_plan_out_of_turn_is_refused(kind: str) -> None:
    with pytest.raises(InvalidPlan):
        with_pair().ask(compare() if kind == "compare" else Plan(kind))
