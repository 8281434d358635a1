"""The method from end to end: what it refuses, how it ends, and what it keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from askfew import Rule, certify, cluster
from askfew.algorithms import start
from askfew.algorithms.rule.claim.certificate import RuleCertificate
from askfew.algorithms.rule.guess.choose import Chooser
from askfew.algorithms.rule.guess.learn import Learner
from askfew.algorithms.rule.screen import Screen
from askfew.answers import Scale
from askfew.errors import InvalidInput, InvalidPlan
from askfew.oracles import bernoulli, gaussian, scale, table
from askfew.plans import Plan
from askfew.records import Batch, Finding, Floats, Problem, Tally
from askfew.rule import Node
from askfew.sessions import session

from .worlds import Skipping, at_random, committee, found, play, split_world, wrong

PROBLEM = Problem(6, 4)
CUT = Rule.cut(0, 0.5)

BAD: dict[str, dict[str, Any]] = {
    "must be among those that can be asked": {"given": Rule.cut(7, 0.5)},
    "given must be a Rule": {"given": "rule.json"},
    "at least two groups": {"anchors": {0: 0, 1: 0}},
    "at least two groups ": {"anchors": {0: "bird", 1: "bird"}},
    "at least two groups  ": {"anchors": {0: 0, 1: 2}},
    "which item belongs to which group": {"anchors": [0, 1]},
    "a name, or a number from 0 to 5": {"anchors": {0: -1, 1: 0}},
    "a name, or a number from 0 to 5 ": {"anchors": {0: 10**9, 1: 0}},
    "a name, or a number from 0 to 5  ": {"anchors": {0: 0.5, 1: 0}},
    "items from 0 to 5": {"anchors": {6: 0, 1: 1}},
    "as many groups as are asked for": {"anchors": {0: 0, 1: 1, 2: 2}},
    "groups of the rule: 0, 1": {"anchors": {0: "bird"}, "given": CUT},
    "more groups than the 6 items": {"groups": 7},
    "whole numbers from 2": {"groups": 1},
    "whole numbers from 2 ": {"groups": []},
    "whole numbers from 2  ": {"groups": 2.5},
    "whole numbers from 2   ": {"groups": None},
    "or 'auto'": {"groups": "many"},
    "per_cell, the most answers": {"per_cell": 0},
    "per_cell must be a number": {"per_cell": np.ones((2, 2))},
    "per_cell must be a number ": {"per_cell": np.full((6, 4), np.nan)},
    "per_cell must be a number  ": {"per_cell": np.full((6, 4), "many")},
    "limit, the most answers about one item": {"limit": 0},
    "limit, the most answers about one item ": {"limit": 1.5},
    "margin must lie above 0 and at most at 0.5": {"margin": 0.6},
    "margin must lie above 0 and at most at 0.5 ": {"margin": 0},
    "margin must lie above 0 and at most at 0.5  ": {"margin": float("nan")},
    "a rule without levels needs margin 0.5, got 0.25": {"given": CUT, "margin": 0.25},
    "error must be": {"error": "few"},
    "repeats must be": {"repeats": "often"},
    "defining questions must be numbers from 0 to 3": {"defining": [4]},
    "defining must be a list": {"defining": 0},
    "at least three defining questions": {"defining": [0, 1], "groups": 3},
    "takes the options": {"depth": 3},
}


@pytest.mark.parametrize("said", BAD)
def test_bad_input_gets_one_sentence(said: str) -> None:
    with pytest.raises(InvalidInput, match=said.strip()) as error:
        start("rule", PROBLEM, np.random.default_rng(0), delta=0.1, **BAD[said])
    assert "\n" not in str(error.value)


def never(item: str, question: str) -> int:
    raise AssertionError("nobody is asked")


@pytest.mark.parametrize(
    ("anchors", "said"),
    [
        ({"1": 0, 1: 1, "2": 1}, "an anchor must have one group"),
        ({"7": 0, "1": 1}, "anchors must be among the items"),
    ],
)
def test_anchors_by_name(anchors: dict[Any, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        cluster(never, ["1", "2", "3"], ["wings"], method="rule", anchors=anchors)


def test_a_name_that_two_have_says_nothing() -> None:
    with pytest.raises(InvalidInput, match="anchors must name one of the items each, got 'a', the"):
        cluster(never, ["a", "a", "b"], ["wings"], method="rule", anchors={"a": 0, "b": 1})
    with pytest.raises(InvalidInput, match="defining must name one of the questions each"):
        cluster(never, 3, ["wings", "wings"], method="rule", defining=["wings"])
    with pytest.raises(InvalidInput, match="got 'wings', the name of 2: give the questions"):
        certify(never, Rule.cut("wings", 0.5), items=3, questions=["wings", "wings"])


def test_questions_by_name() -> None:
    with pytest.raises(InvalidInput, match="must be among those that can be asked, got 'wings'"):
        certify(never, Rule.cut("wings", 0.5), items=3, questions=["legs"])
    with pytest.raises(InvalidInput, match="must be a Rule"):
        certify(never, "wings", items=3)  # type: ignore[arg-type]


# Endings.


def test_every_item_certified() -> None:
    means, groups = split_world(1, 60, 12, 8, spread=0)
    means = 0.5 + 1.35 * (means - 0.5)
    ended = play(bernoulli(means, rng=1), 1, error="share")
    finding = found(ended)
    assert finding.status == "done"
    assert finding.rule is not None
    assert isinstance(finding.certificate, RuleCertificate)
    assert finding.certificate.certified == 60
    assert np.mean(finding.labels == groups) in (0.0, 1.0)
    assert set(ended.meter.by_phase) == {"learn", "certify"}


@pytest.mark.parametrize(
    "means",
    [np.full((40, 8), 0.5), np.random.default_rng(0).choice([0.1, 0.9], (40, 12))],
    ids=["no question splits", "each question splits its own way"],
)
def test_no_consensus(means: Floats) -> None:
    finding = found(play(bernoulli(means, rng=1), 1))
    assert finding.status == "no-consensus"
    assert finding.rule is None
    assert finding.certificate is None
    assert (finding.labels == -1).all()
    assert "no split is carried by several questions" in finding.reason


def test_a_budget_keeps_what_was_certified() -> None:
    means = np.full((40, 1), 0.97)
    means[:10] = 0.6
    whole = play(bernoulli(means, rng=1), given=CUT)
    cap = whole.meter.answers * 2 // 3
    ended = play(bernoulli(means, rng=1), cap=cap, given=CUT)
    finding = found(ended)
    assert finding.status == "budget"
    assert ended.meter.answers <= cap
    assert isinstance(finding.certificate, RuleCertificate)
    assert 10 < finding.certificate.certified < 40
    assert finding.certificate.certified == (finding.labels >= 0).sum()
    undecided = set(np.flatnonzero(finding.labels < 0).tolist())
    assert set(finding.undecided) == undecided


def test_a_budget_that_ends_learning_leaves_nothing() -> None:
    means, _ = split_world(1, 60, 12, 8)
    finding = found(play(bernoulli(means, rng=1), cap=100))
    assert finding.status == "budget"
    assert finding.rule is None
    assert (finding.labels == -1).all()


def test_items_on_the_cut_are_named_as_between() -> None:
    means = np.full((20, 1), 0.95)
    means[:4] = 0.5
    finding = found(play(bernoulli(means, rng=1), given=CUT, error="share"))
    assert finding.status == "undecided"
    assert (finding.labels[4:] == 1).all()
    assert set(finding.undecided.values()) == {"between"}
    assert len(finding.undecided) >= 3  # on the cut, a label is right either way


def test_silent_items_are_named_as_such_and_hold_up_nobody() -> None:
    means = np.full((10, 3), 0.95)
    silent = Skipping(bernoulli(means, rng=1), lambda batch, _: batch.items < 2)
    finding = found(play(silent, given=committee(3)))
    assert (finding.labels[2:] == 1).all()
    assert finding.undecided == {0: "few-answers", 1: "few-answers"}


def test_anchors_keep_their_group_and_are_not_asked_again() -> None:
    means = np.full((12, 1), 0.95)
    asked: list[Batch] = []
    oracle = bernoulli(means, rng=1)

    class Watched:
        problem = oracle.problem

        def __call__(self, batch: Batch, /) -> Tally:
            asked.append(batch)
            return oracle(batch)

    finding = found(play(Watched(), given=CUT, anchors={0: 0, 3: "0"}))
    assert finding.labels[[0, 3]].tolist() == [0, 0]  # told, whatever their answers would be
    assert not any(np.isin(batch.items, [0, 3]).any() for batch in asked)
    assert isinstance(finding.certificate, RuleCertificate)
    assert (finding.certificate.told, finding.certificate.certified) == (2, 10)


@pytest.mark.parametrize("options", [{}, {"given": CUT}, {"repeats": "same"}])
def test_where_every_item_is_an_anchor_nothing_is_asked(options: dict[str, Any]) -> None:
    anchors = {"a": 0, "b": 1, "c": 0}
    if "given" in options:
        options = {"given": Rule.cut("wings", 0.5)}
    result = cluster(
        never, list("abc"), ["wings", "legs"], method="rule", anchors=anchors, **options
    )
    assert (result.status, result.answers) == ("done", 0)
    assert result.labels.tolist() == [0, 1, 0]
    assert result.certificate is None  # what the user said is not promised
    assert result.guesses.tolist() == [0, 1, 0]
    assert "every item is an anchor" in str(result)


def test_no_cell_is_asked_more_often_than_it_may_be() -> None:
    means, _ = split_world(2, 40, 12, 8)
    rng = np.random.default_rng(2)
    most = rng.integers(0, 9, means.shape).astype(float)
    counts = np.zeros(means.shape)
    oracle = Skipping(bernoulli(means, rng=2), at_random(0.1, 2))

    class Counted:
        problem = oracle.problem

        def __call__(self, batch: Batch, /) -> Tally:
            tally = oracle(batch)
            np.add.at(counts, (batch.items, batch.questions), tally.counts)
            return tally

    for options in ({}, {"given": committee(12)}, {"repeats": "same"}):
        counts[:] = 0
        play(Counted(), 2, per_cell=most, error="share", **options)
        assert (counts <= (most if "repeats" not in options else np.minimum(most, 1))).all()
        assert counts.sum() > 0


def test_one_answer_a_cell_is_evaluated_exactly() -> None:
    means, groups = split_world(3, 50, 12, 9, spread=0)
    means = (means > 0.5).astype(float)  # a judge that always says the same
    ended = play(bernoulli(means, rng=1), repeats="same")
    finding = found(ended)
    assert finding.status == "done"
    assert finding.rule is not None
    assert not wrong(finding.rule, finding.labels, means).any()
    assert np.mean(finding.labels == groups) in (0.0, 1.0)
    assert ended.meter.answers <= means.size
    assert finding.certificate is not None
    assert "nothing statistical is claimed" in finding.certificate.promise


def test_recorded_cells_that_run_dry_are_left_and_others_go_on() -> None:
    rng = np.random.default_rng(4)
    many = np.arange(30) % 3 > 0
    recorded = [[(rng.random(60 if much else 2) < 0.97).astype(int).tolist()] for much in many]
    result = certify(table(recorded, rng=1), CUT, delta=0.1)
    assert (result.labels[many] == 1).all()
    assert (result.labels[~many] == -1).all()
    assert result.status == "undecided"


def test_learning_from_a_recorded_table_leaves_enough_to_certify_or_says_so() -> None:
    means, _ = split_world(5, 40, 10, 8, spread=0)
    rng = np.random.default_rng(5)
    recorded = [
        [(rng.random(int(rng.integers(2, 30))) < p).astype(int).tolist() for p in row]
        for row in means
    ]
    result = cluster(table(recorded, rng=1), method="rule", error="share", rng=1)
    assert result.status == "undecided"
    assert (result.labels >= 0).sum() > 5


@pytest.mark.parametrize("kind", ["scale", "number"])
def test_other_kinds_of_answers(kind: str) -> None:
    means = np.full((10, 2), 1.5)
    means[5:] = 4.2
    given = committee(2, 3.0)
    oracle = scale(means, 1, 5, rng=1) if kind == "scale" else gaussian(means, 1.5, rng=1)
    assert found(play(oracle, given=given)).labels.tolist() == [0] * 5 + [1] * 5


def test_a_smaller_margin_decides_more_for_less() -> None:
    means = np.full((60, 2), 0.42)
    given = committee(2, level=0.35)
    half, quarter = (play(bernoulli(means, rng=1), given=given, margin=m) for m in (0.5, 0.25))
    decided = [(found(each).labels >= 0).sum() for each in (half, quarter)]
    assert decided[1] > decided[0] + 10
    assert "(margin 0.25)" in getattr(found(quarter).certificate, "promise", "")


def test_a_tiny_delta_is_never_rounded_to_certainty() -> None:
    finding = found(play(bernoulli([[0.99]] * 3, rng=1), delta=1e-8, given=CUT))
    assert finding.certificate is not None
    assert "probability at least 0.99999999:" in finding.certificate.promise


# Plans that a guess must not make.


def asked_with(plan: Plan, monkeypatch: pytest.MonkeyPatch, **options: Any) -> Finding:
    guess = Chooser if options else Learner
    monkeypatch.setattr(guess, "propose", lambda *_: plan)
    return found(play(bernoulli(np.full((4, 3), 0.5), rng=1), cap=100, **options))


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


@pytest.mark.parametrize(
    "plan",
    [
        Plan("screen", {}, {}),
        Plan("screen", {}, {"items": ints(), "questions": ints()}),
        Plan("screen", {}, {"items": ints(0, 1), "questions": ints(0)}),
        Plan("freeze", {}),
        Plan("freeze", {"rule": {}}),
        Plan("freeze", {"rule": Rule.cut(9, 0.5).to_dict()}),
        Plan("freeze", {"rule": Rule.cut("wings", 0.5).to_dict()}),
    ],
)
def test_a_bad_plan_of_the_learner_is_refused(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidPlan):
        asked_with(plan, monkeypatch)


def test_a_pilot_beyond_the_cap_of_a_cell_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    greedy = Plan("screen", {}, {"items": ints(0, 0, 0), "questions": ints(1, 1, 1)})
    monkeypatch.setattr(Learner, "propose", lambda *_: greedy)
    with pytest.raises(InvalidPlan, match="per_cell"):
        play(bernoulli(np.full((4, 3), 0.5), rng=1), per_cell=2)


ROUND = {"items": ints(1), "nodes": ints(0), "low": np.ones(1), "high": np.ones(1)}


@pytest.mark.parametrize(
    "columns",
    [
        {},
        ROUND,
        {**ROUND, "left": ints(), "why": ints(0)},
        {**ROUND, "left": ints(2), "why": ints(7)},
        {**ROUND, "left": ints(2), "why": ints(-1)},
        {**ROUND, "left": ints(9), "why": ints(0)},
    ],
)
def test_a_bad_plan_of_the_chooser_is_refused(
    columns: dict[str, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidPlan):
        asked_with(Plan("round", {}, columns), monkeypatch, given=CUT)


def test_pilot_answers_are_no_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the pilot used every cell up, nobody is labelled, however clear the answers were."""

    def freeze_after_all(self: Learner, screen: Screen) -> Plan:
        cells = np.divmod(np.repeat(np.arange(12), 20), 3)
        if not screen.rows:
            return Plan("screen", {}, {"items": cells[0], "questions": cells[1]})
        return Plan("freeze", {"rule": committee(3).to_dict()})

    monkeypatch.setattr(Learner, "propose", freeze_after_all)
    ended = play(bernoulli(np.full((4, 3), 0.99), rng=1), per_cell=20)
    assert ended.meter.by_phase == {"learn": 240}
    assert (found(ended).labels == -1).all()
    assert set(found(ended).undecided.values()) == {"few-answers"}


