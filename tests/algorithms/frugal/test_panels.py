"""The method under a cap, through the real driver."""

from __future__ import annotations

import json

import numpy as np
import pytest

from askfew.algorithms.frugal.method import by_panels, frugal
from askfew.driver import RunEnd, replay, run
from askfew.errors import InvalidInput
from askfew.log import Log
from askfew.records import Batch, Finding, Oracle, Problem, Procedure, Tally
from askfew.simulation.instances import Instance, World
from askfew.simulation.referee import judge
from askfew.testing import ForgetfulOracle, check_method


class Counting:
    """An oracle that refuses to be asked about a cell more often than the cap."""

    def __init__(self, oracle: Oracle, cap: int) -> None:
        self.problem, self.cap, self._oracle = oracle.problem, cap, oracle
        self.asked = np.zeros((self.problem.items, self.problem.questions), dtype=np.int64)

    def __call__(self, batch: Batch, /) -> Tally:
        np.add.at(self.asked, (batch.items, batch.questions), batch.repeats)
        assert self.asked.max() <= self.cap
        return self._oracle(batch)


def play(
    seed: int, cap: int, groups: int = 2, most: int = 10**6, **world: object
) -> tuple[RunEnd[Finding], World]:
    sizes = {"items": 60, "questions": 40, "gap": 0.7, "noise": "yes-no", "groups": groups}
    drawn = Instance(**{**sizes, **world}).draw(np.random.SeedSequence(seed))  # type: ignore[arg-type]
    rng = np.random.default_rng([seed, 1])
    procedure = by_panels(drawn.oracle.problem, 0.05, rng, groups=groups, per_cell=cap)
    return run(procedure, Counting(drawn.oracle, cap), max_answers=most), drawn


@pytest.mark.parametrize(("cap", "useful"), [(40, 4), (12, 8), (5, 12)])
def test_nearly_every_item_is_certified(cap: int, useful: int) -> None:
    decided = []
    for seed in range(3):
        ended, world = play(seed, cap, useful=useful)
        verdict = judge(ended.result, world)
        assert verdict.wrong == 0
        decided.append(verdict.decided)
    assert np.mean(decided) > 0.95


def test_three_groups() -> None:
    ended, world = play(3, 12, groups=3, useful=12)
    verdict = judge(ended.result, world)
    assert verdict.wrong == 0
    assert verdict.decided > 0.9


def test_one_answer_per_cell_names_its_assumption() -> None:
    ended, world = play(2, 1, questions=30, useful=12, gap=0.8)
    found = ended.result
    assert found is not None
    assert judge(found, world).wrong == 0
    if found.certificate is not None:
        assert "independent given the group" in str(found.certificate)
        json.dumps(found.certificate.to_dict(), allow_nan=False)
        assert set(found.undecided) == set(np.flatnonzero(found.labels < 0))


def test_too_little_is_said_early() -> None:
    ended, _ = play(0, 1, questions=12, useful=1)
    assert ended.result is not None
    assert ended.result.status == "undecided"
    assert (ended.result.labels == -1).all()
    assert "larger per_cell" in ended.result.reason
    assert ended.meter.answers < 0.5 * 60 * 12


def test_a_budget_keeps_what_is_certified() -> None:
    whole, _ = play(1, 12, useful=8)
    ended, world = play(1, 12, useful=8, most=whole.meter.answers - 60)
    found = ended.result
    assert found is not None
    assert found.status == "budget"
    assert 0 < (found.labels >= 0).sum() < 60
    assert judge(found, world).wrong == 0


@pytest.mark.parametrize("cap", [1, 5, 12])
def test_questions_that_tell_nothing_apart_end_the_run(cap: int) -> None:
    ended, _ = play(0, cap, useful=1, gap=0.0)
    assert ended.result is not None
    assert ended.result.status == "undecided"
    assert (ended.result.labels == -1).all()
    assert "larger per_cell" in ended.result.reason


@pytest.mark.parametrize(("groups", "cap"), [(2, 1), (2, 5), (2, 40), (3, 5)])
def test_it_replays_and_bears_skips_and_every_kind_of_answer(groups: int, cap: int) -> None:
    check_method(lambda problem, rng: by_panels(problem, 0.1, rng, groups=groups, per_cell=cap))


def test_a_longer_run_replays_and_bears_skips() -> None:
    world = Instance(items=30, questions=12, useful=8, gap=0.8, noise="yes-no")
    oracle = world.draw(np.random.SeedSequence(4)).oracle
    half = ForgetfulOracle(
        oracle, lambda step, repeats: np.random.default_rng(step).binomial(repeats, 0.7)
    )

    def start() -> Procedure[Finding]:
        return by_panels(oracle.problem, 0.1, np.random.default_rng(3), groups=2, per_cell=5)

    log = Log(oracle.problem)
    live = run(start(), half, log=log)
    assert live.result is not None
    assert (live.result.labels >= 0).mean() > 0.8
    again = replay(start(), log).ended
    assert again is not None
    assert again.result is not None
    np.testing.assert_array_equal(again.result.labels, live.result.labels)
    for cut in (1, len(log) // 2, len(log) - 1):
        part = replay(start(), Log(log.problem, steps=log.steps[:cut]))
        batch = part.ask()
        assert batch is not None
        assert batch.asks_the_same_as(log.steps[cut].batch)


@pytest.mark.parametrize(("noise", "gap"), [("gaussian", 3.0), ("scale", 0.8)])
def test_numbers_and_scales_under_a_small_cap(noise: str, gap: float) -> None:
    ended, world = play(1, 5, items=30, questions=20, useful=10, noise=noise, gap=gap)
    verdict = judge(ended.result, world)
    assert verdict.wrong == 0
    assert verdict.decided > 0.9


def test_as_many_items_as_groups_need_no_answer() -> None:
    problem = Problem(2, 3)
    ended = run(
        by_panels(problem, 0.1, np.random.default_rng(0), groups=2, per_cell=1),
        Instance(items=2, questions=3, useful=1, noise="yes-no", gap=0.5)
        .draw(np.random.SeedSequence(0))
        .oracle,
    )
    assert ended.meter.answers == 0


@pytest.mark.parametrize(("groups", "per_cell"), [(2, 0), (2, True), (1, 3), (11, 3)])
def test_bad_settings_are_refused(groups: int, per_cell: int) -> None:
    with pytest.raises(InvalidInput):
        frugal(Problem(20, 3), 0.1, np.random.default_rng(0), groups=groups, per_cell=per_cell)
