"""What is screened, when a rule is proposed, and when it is given up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from askfew.algorithms.rule.guess import anchored
from askfew.algorithms.rule.guess.learn import Learner
from askfew.algorithms.rule.screen import Screen
from askfew.algorithms.rule.tuning import Tuning
from askfew.answers import YesNo
from askfew.oracles import bernoulli
from askfew.plans import Plan
from askfew.records import Batch, Floats, Ints, Oracle, Problem
from askfew.rule import Rule

from .worlds import found, play, split_world


def learner(problem: Problem, root: int = 1, **changes: Any) -> Learner:
    given: dict[str, Any] = {
        "groups": [2],
        "names": ["0", "1"],
        "anchors": np.full(problem.items, -1),
        "defining": np.zeros(0, dtype=np.int64),
        "per_cell": np.array([[np.inf]]),
        "same": False,
        "error": "any",
        "delta": 0.05,
        "margin": 0.5,
        "tuning": Tuning(),
    }
    return Learner(problem, **{**given, **changes}, root=root)


def learnt(oracle: Oracle, root: int = 1, **changes: Any) -> tuple[Plan, Screen]:
    """Answer what is screened until something else is proposed."""
    who, screen = learner(oracle.problem, root, **changes), Screen(oracle.problem)
    while (plan := who.propose(screen)).kind == "screen":
        cells = np.stack([plan.ints("items"), plan.ints("questions")])
        (items, questions), repeats = np.unique(cells, axis=1, return_counts=True)
        batch = Batch(items, questions, repeats)
        screen.record(batch, oracle(batch))
        assert len(screen.rows) < 40
    return plan, screen


def useful(means: Floats) -> set[int]:
    return set(np.flatnonzero(means.std(axis=0) > 0.1).tolist())


def test_the_first_screen_is_some_items_on_all_questions_once() -> None:
    plan = learner(Problem(200, 15)).propose(Screen(Problem(200, 15)))
    cells = set(zip(plan.ints("items").tolist(), plan.ints("questions").tolist(), strict=True))
    assert plan.kind == "screen"
    assert len(cells) == len(plan.ints("items")) == Tuning.first_items * 15
    assert {question for _, question in cells} == set(range(15))


def test_very_many_questions_are_sampled() -> None:
    plan = learner(Problem(50, 5000)).propose(Screen(Problem(50, 5000)))
    assert len(plan.ints("items")) <= Tuning.first_answers + Tuning.first_items * 20


def test_a_proposal_depends_on_the_answers_and_the_root_only() -> None:
    means, _ = split_world(3)
    plan, screen = learnt(bernoulli(means, rng=3))
    again = learner(bernoulli(means).problem).propose(screen)
    assert again.to_bytes() == plan.to_bytes()
    other = learner(Problem(100, 20), root=2).propose(Screen(Problem(100, 20)))
    first = learner(Problem(100, 20), root=1).propose(Screen(Problem(100, 20)))
    assert other.to_bytes() != first.to_bytes()


@pytest.mark.parametrize("seed", range(4))
def test_a_split_carried_by_several_questions_is_found(seed: int) -> None:
    means, groups = split_world(seed)
    plan, screen = learnt(bernoulli(means, rng=seed))
    assert plan.kind == "freeze"
    rule = Rule.from_dict(plan.facts["rule"])
    assert len(rule.questions) >= 3
    assert {int(str(each)) for each in rule.questions} <= useful(means)
    labels = rule.apply(means[:, np.array(rule.questions)])
    right = np.mean(labels == groups)
    assert max(right, 1 - right) > 0.95
    assert screen.answers < 1500


@pytest.mark.parametrize("name", ["flat", "independent", "lone", "duplicated"])
def test_where_there_is_no_split_it_is_given_up(name: str) -> None:
    rng = np.random.default_rng(5)
    means = np.full((60, 12), 0.5)
    if name in ("independent", "duplicated"):
        means = rng.choice([0.1, 0.9], (60, 12))
    if name == "lone":
        means[:, 3] = rng.choice([0.1, 0.9], 60)
    if name == "duplicated":
        means[:, 1] = 1 - means[:, 0]
    plan, screen = learnt(bernoulli(means, rng=5))
    assert plan.kind == "give up"
    assert screen.answers <= 8 * Tuning.first_answers


def test_a_learner_that_screens_everything_falls_out_of_the_band(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def answers() -> float:
        worlds = (split_world(seed)[0] for seed in range(6))
        return float(np.mean([learnt(bernoulli(m, rng=7))[1].answers for m in worlds]))

    assert 600 < answers() < 1150
    monkeypatch.setattr(Learner, "first_items", property(lambda self: self.problem.items))
    assert answers() > 1500


def with_anchors(seed: int) -> tuple[Plan, Screen, Floats, Ints]:
    """Three questions of 20 are useful, three items of each group are known."""
    means, groups = split_world(seed, useful=3, spread=0)
    anchors = np.full(100, -1)
    for g in (0, 1):
        anchors[np.flatnonzero(groups == g)[:3]] = g
    plan, screen = learnt(bernoulli(means, rng=seed), anchors=anchors, names=["fish", "bird"])
    return plan, screen, means, groups


def test_anchors_say_what_the_groups_are_and_make_it_cheap() -> None:
    plan, screen, means, groups = with_anchors(6)
    assert plan.kind == "freeze"
    rule = Rule.from_dict(plan.facts["rule"])
    assert rule.groups == ("fish", "bird")
    labels = rule.apply(means[:, np.array(rule.questions)])
    assert (labels == groups).mean() > 0.95
    assert screen.answers < 900


def test_with_anchors_fewer_and_fewer_questions_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    _, screen, _, _ = with_anchors(6)
    asked = [len(np.unique(questions)) for _, questions, _, _ in screen.rows]
    assert asked[0] == 20
    assert asked[-1] <= 6

    def answers() -> float:
        return float(np.mean([with_anchors(seed)[1].answers for seed in range(4)]))

    assert 420 < answers() < 680
    everything = lambda _, separated, __: np.arange(separated.levels.shape[1])  # noqa: E731
    monkeypatch.setattr(anchored, "_contenders", everything)
    assert answers() > 1200


def test_anchors_whose_cells_are_full_are_left_alone() -> None:
    means, groups = split_world(6, useful=8, spread=0)
    anchors = np.where(np.isin(np.arange(100), [0, 1, 2, 3, 4, 5]), groups, -1)
    assert len(set(anchors.tolist())) == 3
    twice: dict[str, Any] = {"per_cell": np.array([[2.0]]), "error": "share"}
    _, screen = learnt(bernoulli(means, rng=6), anchors=anchors, **twice)
    assert screen.table()[2].max() == 2


def test_one_defining_question_of_two_answers_is_a_rule_without_a_pilot() -> None:
    plan, screen = learnt(bernoulli(np.full((9, 4), 0.5), rng=1), defining=np.array([2]))
    assert screen.answers == 0
    assert Rule.from_dict(plan.facts["rule"]) == Rule((2,), Rule.cut(2, 0.5).root)


def test_two_defining_questions_are_turned_the_same_way() -> None:
    means = np.full((60, 4), 0.5)
    means[:, 1] = np.where(np.arange(60) % 2, 0.95, 0.05)
    means[:, 3] = 1 - means[:, 1]
    plan, _ = learnt(bernoulli(means, rng=1), defining=np.array([3, 1]))
    rule = Rule.from_dict(plan.facts["rule"])
    assert rule.questions == (1, 3)
    assert rule.root.weights[0] == -rule.root.weights[1]


def test_anchors_are_asked_a_defining_question_until_its_direction_is_clear() -> None:
    anchors = np.array([0, 0, 0, 1, 1, 1, -1, -1])

    def asked(low: float, high: float) -> tuple[float, int]:
        means = np.where(anchors == 1, high, low)[:, np.newaxis]
        plan, screen = learnt(
            bernoulli(means, rng=3), anchors=anchors, defining=np.array([0]), names=["a", "b"]
        )
        assert screen.table()[0].tolist() == [0, 1, 2, 3, 4, 5]
        rule = Rule.from_dict(plan.facts["rule"])
        assert rule.root.cuts == (0.5,)
        return rule.root.weights[0], int(screen.table()[2].max())

    assert asked(0.0, 1.0) == (1.0, 1)
    assert asked(1.0, 0.0) == (-1.0, 1)
    assert 1 < asked(0.65, 0.35)[1] <= 32
    assert asked(0.5, 0.5)[1] == Tuning().anchor_times


def test_only_defining_questions_are_looked_at() -> None:
    means, _ = split_world(8)
    some = np.array(sorted(useful(means))[:5])
    plan, screen = learnt(bernoulli(means, rng=8), defining=some)
    assert set(screen.table()[1].tolist()) <= set(some.tolist())
    assert plan.kind == "freeze"


def test_the_screen_adds_up_cells() -> None:
    problem = Problem(5, 4, YesNo())
    screen = Screen(problem)
    oracle = bernoulli(np.ones((5, 4)), rng=0)
    for who, what in (([0, 2], [1, 1]), ([2, 2], [1, 3])):
        batch = Batch(np.array(who), np.array(what), np.array([1, 2]))
        screen.record(batch, oracle(batch))
    items, asked, counts, sums = screen.table()
    assert items.tolist() == [0, 2]
    assert asked.tolist() == [1, 3]
    assert counts.tolist() == sums.tolist() == [[1, 0], [3, 2]]
    assert screen.answers == 6
    assert screen.counts_of(np.array([3, 1])).tolist() == [[0, 1], [0, 0], [2, 3], [0, 0], [0, 0]]


def test_the_number_of_groups_is_found() -> None:
    rng = np.random.default_rng(9)
    groups = np.arange(150) % 3
    sides = rng.permuted(np.tile([0.0, 0.0, 1.0], (14, 1)), axis=1).T
    means = np.full((150, 20), 0.5)
    means[:, :14] = 0.1 + 0.8 * sides[groups]
    finding = found(play(bernoulli(means, rng=9), 9, groups=[2, 3, 4], error="share"))
    assert finding.rule is not None
    assert len(finding.rule.leaves) == 3
