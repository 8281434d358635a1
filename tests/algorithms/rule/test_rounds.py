"""The claim checks every plan, never asks a cell too often, and shows nobody an open round."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askfew.algorithms.rule.claim.rounds import HIGH, LOW, TRIES, Certification
from askfew.answers import Number, YesNo
from askfew.errors import InvalidPlan
from askfew.evidence.line import round_evidence
from askfew.plans import Plan
from askfew.records import Batch, Problem, Tally
from askfew.rule import Node, Rule

from .worlds import committee

TREE = Rule(
    (0, 1, 2),
    Node((0, 1), (1.0, 1.0), (0.5, 0.5), (0,), Node((1, 2), (1.0, -1.0), (0.5, 0.5), (1,), (2,))),
    ("a", "b", "c"),
)


def certification(
    rule: Rule = TREE, items: int = 5, room: float = 9, anchors: int = 1, **changes: Any
) -> Certification:
    """Item 0 is an anchor."""
    questions = len(rule.questions)
    given: dict[str, Any] = {"error": "any", "delta": 0.1, "margin": 0.5}
    return Certification(
        changes.pop("problem", Problem(items, questions, YesNo())),
        rule,
        np.arange(questions),
        np.arange(anchors, items),
        used=np.zeros((items, questions), dtype=np.int64),
        room=np.full((items, questions), float(room)),
        **{**given, **changes},
    )


def plan(who: list[int], at: list[int] | None = None, bet: float = 1.0, **columns: Any) -> Plan:
    said = {
        "items": np.array(who, dtype=np.int64),
        "nodes": np.array(at if at is not None else [0] * len(who), dtype=np.int64),
        "low": np.full(len(who), bet),
        "high": np.full(len(who), bet),
    }
    return Plan("round", {}, {**said, **columns})


def answer(state: Certification, batch: Batch, value: float = 1.0) -> None:
    ones = np.ones(len(batch), dtype=np.int64)
    state.settle(Tally(ones, np.full(len(batch), value)))


BAD: dict[str, Plan] = {
    "no items": Plan("round", {}, {}),
    "no nodes": Plan("round", {}, {"items": np.array([1])}),
    "items that are no whole numbers": plan([1], items=np.array([1.0])),
    "items in two dimensions": plan([1], items=np.array([[1]])),
    "an item that is not there": plan([5]),
    "an item below 0": plan([-1]),
    "an item twice at two nodes": plan([1, 1], [0, 1]),
    "an anchor": plan([0]),
    "a node that is not there": plan([1], [2]),
    "a node below 0": plan([1], [-1]),
    "more rounds of an item than its cells take": plan([1] * 10),
    "fewer nodes than items": plan([1, 2], [0]),
    "a bet below 0": plan([1], bet=-0.01),
    "a bet on low below 0": plan([1], low=np.array([-1e-9])),
    "a bet beyond the limit": plan([1], bet=1.71),
    "a bet that is nothing": plan([1], bet=np.nan),
    "an endless bet": plan([1], high=np.array([np.inf])),
    "whole bets": plan([1], high=np.array([1])),
    "more bets than items": plan([1], high=np.ones(2)),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_plan_is_refused_and_changes_nothing(name: str) -> None:
    state = certification()
    with pytest.raises(InvalidPlan) as error:
        state.ask(BAD[name])
    assert "\n" not in str(error.value)
    assert state.open_items.tolist() == [1, 2, 3, 4]
    batch = state.ask(plan([1, 2]))
    assert batch is not None
    assert len(batch) == 4


def test_bets_have_limits_of_their_own_at_every_node_and_margin() -> None:
    skewed = Rule((0,), Node((0,), (1.0,), (0.2,), (0,), (1,), (-0.1, 0.3)))
    low, high = certification(skewed).bet_limits(0)
    assert low == pytest.approx(0.85 / 0.8)
    assert high == pytest.approx(0.85 / 0.2)
    low, high = certification(skewed, margin=0.25).bet_limits(0)
    assert low == pytest.approx(0.85 / (0.8 - 0.15))  # the line of low is half-way up to .3
    assert high == pytest.approx(0.85 / (0.2 - 0.05))
    numbers = certification(committee(1), problem=Problem(5, 1, Number(1.0)))
    assert numbers.bet_limits(0) == (np.inf, np.inf)


def test_an_item_with_an_open_round_or_a_label_gets_no_other() -> None:
    state = certification(committee(3), items=4)
    batch = state.ask(plan([1, 2], bet=1.7))
    assert batch is not None
    with pytest.raises(InvalidPlan, match="open"):
        state.ask(plan([2]))
    answer(state, batch)
    while (state.labels[[1, 2]] < 0).any():
        batch = state.ask(plan([1, 2], bet=1.7))
        assert batch is not None
        answer(state, batch)
    assert state.labels.tolist() == [-1, 1, 1, -1]
    with pytest.raises(InvalidPlan, match="open"):
        state.ask(plan([1]))


def test_a_full_cell_is_not_asked() -> None:
    state = certification(room=1)
    batch = state.ask(plan([1, 2], [0, 1]))
    assert batch is not None
    answer(state, batch)
    assert state.has_room(np.array([1, 2, 3]), 0).tolist() == [False, False, True]
    for item, node in ((1, 0), (1, 1), (2, 0), (2, 1)):
        with pytest.raises(InvalidPlan, match="room"):
            state.ask(plan([item], [node]))


def test_values_of_an_open_round_are_shown_to_nobody() -> None:
    state = certification(committee(3))
    batch = state.ask(plan([1, 2]))
    assert batch is not None
    counts = np.where((batch.items == 1) & (batch.questions == 1), 0, 1)
    state.settle(Tally(counts, counts.astype(float)))
    assert [each.items.tolist() for each in state.settled] == [[2]]
    assert not state.evidence[1].any()
    assert state.evidence[2, 0, HIGH] > 0 > state.evidence[2, 0, LOW]
    assert state.open_items.tolist() == [2, 3, 4]
    again = state.ask(plan([3]))
    assert again is not None
    assert sorted(zip(again.items.tolist(), again.questions.tolist(), strict=True)) == [
        (1, 1),
        (3, 0),
        (3, 1),
        (3, 2),
    ]
    answer(state, again)
    # Late or not, the round counts with the bet it was begun with.
    assert state.evidence[1, 0, HIGH] == state.evidence[2, 0, HIGH]


def test_a_round_that_stays_incomplete_is_left_out_whole() -> None:
    state = certification(committee(3))
    for attempt in range(TRIES):
        batch = state.ask(plan([1] if attempt == 0 else []))
        assert batch is not None
        counts = (batch.questions != 1).astype(np.int64)
        state.settle(Tally(counts, counts.astype(float)))
    assert state.dropped.tolist() == [0, 1, 0, 0, 0]
    assert not state.evidence.any()
    assert state.waiting == 0
    assert state.used[1].tolist() == [1, 0, 1]
    assert state.ask(plan([])) is None


def test_evidence_is_that_of_the_rounds() -> None:
    state = certification(committee(2), items=2)
    total = np.zeros(2)
    rng = np.random.default_rng(0)
    for _ in range(4):
        bets = rng.uniform(0, 1.7, 2)
        batch = state.ask(plan([1], low=bets[:1], high=bets[1:]))
        assert batch is not None
        values = rng.integers(2, size=2).astype(float)
        state.settle(Tally(np.ones(2, dtype=np.int64), values))
        scores = values[np.newaxis] - 0.5
        total += [
            round_evidence(YesNo(), sign * scores, 0.0, [bet], [1, 1])[0]
            for sign, bet in zip((-1, 1), bets, strict=True)
        ]
    assert state.evidence[1, 0] == pytest.approx(total)


def test_a_leaf_needs_every_node_on_its_way() -> None:
    state = certification()
    state.evidence[1] = [[-3.0, 8.0], [2.0, -1.0]]
    assert state.for_leaves(np.array([1])).tolist() == [[-3.0, 2.0, -1.0]]
    state.evidence[1, 1, LOW] = 9.0
    state._label()
    assert state.labels[1] == 1
    assert state.threshold == pytest.approx(np.log(4 * 2 / 0.1))


def test_a_leaf_of_several_groups_is_no_label_and_helps_nobody() -> None:
    merged = Rule((0,), Node((0,), (1.0,), (0.5,), (0, 1), (2,)), ("a", "b", "c"))
    state = certification(merged, items=21, error="share")
    state.evidence[1:20, 0, LOW] = 20.0
    state.evidence[20, 0, HIGH] = 4.0  # enough if the other nineteen were labels
    state._label()
    assert state.leaf[1:20].tolist() == [0] * 19
    assert state.leaf[20] == -1
    assert (state.labels == -1).all()
    state.evidence[20, 0, HIGH] = np.log(20 / 0.1) + 1e-6
    state._label()
    assert state.labels[20] == 2


def test_a_run_begins_with_nobody_labelled_and_may_end_before_it_began() -> None:
    for error in ("any", "share"):
        state = certification(error=error)
        assert state.ask(plan([])) is None
        assert (state.labels == -1).all()


@given(st.integers(0, 2**32), st.sampled_from(["any", "share"]), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_whatever_is_planned_caps_hold_and_labels_stay(seed: int, error: str, room: int) -> None:
    """Random plans that are valid, random answers, random skips."""
    rng = np.random.default_rng(seed)
    state = certification(items=12, room=room, error=error, delta=0.5)
    labels = state.labels
    threshold = np.inf
    for _ in range(25):
        open_items = state.open_items
        some = open_items[rng.random(len(open_items)) < 0.7]
        nodes = rng.integers(2, size=len(some))
        fits = np.array(
            [state.has_room(np.array([i]), k)[0] for i, k in zip(some, nodes, strict=True)]
        )
        some, nodes = some[fits.astype(bool)], nodes[fits.astype(bool)]
        bets = rng.uniform(0, 1.7, (2, len(some)))
        batch = state.ask(plan(some.tolist(), nodes.tolist(), low=bets[0], high=bets[1]))
        if batch is None:
            continue
        counts = (rng.random(len(batch)) < 0.8).astype(np.int64)
        yes = counts * (rng.random(len(batch)) < 0.9)
        state.settle(Tally(counts, yes.astype(np.float64)))
        assert (state.used <= room).all()
        assert state.labels[0] == -1
        kept = labels >= 0
        assert (state.labels[kept] == labels[kept]).all()
        assert state.threshold <= threshold + 1e-12 or error == "any"
        labels, threshold = state.labels, state.threshold
