"""The method under a cap, through the real driver."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import beta

from askfew.algorithms.frugal.claim.cover import Cover
from askfew.algorithms.frugal.claim.ledger import Ledger
from askfew.algorithms.frugal.claim.panel import Panel
from askfew.algorithms.frugal.method import by_panels, frugal
from askfew.driver import RunEnd, replay, run
from askfew.errors import InvalidInput, InvalidPlan
from askfew.log import Log
from askfew.plans import Plan
from askfew.records import Batch, Finding, Floats, Oracle, Problem, Procedure, Tally
from askfew.simulation.instances import Instance, World
from askfew.simulation.referee import judge
from askfew.testing import ForgetfulOracle, check_method

RUNS, DELTA = 2000, 0.1


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


# Panels that cover all items, with a guesser that is as greedy as it can be.


def covered(seed: int, peeking: bool) -> bool:
    """Whether any label was published though all items are alike: always a mistake."""
    rng = np.random.default_rng([seed, 8])
    cover = Cover(Ledger(Problem(14, 2), 40, np.arange(2)), DELTA, np.arange(14))
    totals = np.zeros((14, 2))
    items, questions = np.repeat(np.arange(14), 2), np.tile(np.arange(2), 14)
    ones = np.ones(28, dtype=np.int64)
    for step in range(8):
        answers = (rng.random((14, 2)) < 0.5).astype(np.float64)
        seen, asked = (totals + 3 * answers, step + 3) if peeking else (totals, step)
        means = (seen + 0.5) / (asked + 1)
        columns = {"items": items, "questions": questions, "repeats": ones}
        bets = {"guesses": means.ravel(), "bets": np.ones(14, dtype=np.int64)}
        cover.ask(Plan("certify", {}, {**columns, **bets}))
        cover.settle(Tally(ones, answers.ravel()))
        totals += answers
        if (cover.labels >= 0).any():
            return True
    return False


def test_panels_of_items_that_are_all_alike_publish_rarely() -> None:
    errors = sum(covered(seed, peeking=False) for seed in range(60))
    assert float(beta.ppf(0.95, errors + 1, 60 - errors)) <= DELTA


def test_panels_catch_bets_that_have_seen_the_answers() -> None:
    assert sum(covered(seed, peeking=True) for seed in range(20)) > 10


def test_a_panel_holds_every_partition_once() -> None:
    cover = Cover(Ledger(Problem(4, 2), 1, np.arange(2)), 0.1, np.arange(4))
    assert cover.root.sides is not None
    assert len(np.unique(cover.root.sides, axis=0)) == 8
    assert (cover.root.sides[:, 0] == 1).all()


def test_parts_of_delta_of_panels_and_joins_add_up() -> None:
    cover = Cover(Ledger(Problem(61, 2), 1, np.arange(2)), 0.1, np.arange(61))
    assert sum(np.exp(-node.needed) for node in cover.nodes) == pytest.approx(0.1)
    assert sorted(cover.root.members) == list(range(61))


# The claim alone, with a guesser that is as greedy as it can be.

ROWS = np.repeat(np.arange(6), 2), np.tile(np.arange(2), 6)


def greedy(totals: Floats, asked: float) -> Plan:
    """Bets that items are what their answers were so far."""
    means = (totals + 0.5) / (asked + 1)
    levels = np.clip(np.stack([means.max(axis=0), means.min(axis=0)]), 0.05, 0.95)
    high = abs(means - levels[0]).sum(axis=1) < abs(means - levels[1]).sum(axis=1)
    chances = np.where(high[:, np.newaxis], [0.9, 0.1], [0.1, 0.9])
    columns = {"levels": levels.ravel(), "chances": chances.ravel()}
    return Plan("certify", {}, {**columns, **rows()})


def rows() -> dict[str, np.ndarray]:
    items, questions = ROWS
    return {"items": items, "questions": questions, "repeats": np.ones(12, dtype=np.int64)}


def published(seed: int, peeking: bool) -> bool:
    """Whether any label was published though all items are alike: always a mistake."""
    rng = np.random.default_rng([seed, 9])
    panel = Panel(Ledger(Problem(6, 2), 40, np.arange(2)), 2, DELTA, 1, [0, 1, 2, 3])
    totals = np.zeros((6, 2))
    for step in range(10):
        answers = (rng.random((6, 2)) < 0.5).astype(np.float64)
        plan = greedy(totals + 3 * answers, step + 3) if peeking else greedy(totals, step)
        panel.ask(plan)
        panel.settle(Tally(np.ones(12, dtype=np.int64), answers.ravel()))
        totals += answers
        if (panel.labels >= 0).any():
            return True
    return False


def test_labels_of_items_that_are_all_alike_are_rare() -> None:
    errors = sum(published(seed, peeking=False) for seed in range(RUNS))
    assert float(beta.ppf(0.95, errors + 1, RUNS - errors)) <= DELTA


def test_bets_that_have_seen_the_answers_are_caught() -> None:
    errors = sum(published(seed, peeking=True) for seed in range(100))
    assert errors > 50


def test_attempts_share_delta() -> None:
    ledger = Ledger(Problem(6, 2), 40, np.arange(2))
    panels = [Panel(ledger, 2, DELTA, attempt, [0, 1, 2, 3]) for attempt in range(1, 30)]
    assert sum(each.panel_delta + each.item_delta for each in panels) <= DELTA


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("repeats", np.full(12, 41)),
        ("items", np.full(12, 6)),
        ("items", np.zeros(12, dtype=np.int64)),
        ("questions", np.full(12, 2)),
        ("chances", np.full(12, 0.7)),
        ("levels", np.full(4, np.nan)),
    ],
)
def test_a_bad_plan_is_refused(name: str, value: np.ndarray) -> None:
    panel = Panel(Ledger(Problem(6, 2), 40, np.arange(2)), 2, DELTA, 1, [0, 1, 2, 3])
    good = greedy(np.zeros((6, 2)), 0)
    with pytest.raises(InvalidPlan):
        panel.ask(Plan("certify", {}, {**good.columns, name: value}))


@pytest.mark.parametrize("members", [[0], [0, 0, 1], [0, 6], [-1, 2]])
def test_a_bad_panel_is_refused(members: list[int]) -> None:
    with pytest.raises(InvalidPlan):
        Panel(Ledger(Problem(6, 2), 40, np.arange(2)), 2, DELTA, 1, members)
