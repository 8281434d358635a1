"""Plans: bit-exact on paper, recorded with the Batch they led to, handed back by a replay."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askfew.driver import AskTell, replay
from askfew.errors import InvalidInput, InvalidPlan, ReplayMismatch
from askfew.log import Log
from askfew.plans import Plan
from askfew.records import Batch, Problem, Procedure, planned

PROBLEM = Problem(3, 2)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    ints = draw(st.lists(st.integers(-(2**62), 2**62), max_size=4))
    floats = draw(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=4))
    columns = {"items": np.array(ints, dtype=np.int64), "bets": np.array(floats)}
    return Plan(draw(st.text(max_size=5)), {"said": draw(st.floats(0, 1))}, columns)


@given(plans())
def test_a_plan_survives_bytes_and_json_bit_for_bit(plan: Plan) -> None:
    for again in (
        Plan.from_bytes(plan.to_bytes()),
        Plan.from_dict(json.loads(json.dumps(plan.to_dict()))),
    ):
        assert again.to_bytes() == plan.to_bytes()
        for name, column in plan.columns.items():
            assert again.columns[name].tobytes() == column.tobytes()


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"bets": np.array([1.0])},
        {"bets": np.array([1.0, np.nan])},
        {"bets": np.array([[1.0, 2.0]])},
        {"bets": np.array([1, 2])},
    ],
)
def test_a_column_that_is_none_is_refused(columns: dict[str, np.ndarray]) -> None:
    with pytest.raises(InvalidPlan, match="bets"):
        Plan("round", {}, columns).floats("bets", 2)


def test_a_plan_that_is_none_is_refused() -> None:
    for values in ({}, {"kind": "x", "facts": {}, "columns": {"a": ["f", "?"]}}):
        with pytest.raises(InvalidInput, match="plan"):
            Plan.from_dict(values)


def guessing(*sizes: int) -> Procedure[list[int]]:
    """Asks as many answers as a guess says, and returns what was planned."""
    made = []
    for size in sizes:
        plan = yield from planned(lambda size=size: _wants(size))  # type: ignore[misc]
        made.append(int(plan.ints("repeats")[0]))
        if made[-1] > 9:
            raise InvalidPlan("repeats must be at most 9", made[-1], "fix the guess")
        yield Batch(np.array([0]), np.array([0]), plan.ints("repeats"), "as planned")
    return made


def _wants(size: int) -> Plan:
    return Plan("ask", {}, {"repeats": np.array([size])})


def told(*sizes: int) -> Log:
    """The log of a session whose first two Batches were answered."""
    log = Log(PROBLEM)
    session = AskTell(guessing(*sizes), PROBLEM, log=log)
    for _ in range(2):
        batch = session.ask()
        assert batch is not None
        session.tell(batch.repeats, batch.repeats * 0)
    return log


def test_a_replay_hands_the_recorded_plans_back_and_goes_on_with_new_ones() -> None:
    log = told(3, 4, 5, 6)
    assert [len(step.plans) for step in log] == [1, 1]
    assert len(log.pending) == 1  # of the Batch that is open
    session = replay(guessing(7, 7, 7, 7), log)  # another heuristic
    batch = session.ask()
    assert batch is not None
    assert batch.repeats.tolist() == [5]
    for _ in range(2):
        session.tell([1], [0])
    assert session.ended is not None
    assert session.ended.result == [3, 4, 5, 7]


def test_a_log_with_plans_survives_json() -> None:
    log = told(3, 4, 5)
    again = Log.from_dict(json.loads(json.dumps(log.to_dict())))
    assert replay(guessing(1, 1, 1), again).ask() is not None
    assert again.to_dict() == log.to_dict()


def test_a_plan_that_was_changed_afterwards_is_caught() -> None:
    document = told(3, 4, 5).to_dict()
    document["steps"][1]["plans"] = [_wants(9).to_dict()]
    with pytest.raises(ReplayMismatch, match="step 1"):
        replay(guessing(1, 1, 1), Log.from_dict(document))


def test_a_plan_that_leads_elsewhere_is_a_mismatch() -> None:
    log = told(3, 4, 5)
    with pytest.raises(ReplayMismatch, match="step 0"):
        replay(_ignoring(), log)


def _ignoring() -> Procedure[None]:
    """Wants no plan at all."""
    yield Batch(np.array([0]), np.array([0]), np.array([3]), "as ever")


def test_a_recorded_plan_that_the_claim_refuses_is_a_mismatch() -> None:
    log = told(3, 4, 5)
    log.pending = (_wants(10),)
    with pytest.raises(ReplayMismatch, match="a plan that the claim accepts"):
        replay(guessing(1, 1, 1), log)