def test_groups_not_told_apart_have_no_label_and_say_so() -> None:
    merged = Rule((0,), Node((0,), (1.0,), (0.5,), (0, 1), (2,)), ("a", "b", "c"))
    means = np.array([[0.02]] * 10 + [[0.98]] * 5)
    for error in ("any", "share"):
        finding = found(play(bernoulli(means, rng=1), given=merged, error=error))
        assert finding.labels.tolist() == [-1] * 10 + [2] * 5
        assert finding.undecided == dict.fromkeys(range(10), "not-told-apart")
        assert isinstance(finding.certificate, RuleCertificate)
        assert finding.certificate.certified == 5
        everyone = found(play(bernoulli(means[:10], rng=1), given=merged, error=error))
        assert everyone.undecided == dict.fromkeys(range(10), "not-told-apart")


def test_names_of_groups_come_from_anchors() -> None:
    means, groups = split_world(6, 60, 12, 8, spread=0)
    names = {0: "fish", 1: "bird"}
    anchors = {int(item): names[g] for g in (0, 1) for item in np.flatnonzero(groups == g)[:3]}
    finding = found(play(bernoulli(means, rng=1), 1, anchors=anchors))
    assert finding.rule is not None
    assert set(finding.rule.groups) == {"fish", "bird"}
    said = np.array([names[g] for g in groups])
    certified = finding.labels >= 0
    assert certified.sum() > 50
    assert (np.array(finding.rule.groups)[finding.labels[certified]] == said[certified]).all()


