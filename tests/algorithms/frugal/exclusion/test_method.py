"""Any number of groups, from the first question to the certificate."""

from __future__ import annotations

import json

import numpy as np
import pytest

from askfew.algorithms.frugal.guess.exclusion import phases, step
from askfew.algorithms.frugal.method import by_exclusion, frugal
from askfew.driver import replay
from askfew.errors import InvalidInput
from askfew.log import Log
from askfew.oracles import gaussian
from askfew.records import Batch, Oracle, Tally
from askfew.simulation import Instance

from .worlds import NUMBERS, SCALE, SMALL, draw, play, right


@pytest.mark.parametrize("instance", [SMALL, NUMBERS, SCALE])
def test_three_groups_are_found_and_every_item_is_labelled(instance: Instance) -> None:
    for seed in range(3):
        world = draw(instance, seed)
        ended = play(world.oracle, seed)
        assert ended.result is not None
        assert ended.result.status == "done"
        assert ended.result.groups == 3
        assert ended.result.labels.tolist() == world.labels.tolist()


def test_groups_may_differ_by_their_level_on_one_question_alone() -> None:
    labels, means = np.arange(15) % 3, np.zeros((3, 5))
    means[:, 2] = 0.0, 3.0, 6.0
    ended = play(gaussian(means, labels=labels, rng=0))
    assert ended.result is not None
    assert ended.result.labels.tolist() == labels.tolist()


def test_five_groups_cost_what_they_did() -> None:
    """Frozen mean 4,200 answers; the prototype took 6,261."""
    instance = Instance(60, 40, 8, 0.7, "yes-no", groups=5)
    answers = [play(draw(instance, seed).oracle, seed, 0.05, 5).meter.answers for seed in range(3)]
    assert np.mean(answers) < 5000


def test_an_unknown_number_of_groups_is_a_lower_bound() -> None:
    world = draw(SMALL, 1)
    ended = play(world.oracle, 1, groups="auto")
    assert ended.result is not None
    assert ended.result.certificate is not None
    assert ended.result.groups == 3
    assert right(ended, world.labels)
    assert "There are at least 3 groups; the labels hold if there are exactly 3." in str(
        ended.result.certificate
    )


def test_the_certificate_says_what_it_rests_on() -> None:
    ended = play(draw(SMALL, 2).oracle, 2)
    assert ended.result is not None
    assert ended.result.certificate is not None
    certificate = ended.result.certificate
    text = certificate.text([f"i{each}" for each in range(12)], [f"q{each}" for each in range(6)])
    assert text.startswith("12 labels are right, all of them with probability at least 0.9.")
    assert "there are exactly 3 groups" in text
    json.dumps(certificate.to_dict())
    assert len(certificate.names(range(12), range(6))["representatives"]) == 3


def test_what_was_certified_survives_the_end_of_the_answers() -> None:
    world = draw(SMALL, 3)
    whole = play(world.oracle, 3).meter.answers
    early = play(draw(SMALL, 3).oracle, 3, cap=whole // 4)
    assert early.status == "budget"
    assert early.result is not None
    assert (early.result.labels < 0).all()
    assert early.result.certificate is None
    late = play(draw(SMALL, 3).oracle, 3, cap=whole - 5)
    assert late.result is not None
    assert late.result.certificate is not None
    assert 3 <= (late.result.labels >= 0).sum() < 12
    assert right(late, world.labels)


class Silent:
    """An oracle one of whose items never answers, and that loses every third answer."""

    def __init__(self, oracle: Oracle, item: int) -> None:
        self.problem, self._oracle, self._item = oracle.problem, oracle, item
        self._rng = np.random.default_rng(0)

    def __call__(self, batch: Batch, /) -> Tally:
        asked = self._rng.binomial(batch.repeats, 2 / 3)
        asked[batch.items == self._item] = 0
        some = np.flatnonzero(asked)
        counts, sums = np.zeros(len(batch), np.int64), np.zeros(len(batch))
        if len(some):
            rows = Batch(batch.items[some], batch.questions[some], asked[some])
            tally = self._oracle(rows)
            counts[some], sums[some] = tally.counts, tally.sums
        return Tally(counts, sums)


def test_a_silent_item_is_named_and_the_others_are_labelled() -> None:
    world = draw(SMALL, 4)
    ended = play(Silent(world.oracle, 5), 4)
    assert ended.result is not None
    assert ended.result.status == "undecided"
    assert ended.result.undecided == {5: "few-answers"}
    assert right(ended, world.labels)


def test_a_log_replays_with_other_heuristics(monkeypatch: pytest.MonkeyPatch) -> None:
    world = draw(SMALL, 5)
    log = Log(world.oracle.problem)
    ended = play(world.oracle, 5, log=log)
    monkeypatch.setattr(step, "_STEP", 0.5)
    monkeypatch.setattr(phases, "_HUNT", 2.0)
    again = replay(by_exclusion(log.problem, 0.1, np.random.default_rng(99), groups=3), log)
    assert again.ended is not None
    assert again.ended.result is not None
    assert ended.result is not None
    assert again.ended.result.labels.tolist() == ended.result.labels.tolist()


def test_a_run_goes_on_from_its_log_as_if_it_had_not_stopped() -> None:
    log = Log(draw(SMALL, 6).oracle.problem)
    whole = play(draw(SMALL, 6).oracle, 6)
    world = draw(SMALL, 6)
    play(world.oracle, 6, log=log, cap=200)
    ended = play(world.oracle, 6, log=log)
    assert ended.result is not None
    assert whole.result is not None
    assert ended.meter.answers == whole.meter.answers


@pytest.mark.parametrize("groups", [1, 13, 2.5, True, "many"])
def test_the_number_of_groups_must_make_sense(groups: object) -> None:
    problem = draw(SMALL, 0).oracle.problem
    with pytest.raises(InvalidInput, match="groups must be a whole number"):
        frugal(problem, 0.1, np.random.default_rng(0), groups=groups)  # type: ignore[arg-type]
