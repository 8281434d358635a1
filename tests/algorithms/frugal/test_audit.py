"""An audit after the last label: it changes no label, and shows whether items are alike."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import askfew
from askfew.errors import InvalidInput
from askfew.log import Log
from askfew.oracles import bernoulli, gaussian
from askfew.outcome import Outcome
from askfew.records import Batch, Finding, Floats, Oracle, Tally
from askfew.simulation import Instance
from error_limits import lower_limit

from .worlds import play

TWO, THREE = np.arange(24) % 2, np.arange(24) % 3


def two_groups(seed: int) -> Oracle:
    means = np.full((2, 8), 0.5)
    means[:, :5] = [[0.05], [0.95]]
    return bernoulli(means, labels=TWO, rng=seed)


def three_groups(seed: int) -> Oracle:
    return bernoulli(0.05 + 0.9 * np.tile(np.eye(3), 3), labels=THREE, rng=seed)


def numbers(seed: int) -> Oracle:
    return gaussian(np.array([[0.0] * 6, [3.0] * 3 + [0.0] * 3]), labels=TWO, rng=seed)


WAYS: dict[str, tuple[Callable[[int], Oracle], dict[str, Any]]] = {
    "pooled": (two_groups, {}),
    "numbers": (numbers, {}),
    "pooled, a cap": (two_groups, {"per_cell": 40}),
    "exclusion": (three_groups, {"groups": 3}),
    "auto": (three_groups, {"groups": "auto"}),
    "panel": (two_groups, {"per_cell": 12}),
    "cover": (two_groups, {"per_cell": 6}),
}
each_way = pytest.mark.parametrize("way", WAYS)


class Perverse:
    """Answers an audit at random, whatever the truth is: half yes and half no by item."""

    def __init__(self, oracle: Oracle) -> None:
        self.problem = oracle.problem
        self._oracle = oracle
        self.asked: list[Batch] = []

    def __call__(self, batch: Batch, /) -> Tally:
        self.asked.append(batch)
        if batch.known is None or batch.known.phase != "audit":
            return self._oracle(batch)
        return Tally(batch.repeats, np.where(batch.items % 4 < 2, 0.0, 1.0) * batch.repeats)


def same(one: Finding | None, other: Finding | None) -> bool:
    assert one is not None
    assert other is not None
    return (
        np.array_equal(one.labels, other.labels)
        and np.array_equal(np.asarray(one.evidence), np.asarray(other.evidence))
        and (one.status, one.reason, one.question) == (other.status, other.reason, other.question)
        and one.undecided == other.undecided
        and one.certificate == other.certificate
    )


@each_way
def test_nothing_that_is_certified_depends_on_it(way: str) -> None:
    """Not even if the audit's answers contradict every label."""
    world, options = WAYS[way]
    for seed in range(3):
        plain = play(world(seed), seed, **options)
        oracle = Perverse(world(seed))
        audited = play(oracle, seed, audit=100, **options)
        assert same(plain.result, audited.result)
        assert plain.result is not None
        assert plain.result.audited is None
        before = dict(audited.meter.by_phase)
        spent = before.pop("audit")
        assert before == plain.meter.by_phase
        assert audited.result is not None
        assert audited.result.audited is not None
        assert audited.result.audited.answers == spent
        assert 40 <= spent <= 100
        labels = audited.result.labels
        asked = [b for b in oracle.asked if b.known is not None and b.known.phase == "audit"]
        assert all((labels[batch.items] >= 0).all() for batch in asked)
        assert oracle.asked[-len(asked) :] == asked


@pytest.mark.parametrize("way", [way for way in WAYS if "per_cell" in WAYS[way][1]])
def test_the_cap_holds_in_the_audit_too(way: str) -> None:
    world, options = WAYS[way]
    oracle = Perverse(world(1))
    play(oracle, 1, audit=400, **options)
    asked = np.zeros((24, 8), dtype=np.int64)
    for batch in oracle.asked:
        np.add.at(asked, (batch.items, batch.questions), batch.repeats)
    assert asked.max() <= options["per_cell"]


@each_way
def test_if_answers_end_in_its_middle_the_labels_stand(way: str) -> None:
    world, options = WAYS[way]
    plain = play(world(2), 2, **options)
    for more in (0, 50):
        ended = play(world(2), 2, cap=plain.meter.answers + more, audit=100, **options)
        assert same(plain.result, ended.result)
        assert ended.status == "budget"
        assert ended.result is not None
        assert ended.result.audited is not None
        assert ended.result.audited.answers <= more


class Gone:
    """Nobody answers an audit."""

    def __init__(self, oracle: Oracle) -> None:
        self.problem = oracle.problem
        self._oracle = oracle

    def __call__(self, batch: Batch, /) -> Tally:
        if batch.known is None or batch.known.phase != "audit":
            return self._oracle(batch)
        return Tally(np.zeros(len(batch), dtype=np.int64), np.zeros(len(batch)))


def test_if_nobody_answers_it_the_labels_stand() -> None:
    ended = play(Gone(two_groups(3)), audit=100)
    assert same(play(two_groups(3)).result, ended.result)
    assert ended.result is not None
    assert ended.result.audited is not None
    assert ended.result.audited.answers == 0