def test_the_scale_s_own_units() -> None:
    """A cut at 4 of a scale from 1 to 5, not of one from 0 to 1."""
    oracle = scale([[3.0], [4.9]], 1, 5, rng=1)
    assert oracle.problem.kind == Scale(1, 5)
    assert found(play(oracle, given=Rule.cut(0, 4.0))).labels.tolist() == [0, 1]


def test_what_cannot_be_certified_any_more_is_not_asked_about() -> None:
    """Two answers a cell on a few questions never reach the threshold, whatever they say."""
    chances = np.where(np.arange(60)[:, np.newaxis] % 2 == 1, 0.95, 0.05) * np.ones(4)
    chances = np.concatenate([chances, np.full((60, 11), 0.5)], axis=1)
    result = cluster(bernoulli(chances, rng=1), method="rule", per_cell=2, rng=2)
    assert result.status == "undecided"
    assert set(result.answers_by_phase) == {"learn"}  # nothing is spent on certifying
    assert result.reason.startswith("hardly any of 60 items could be certified with 2 answers")
    assert set(result.undecided.values()) == {"few-answers"}
    assert len(result.guesses) == 60
    right = (result.guesses == np.arange(60) % 2).mean()
    assert max(right, 1 - right) > 0.7  # half of the items were asked: there is a guess for those


def test_a_rule_that_was_brought_is_not_asked_about_in_vain_either() -> None:
    means = np.full((60, 4), 0.9)
    finding = found(play(bernoulli(means, rng=1), per_cell=2, given=committee(4)))
    assert finding.reason == (
        "no item can be certified: 60 items would need more answers than a question may get"
    )


def test_small_batches_are_enlarged_for_the_people_at_work() -> None:
    root = Node((0, 1, 2), (1.0, 1.0, 1.0), (0.5, 0.5, 0.5), (0,), (1,))
    names = ["q0", "q1", "q2"]

    def first(**options: Any) -> tuple[int, list[str]]:
        talk = session(4, names, method="rule", given=Rule(tuple(names), root), rng=1, **options)
        batch = talk.ask()
        assert batch is not None
        recipe: Any = talk.log.recipe
        return int(batch.repeats.sum()), list(recipe["options"])

    few, recipe = first()
    assert first(at_work=lambda: 1) == (few, recipe)
    assert first(at_work=lambda: 20) == (3 * few, recipe)  # and who is there is no part of it
