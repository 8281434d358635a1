"""Rules: read as text, written as JSON, applied to means, and refused in one sentence."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askfew.errors import InvalidInput
from askfew.rule import Node, Rule

FINITE = st.floats(-1e6, 1e6)
WEIGHTS = FINITE.filter(lambda each: each != 0)


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    count = draw(st.integers(1, 5))
    names = draw(
        st.lists(st.text(min_size=1), min_size=count, max_size=count, unique_by=str)
        | st.just(list(range(count)))
    )
    groups = draw(st.integers(2, 5))

    def side(some: list[int]) -> Node | tuple[int, ...]:
        if len(some) == 1 or draw(st.booleans()):
            return tuple(some)
        return branch(some)

    def branch(some: list[int]) -> Node:
        parted = draw(st.integers(1, len(some) - 1))
        asked = draw(st.lists(st.integers(0, count - 1), min_size=1, unique=True))
        size = len(asked)
        return Node(
            tuple(asked),
            tuple(draw(st.lists(WEIGHTS, min_size=size, max_size=size))),
            tuple(draw(st.lists(FINITE, min_size=size, max_size=size))),
            side(some[:parted]),
            side(some[parted:]),
            draw(st.none() | st.tuples(st.floats(-9, -1e-3), st.floats(1e-3, 9))),
        )

    order = draw(st.permutations(range(groups)))
    root = branch(list(order))
    learnt = tuple(draw(st.lists(st.text(), max_size=2)))
    return Rule(tuple(names), root, tuple(f"g{g}" for g in range(groups)), learnt)


@given(rules())
def test_a_rule_survives_json(rule: Rule) -> None:
    again = Rule.from_dict(json.loads(json.dumps(rule.to_dict())))
    assert again == rule
    assert again.digest == rule.digest
    assert str(again) == str(rule)


@given(rules())
def test_a_rule_in_words_names_its_questions_and_groups(rule: Rule) -> None:
    text = rule.text()
    for node in rule.nodes:
        for place in node.questions:
            assert str(rule.questions[place]) in text
    assert all(group in text for group in rule.groups)


@given(rules(), st.integers(0, 2**32))
def test_applying_follows_the_scores_down_the_tree(rule: Rule, seed: int) -> None:
    means = np.random.default_rng(seed).normal(size=(20, len(rule.questions)))
    labels = rule.apply(means)
    for row, label in zip(means, labels.tolist(), strict=True):
        at: Node | tuple[int, ...] = rule.root
        while isinstance(at, Node):
            score = at.scores(row[np.newaxis])[0]
            at = at.high if score > 0 else at.low if score < 0 else ()
        assert label == (at[0] if len(at) == 1 else -1)


def test_a_rule_is_saved_and_loaded(tmp_path: Path) -> None:
    rule = Rule.cut("Is it a bird?", 0.5, ["no bird", "bird"])
    rule.save(tmp_path / "rule.json")
    assert Rule.load(tmp_path / "rule.json") == rule


def test_one_question_and_one_cut_in_words() -> None:
    assert str(Rule.cut("wings", 0.25, ["fish", "bird"])) == (
        'bird if "wings" is above 0.25, else fish'
    )
    below = Rule(("wings",), Node((0,), (-1.0,), (0.25,), (0,), (1,)))
    assert str(below) == 'group 1 if "wings" is below 0.25, else group 0'


def test_a_tree_in_words() -> None:
    inner = Node((1,), (-0.5,), (2.0,), (1,), (2,))
    rule = Rule(("legs", "wings"), Node((0, 1), (1.0, 0.5), (0.5, 0.25), (0,), inner), tuple("abc"))
    assert str(rule).splitlines() == [
        "b or c if these add up to more than 0, else a:",
        "   +1.00 x (legs  - 0.5)",
        "   +0.50 x (wings - 0.25)",
        "among b or c:",
        "  c if these add up to more than 0, else b:",
        "     -0.50 x (wings - 2)",
    ]


def test_where_it_was_learnt_is_no_part_of_what_it_says() -> None:
    one, other = Rule.cut("q", 0.5), Rule.cut("q", 0.5001)
    taught = Rule(one.questions, one.root, one.groups, ("somewhere",))
    assert one.digest == taught.digest != other.digest


def test_an_item_on_the_cut_and_groups_not_told_apart_have_no_label() -> None:
    rule = Rule((0,), Node((0,), (1.0,), (0.5,), (0, 1), (2,)), ("a", "b", "c"))
    assert rule.apply([[0.5], [0.4], [0.6]]).tolist() == [-1, -1, 2]


def test_lines_of_a_margin() -> None:
    node = Node((0,), (1.0,), (0.5,), (0,), (1,), (-0.2, 0.4))
    assert node.lines(0.5) == (0.0, 0.0)
    assert node.lines(0.25) == (0.2, -0.1)
    assert Node((0,), (1.0,), (0.5,), (0,), (1,)).lines(0.25) == (0.0, 0.0)


def test_places_of_the_questions() -> None:
    rule = Rule(("b", "a"), Node((0, 1), (1.0, 1.0), (0.5, 0.5), (0,), (1,)))
    assert rule.places(["a", "x", "b"]).tolist() == [2, 0]
    with pytest.raises(InvalidInput, match=r"must be among those that can be asked, got 'b'"):
        rule.places(["a", "x"])


def node(**changes: Any) -> Node:
    said: dict[str, Any] = {
        "questions": (0, 1),
        "weights": (1.0, -1.0),
        "cuts": (0.5, 0.5),
        "low": (0,),
        "high": (1,),
        "levels": None,
    }
    return Node(**{**said, **changes})


BAD_NODES: dict[str, dict[str, Any]] = {
    "as many weights and cuts": {"weights": (1.0,)},
    "at least one": {"questions": (), "weights": (), "cuts": ()},
    "places 0 to 1": {"questions": (0, 2)},
    "places 0 to 1 ": {"questions": (-1, 0)},
    "each question once": {"questions": (1, 1)},
    "finite": {"cuts": (0.5, math.nan)},
    "finite ": {"weights": (1.0, math.inf)},
    "finite  ": {"levels": (-math.inf, 1.0)},
    "must not be 0": {"weights": (1.0, 0.0)},
    "both sides of its cut": {"levels": (0.1, 0.3)},
    "groups 0 to 1": {"high": (2,)},
    "groups 0 to 1 ": {"high": ()},
    "at one end": {"high": (0,)},
    "at one end ": {"high": (0, 1)},
}


@pytest.mark.parametrize("said", BAD_NODES)
def test_a_node_that_is_none_is_refused_in_one_sentence(said: str) -> None:
    with pytest.raises(InvalidInput, match=said.strip()) as error:
        Rule(("a", "b"), node(**BAD_NODES[said]))
    assert "\n" not in str(error.value)


def test_names_must_differ() -> None:
    with pytest.raises(InvalidInput, match="names each question once"):
        Rule(("a", "a"), node())
    with pytest.raises(InvalidInput, match="different names"):
        Rule(("a", "b"), node(), ("same", "same"))


@pytest.mark.parametrize("value", [math.nan, math.inf, "0.5", None])
def test_a_cut_must_be_a_number(value: Any) -> None:
    with pytest.raises(InvalidInput, match="finite number"):
        Rule.cut("q", value)


@pytest.mark.parametrize("means", [[0.5, 0.5], [[0.5]], [[[0.5, 0.5]]]])
def test_means_must_have_a_column_a_question(means: Any) -> None:
    with pytest.raises(InvalidInput, match="2 columns"):
        Rule(("a", "b"), node()).apply(means)


GOOD = Rule(("a", "b"), node()).to_dict()
TREE = GOOD["tree"]


@pytest.mark.parametrize(
    "values",
    [
        None,
        [],
        {},
        {"askfew_rule": 2},
        {**GOOD, "tree": None},
        {**GOOD, "tree": [0]},
        {**GOOD, "tree": {}},
        {**GOOD, "tree": {**TREE, "cuts": "no"}},
        {**GOOD, "tree": {**TREE, "weights": [1.0, None]}},
        {**GOOD, "tree": {**TREE, "high": []}},
        {**GOOD, "tree": {**TREE, "levels": [1.0]}},
        {**GOOD, "questions": None},
        {**GOOD, "questions": ["a"]},
        {**GOOD, "groups": 7},
        {**GOOD, "learnt_from": 1},
    ],
)
def test_json_that_is_no_rule_is_refused(values: Any) -> None:
    with pytest.raises(InvalidInput, match="must"):
        Rule.from_dict(values)


def test_a_rule_by_hand_may_leave_out_names() -> None:
    values = {key: GOOD[key] for key in ("askfew_rule", "questions", "tree")}
    assert Rule.from_dict(values) == Rule(("a", "b"), node())


@pytest.mark.parametrize("text", ["", "{", "\x00", "[1]"])
def test_a_file_that_is_no_rule_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "rule.json").write_text(text)
    with pytest.raises(InvalidInput, match="rule"):
        Rule.load(tmp_path / "rule.json")
    with pytest.raises(InvalidInput, match="JSON"):
        Rule.load(tmp_path / "none.json")
