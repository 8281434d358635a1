"""From classes to a rule: which questions, where the cuts lie, what cannot be told apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from askfew.algorithms.rule.guess.tree import grow
from askfew.algorithms.rule.tuning import Tuning
from askfew.answers import AnswerKind, Number, Scale, YesNo
from askfew.estimates.separation import Separation
from askfew.rule import Node, Rule


def grown(levels: Any, kind: AnswerKind | None = None, error: float = 0.05, **changes: Any) -> Any:
    """The rule for classes with these levels (classes x questions, in units of 0 to 1)."""
    table = np.array(levels, dtype=np.float64)
    k, d = table.shape
    spread = changes.pop("spread", np.full(d, 0.4))
    separated = Separation(table, spread, np.full((k, k, d), error), np.full((k, d), 50.0))
    given = {"doubt": 2.0, "committee": 7, "need": 3, "more": 0.05, **changes}
    return grow(
        separated,
        table,
        YesNo() if kind is None else kind,
        10 * np.arange(d),
        [f"g{g}" for g in range(k)],
        Tuning(),
        **given,
    )


def test_two_classes_are_divided_half_way_by_the_questions_that_differ() -> None:
    rule = grown([[0.1, 0.5, 0.2, 0.1, 0.5], [0.9, 0.5, 0.9, 0.7, 0.5]])
    assert isinstance(rule, Rule)
    assert rule.questions == (0, 20, 30)
    assert rule.root.cuts == pytest.approx((0.5, 0.55, 0.4))
    assert rule.apply([[0.1, 0.2, 0.1], [0.9, 0.9, 0.7]]).tolist() == [0, 1]
    assert rule.root.levels is not None
    low, high = rule.root.levels
    assert low == pytest.approx(-high)


def test_a_question_the_other_way_round_has_the_other_sign() -> None:
    rule = grown([[0.1, 0.9, 0.1, 0.1], [0.9, 0.1, 0.9, 0.9]])
    assert np.sign(rule.root.weights).tolist() == [1, -1, 1, 1]
    assert rule.apply([[0.1, 0.9, 0.1, 0.1]]).tolist() == [0]


def test_most_questions_speak_for_the_high_side() -> None:
    rule = grown([[0.9, 0.9, 0.1], [0.1, 0.1, 0.9]])
    assert np.sign(rule.root.weights).tolist() == [1, 1, -1]
    assert rule.apply([[0.9, 0.9, 0.1], [0.1, 0.1, 0.9]]).tolist() == [0, 1]


@pytest.mark.parametrize(
    "levels",
    [
        [[0.5] * 6, [0.5] * 6],
        [[0.1, 0.5, 0.5, 0.5], [0.9, 0.5, 0.5, 0.5]],
        [[0.1, 0.9, 0.5, 0.5], [0.9, 0.1, 0.5, 0.5]],
    ],
    ids=["nothing", "a lone question", "a duplicated question"],
)
def test_fewer_than_three_questions_carry_no_rule(levels: list[list[float]]) -> None:
    assert grown(levels) is None


def test_differences_within_their_error_carry_no_rule() -> None:
    apart = [[0.35] * 6, [0.65] * 6]
    assert grown(apart, error=0.01) is not None
    assert grown(apart, error=0.4) is None


def test_three_classes_are_a_tree_of_two_nodes() -> None:
    levels = [[0.1] * 4 + [0.1] * 4, [0.9] * 4 + [0.1] * 4, [0.9] * 4 + [0.9] * 4]
    rule = grown(levels)
    assert len(rule.nodes) == 2
    assert sorted(rule.leaves) == [(0,), (1,), (2,)]
    columns = [question // 10 for question in rule.questions]
    assert rule.apply(np.array(levels)[:, columns]).tolist() == [0, 1, 2]


def test_classes_that_cannot_be_told_apart_share_a_leaf() -> None:
    rule = grown([[0.1] * 5, [0.9] * 5, [0.9] * 5])
    assert sorted(rule.leaves) == [(0,), (1, 2)]
    assert isinstance(rule.root, Node)


def test_the_committee_has_its_size() -> None:
    levels = [[0.1] * 30, [0.9] * 30]
    assert len(grown(levels).questions) <= 7
    assert len(grown(levels, committee=20, more=0.2).questions) == 20


def test_a_scale_s_rule_is_in_its_own_units() -> None:
    rule = grown([[0.25] * 3, [0.75] * 3], Scale(1, 5), spread=np.full(3, 0.2))
    assert rule.root.cuts == pytest.approx((3.0,) * 3)
    assert rule.root.levels == pytest.approx((-1.0, 1.0))


def test_numbers_with_much_noise_weigh_less() -> None:
    levels = [[0.0] * 3, [4.0] * 3]
    rule = grown(levels, Number(1.0), spread=np.array([1.0, 1.0, 2.0]))
    assert rule.root.weights == pytest.approx((1.0, 1.0, 0.5))
    assert rule.root.cuts == pytest.approx((2.0,) * 3)