def test_it_is_replayed_from_the_log_with_its_plans() -> None:
    log = Log(two_groups(4).problem)
    first = askfew.cluster(two_groups(4), audit=100, rng=4, log=log)
    kinds = [plan.kind for step in log for plan in step.plans]
    assert kinds[-4:] == ["audit"] * 4
    whole = Log.from_dict(json.loads(json.dumps(log.to_dict())))
    again = askfew.session(24, 8, audit=100, log=whole).outcome
    assert again is not None
    assert again.to_dict() == first.to_dict()
    half = Log(log.problem, log.recipe, log.steps[:-2])
    talk = askfew.session(24, 8, audit=100, log=half)
    batch = talk.ask()
    assert batch is not None
    assert batch.asks_the_same_as(log.steps[-2].batch)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"audit": -1}, "must be a whole number from 0, got -1"),
        ({"audit": 2.5}, "must be a whole number from 0, got 2.5"),
        ({"audit": True}, "must be a whole number from 0, got True"),
        ({"audit": 10, "per_cell": 1}, "needs a per_cell of at least 2"),
    ],
)
def test_what_cannot_be_audited_is_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        askfew.cluster(two_groups(0), rng=0, **options)


def test_without_labels_there_is_no_audit() -> None:
    nothing = bernoulli(np.full((1, 5), 0.5), labels=np.zeros(9, dtype=np.int64), rng=0)
    ended = play(nothing, cap=3000, audit=100)
    assert ended.meter.by_phase.get("audit", 0) == 0
    two = play(bernoulli(np.array([[0.1], [0.9]]), labels=np.array([0, 1]), rng=0), audit=100)
    assert two.meter.answers == 0


ALIKE = {
    "equal gaps": Instance(40, 16, 4, 0.7, "yes-no"),
    "unequal gaps": Instance(40, 30, 15, 0.8, "yes-no", decay=0.5),
    "numbers": Instance(20, 60, 10, 2.0),
}


@pytest.mark.parametrize("name", ALIKE)
def test_it_seldom_raises_a_false_alarm(name: str) -> None:
    """At most one report in a hundred may warn for nothing, beside wrong labels."""
    alarms = 0
    for seed in range(80):
        oracle = ALIKE[name].draw(np.random.SeedSequence([1, seed])).oracle
        checks = askfew.cluster(oracle, audit=200, rng=seed).checks
        assert checks is not None
        alarms += bool(checks.splits)
    assert lower_limit(alarms, 80) <= 0.01


def attributes(seed: int, audit: int = 200) -> Outcome:
    """Items that have attributes or have them not, each at random: any question sorts them."""
    has: Floats = np.where(np.random.default_rng(seed).random((60, 30)) < 0.5, 0.9, 0.1)
    return askfew.cluster(bernoulli(has, rng=seed), audit=audit, rng=seed)


def test_unlike_items_that_the_labels_do_not_show_are_noticed() -> None:
    """On the one question that is asked, items of a group are alike; on the others they are not."""

    def void(audit: int) -> int:
        found = [attributes(seed, audit).checks for seed in range(12)]
        return sum(each is not None and each.void for each in found)

    assert void(audit=200) >= 10
    assert void(audit=0) == 0


def test_the_certificate_says_what_was_audited() -> None:
    void = next(each for each in map(attributes, range(12)) if each.checks and each.checks.splits)
    text, asked = str(void.certificate_text), void.answers_by_phase["audit"]
    assert text.startswith("THE PROMISE BELOW DOES NOT HOLD")
    assert f"- audited: {asked} answers on " in text
    assert "of which the labels do not rest on: a question splits a group, as said above" in text
    alike = askfew.cluster(two_groups(5), audit=100, rng=5)
    assert "no question was seen to split a group" in str(alike)
    told = alike.to_dict()["checks"]["audited"]
    assert (told["answers"], told["wanted"]) == (100, 100)
    assert told["names"] == [str(each) for each in told["questions"]]
    assert "audit 100" in str(alike)
    assert "audited" not in askfew.cluster(two_groups(5), rng=5).to_dict()["checks"]
    before = alike.answers - 100
    cut = askfew.cluster(two_groups(5), audit=100, rng=5, max_answers=before + 50)
    assert f"- audited: {cut.answers - before} of 100 answers on" in str(cut)
    gone = askfew.cluster(Gone(two_groups(5)), audit=100, rng=5)
    assert "- audited: none of the 100 answers came" in str(gone)


def test_where_answers_show_it_already_nothing_more_is_asked() -> None:
    """Items of a group differ on the very question that sorts them."""
    means = np.repeat([[0.02], [0.35], [0.65], [0.98]], 10, axis=0)
    outcome = askfew.cluster(bernoulli(means, rng=2), audit=300, rng=2, max_answers=50_000)
    assert outcome.checks is not None
    assert outcome.checks.splits
    assert "audit" not in outcome.answers_by_phase
    assert "nothing more was asked, because a question splits a group already" in str(outcome)


def test_the_tolerance_of_more_groups_holds_in_the_check() -> None:
    """Items that differ by less than was allowed split nothing."""
    means = 0.1 + 0.8 * np.tile(np.eye(3), 3)[THREE]
    means[::2] += np.where(means[::2] < 0.5, 0.1, -0.1)
    outcome = askfew.cluster(bernoulli(means, rng=1), groups=3, tolerance=0.15, audit=3000, rng=1)
    assert outcome.checks is not None
    assert outcome.checks.tolerance == 0.15
    assert not outcome.checks.splits
