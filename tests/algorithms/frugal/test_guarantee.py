"""P(any wrong label) <= delta, measured; and the measurement catches ways of cheating."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from askfew.algorithms.frugal.claim import pooled
from askfew.algorithms.frugal.claim.pooled import PooledClaim
from askfew.algorithms.frugal.guess.pooled.sides import Sides
from askfew.answers import AnswerKind, Number
from askfew.evidence import log_evidence
from askfew.oracles import gaussian, scale
from askfew.plans import Plan
from askfew.records import Floats, Ints, Oracle, Problem, Tally
from error_limits import lower_limit, upper_limit

from .worlds import numbers, play, right, yes_no

DELTA = 0.1


def label_errors(world: Callable[[int], Oracle], labels: Ints, runs: int) -> int:
    ended = (play(world(seed), seed, DELTA) for seed in range(runs))
    return sum(not right(each, labels) for each in ended)


ALONE = np.array([0, 1, 1, 1])
THIRTY = np.arange(30) % 2
WORLDS: dict[str, tuple[Callable[[int], Oracle], Ints]] = {
    "weak, dense": (lambda seed: numbers(seed, 1.0, 5, 5, THIRTY), THIRTY),
    "alone": (lambda seed: numbers(seed, 2.0, 1, 4, ALONE), ALONE),
    "yes/no": (lambda seed: yes_no(seed, 0.95, 2, 4, THIRTY), THIRTY),
    "scale": (
        lambda seed: scale([[1.0, 2.0], [3.0, 2.0]], labels=ALONE, rng=seed),
        ALONE,
    ),
}


@pytest.mark.parametrize("name", WORLDS)
def test_labels_are_right(name: str) -> None:
    world, labels = WORLDS[name]
    assert upper_limit(label_errors(world, labels, 150), 150) <= DELTA


def test_labels_are_right_whoever_is_presumed_on_a_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """All sides presumed wrongly in the first steps: that costs more, and is not less right."""
    fit = Sides._fit

    def wrong_at_first(self: Sides) -> Floats:
        high = fit(self)
        return high if self.history.asked > 2000 else 1 - high

    monkeypatch.setattr(Sides, "_fit", wrong_at_first)
    world, labels = WORLDS["weak, dense"]
    assert upper_limit(label_errors(world, labels, 60), 60) <= DELTA


def test_labels_are_right_after_restarts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every labelling is broken off once: the next question has its own part of delta."""
    end = Sides.end

    def breaks_off(self: Sides) -> Any:
        first = self.claim.labellings[0] if self.claim.labellings else None
        if first is None or first.question != self.question or (first.sides >= 0).mean() < 0.3:
            return end(self)
        return "silent"

    monkeypatch.setattr(Sides, "end", breaks_off)
    world, labels = WORLDS["weak, dense"]
    ended = [play(world(seed), seed, DELTA) for seed in range(150)]
    assert upper_limit(sum(not right(each, labels) for each in ended), 150) <= DELTA
    joined = [each.result.certificate.further for each in ended if each.result is not None]  # type: ignore[union-attr]
    assert sum(map(bool, joined)) > 40


def published(runs: int, cap: int) -> int:
    """Runs that publish a label though all items are alike."""
    some = 0
    for seed in range(runs):
        oracle = gaussian(np.zeros((1, 2)), labels=np.zeros(4, dtype=np.int64), rng=seed)
        ended = play(oracle, seed, DELTA, cap=cap)
        some += ended.result is not None and bool((ended.result.labels >= 0).any())
    return some


def test_one_group_alone_is_not_labelled() -> None:
    assert upper_limit(published(60, 3000), 60) <= DELTA


def test_a_bet_that_sees_its_own_block_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def peeking(
        kind: AnswerKind, _x: Any, _r: Any, x: Any, a: Any, r: Any, b: Any, *_: Any, **__: Any
    ) -> Any:
        return log_evidence(kind, x / np.maximum(a, 1), r / np.maximum(b, 1), x, a, r, b)

    monkeypatch.setattr(pooled, "log_evidence", peeking)
    world, labels = WORLDS["weak, dense"]
    assert lower_limit(label_errors(world, labels, 60), 60) > DELTA


def test_a_threshold_without_the_union_over_items_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pooled, "nulls", lambda items: 1)
    world, labels = WORLDS["weak, dense"]
    assert lower_limit(label_errors(world, labels, 60), 60) > DELTA


def two_sided(
    self: PooledClaim, guess: Floats, reference: float, x: Any, a: Any, r: Any, b: Any, side: int
) -> Floats:
    """A bet on whichever side of the references the guess lies."""
    del side
    block = log_evidence(self.problem.kind, guess, reference, x, a, r, b)
    return np.where(b > 0, block, 0.0)


def wrong_sides(seed: int) -> bool:
    """Whether the claim labels anybody wrongly by a guess that knows nothing of sides.

    Everybody is presumed low, and every item is bet to answer as it has done so far.
    """
    rng = np.random.default_rng(seed)
    truth = np.arange(10) % 2
    claim = PooledClaim(Problem(10, 1, Number(1.0)), DELTA)
    counts, sums = np.zeros(10), np.zeros(10)
    for _ in range(40):
        own = sums / np.maximum(counts, 1)
        columns = {
            "items": np.arange(10),
            "repeats": np.full(10, 8),
            "roles": np.ones(10, dtype=np.int64),
            "levels": np.array([0.0, 1.0]),
            "references": np.full(2, own.mean()),
            "late": np.arange(10),
            "own": own,
        }
        claim.ask(Plan("label", {"question": 0}, columns))
        heard = rng.normal(8.0 * truth, np.sqrt(8.0))
        claim.settle(Tally(np.full(10, 8), heard))
        counts, sums = counts + 8, sums + heard
    sides = claim.labellings[0].sides
    return bool(((sides >= 0) & (sides != truth)).any())


def test_a_two_sided_bet_with_pooled_references_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """References of the other group make "the same mean" false for an item that is right."""
    assert upper_limit(sum(map(wrong_sides, range(200))), 200) <= DELTA
    monkeypatch.setattr(PooledClaim, "_block", two_sided)
    assert lower_limit(sum(map(wrong_sides, range(60))), 60) > DELTA
