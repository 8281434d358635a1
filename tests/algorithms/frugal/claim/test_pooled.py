"""The claim for two groups: what it refuses, what it counts, and when it speaks."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askfew.algorithms.frugal.claim.pooled import HIGH, LOW, PooledClaim, part_of_delta
from askfew.answers import Number, YesNo
from askfew.errors import InvalidPlan
from askfew.plans import Plan
from askfew.records import Problem, Tally

PROBLEM = Problem(6, 3, Number(1.0))


def plan(question: int = 0, **changed: Any) -> Plan:
    """Three items presumed low and three high, a bet on 0 against 3."""
    columns = {
        "items": np.arange(6),
        "repeats": np.full(6, 4),
        "roles": np.array([1, 1, 1, 2, 2, 2]),
        "levels": np.array([0.0, 3.0]),
        "references": np.array([0.0, 3.0]),
        "late": np.zeros(0, dtype=np.int64),
        "own": np.zeros(0),
    }
    return Plan("label", {"question": question}, {**columns, **changed})


def told(claim: PooledClaim, step: Plan, means: list[float]) -> None:
    batch = claim.ask(step)
    assert batch is not None
    claim.settle(Tally(batch.repeats, np.array(means)[batch.items] * batch.repeats))


def test_parts_of_delta_sum_to_one() -> None:
    assert sum(part_of_delta(run) for run in range(60)) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "changed",
    [
        {"items": np.array([0, 0, 1, 2, 3, 4])},
        {"items": np.array([0, 1, 2, 3, 4, 6])},
        {"repeats": np.zeros(6, dtype=np.int64)},
        {"roles": np.full(6, 4)},
        {"roles": np.array([1])},
        {"levels": np.array([3.0, 0.0])},
        {"levels": np.array([0.0, np.nan])},
        {"references": np.array([0.0])},
        {"late": np.array([6])},
        {"late": np.array([1, 1]), "own": np.zeros(2)},
        {"late": np.array([1])},
    ],
)
def test_a_plan_that_is_not_sound_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(InvalidPlan):
        PooledClaim(PROBLEM, 0.1).ask(plan(**changed))


@pytest.mark.parametrize("question", [-1, 3, "0", None, True])
def test_a_question_that_is_none_is_refused(question: Any) -> None:
    with pytest.raises(InvalidPlan, match="must name its question"):
        PooledClaim(PROBLEM, 0.1).ask(plan(question))


def test_an_unknown_plan_is_refused() -> None:
    with pytest.raises(InvalidPlan, match="search, hunt, label or end"):
        PooledClaim(PROBLEM, 0.1).ask(Plan("guess"))


def test_nothing_is_published_before_both_sides_have_somebody() -> None:
    claim = PooledClaim(PROBLEM, 0.1)
    told(claim, plan(), [0.0, 0.0, 0.0, 0.0, 0.0, 3.0])
    assert (claim.labellings[0].sides >= 0).any()
    assert (claim.labels() == -1).all()
    told(claim, plan(), [0.0, 0.0, 0.0, 3.0, 3.0, 3.0])
    assert {0, 1} <= set(claim.labels().tolist())


def test_search_answers_are_no_evidence() -> None:
    claim = PooledClaim(PROBLEM, 0.1)
    look = Plan(
        "search",
        {},
        {"items": np.arange(6), "questions": np.zeros(6, int), "repeats": np.full(6, 50)},
    )
    told(claim, look, [0.0, 0.0, 0.0, 3.0, 3.0, 3.0])
    assert claim.labellings == []
    assert (claim.labels() == -1).all()


def test_every_further_question_has_its_own_part_of_delta() -> None:
    claim = PooledClaim(PROBLEM, 0.1)
    for question in (0, 1, 0, 2):
        told(claim, plan(question), [0.0] * 6)
    needed = [each.threshold for each in claim.labellings]
    assert [each.question for each in claim.labellings] == [0, 1, 2]
    assert np.allclose(6 * np.exp(-np.array(needed)), 0.1 * np.array([0.9, 0.08, 0.01]))


def test_a_second_question_is_joined_through_an_item_that_has_both() -> None:
    claim = PooledClaim(PROBLEM, 0.1)
    first = np.array([0, 1, 2, 3, 4])
    columns = {"items": first, "repeats": np.full(5, 9), "roles": np.array([1, 1, 1, 2, 2])}
    told(claim, plan(0, **columns), [0.0, 0.0, 0.0, 3.0, 3.0, 3.0])
    assert claim.labels().tolist() == [0, 0, 0, 1, 1, -1]
    # On question 1 the groups lie the other way round.
    rest = np.array([0, 4, 5])
    columns = {"items": rest, "repeats": np.full(3, 16), "roles": np.array([2, 1, 1])}
    told(claim, plan(1, **columns), [3.0, 3.0, 3.0, 0.0, 0.0, 0.0])
    assert claim.labels().tolist() == [0, 0, 0, 1, 1, 1]


def test_without_a_common_item_labels_of_two_questions_are_not_mixed() -> None:
    claim = PooledClaim(PROBLEM, 0.1)
    for question, who in ((0, [0, 1, 2, 3]), (1, [4, 5])):
        roles = np.array([1, 1, 2, 2] if question == 0 else [1, 2])
        columns = {"items": np.array(who), "repeats": np.full(len(who), 16), "roles": roles}
        told(claim, plan(question, **columns), [0.0, 0.0, 3.0, 3.0, 0.0, 3.0])
    assert (claim.labellings[1].sides[[4, 5]] >= 0).all()
    assert claim.labels().tolist() == [0, 0, 1, 1, -1, -1]


def test_an_item_that_both_sides_are_excluded_for_is_set_aside() -> None:
    claim = PooledClaim(PROBLEM, 0.1)
    step = plan(repeats=np.full(6, 40), late=np.array([0]), own=np.array([1.5]))
    told(claim, step, [1.5, 0.0, 0.0, 3.0, 3.0, 3.0])
    assert claim.misfits() == [0]
    assert claim.labels().tolist() == [-1, 0, 0, 1, 1, 1]


def test_a_bet_on_the_wrong_side_adds_nothing() -> None:
    claim = PooledClaim(PROBLEM, 0.1)
    step = plan(late=np.array([0, 3]), own=np.array([-5.0, 9.0]))
    told(claim, step, [-5.0, 0.0, 0.0, 9.0, 3.0, 3.0])
    assert claim.labellings[0].evidence[LOW, 0] == 0.0
    assert claim.labellings[0].evidence[HIGH, 3] == 0.0


def test_nobody_is_its_own_reference() -> None:
    """With its own answers among the references, an item would hide behind itself."""
    claim = PooledClaim(PROBLEM, 0.1)
    alone = plan(roles=np.array([1, 0, 0, 0, 0, 2]))
    told(claim, alone, [9.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert claim.labellings[0].evidence[LOW, 0] == 0.0  # nobody else is presumed low
    assert claim.labellings[0].evidence[LOW, 1] != 0.0


@given(
    low=st.floats(0.02, 0.9),
    gap=st.floats(0.0, 0.9),
    guesses=st.tuples(st.floats(0.01, 0.99), st.floats(0.01, 0.99)),
    others=st.lists(st.booleans(), min_size=2, max_size=3),
    side=st.sampled_from([LOW, HIGH]),
)
@settings(max_examples=150, deadline=None)
def test_the_expected_evidence_is_at_most_one_whoever_the_references_are(
    low: float, gap: float, guesses: tuple[float, float], others: list[bool], side: int
) -> None:
    """Enumerated: two answers of an item on the side, one of each reference, of either group."""
    high = min(low + gap, 0.98)
    claim = PooledClaim(Problem(6, 1, YesNo()), 0.1)
    mine = low if side == LOW else high
    chances = [mine, mine, *(high if other else low for other in others)]
    guess, reference = (max(guesses), min(guesses)) if side == LOW else (min(guesses), max(guesses))
    expected = 0.0
    for answers in product([0, 1], repeat=len(chances)):
        likely = np.prod([p if y else 1 - p for p, y in zip(chances, answers, strict=True)])
        block = claim._block(
            np.array([guess]),
            reference,
            np.array([float(sum(answers[:2]))]),
            np.array([2.0]),
            np.array([float(sum(answers[2:]))]),
            np.array([float(len(others))]),
            side,
        )
        expected += float(likely * np.exp(block[0]))
    assert expected <= 1 + 1e-9
