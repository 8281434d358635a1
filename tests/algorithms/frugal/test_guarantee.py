"""P(any wrong label) <= delta, measured; and the measurement catches ways of cheating."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

from askfew.algorithms.frugal.claim import pooled
from askfew.algorithms.frugal.claim.pooled import PooledClaim
from askfew.algorithms.frugal.guess import sides
from askfew.algorithms.frugal.guess.sides import Sides
from askfew.answers import AnswerKind
from askfew.evidence import log_evidence
from askfew.oracles import gaussian, scale
from askfew.plans import Plan
from askfew.records import Floats, Ints, Oracle

from .worlds import numbers, play, right, yes_no

DELTA = 0.1


def upper_limit(errors: int, runs: int) -> float:
    """Clopper and Pearson's, at 95 %."""
    return float(beta.ppf(0.95, errors + 1, runs - errors))


def lower_limit(errors: int, runs: int) -> float:
    """Clopper and Pearson's, at 95 %: a cheat is caught when even this exceeds delta."""
    return float(beta.ppf(0.05, errors, runs - errors + 1)) if errors else 0.0


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
    assert upper_limit(label_errors(world, labels, 250), 250) <= DELTA


def test_labels_are_right_whoever_is_presumed_on_a_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """All sides presumed wrongly in the first steps: dearer, and not less right."""
    fit = Sides._fit

    def wrong_at_first(self: Sides) -> Floats:
        high = fit(self)
        return high if self.history.asked > 2000 else 1 - high

    monkeypatch.setattr(Sides, "_fit", wrong_at_first)
    world, labels = WORLDS["weak, dense"]
    assert upper_limit(label_errors(world, labels, 120), 120) <= DELTA


def test_labels_are_right_after_restarts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every labelling is broken off once: the next question has its own part of delta."""
    end = Sides.end

    def breaks_off(self: Sides) -> Any:
        first = len(self.claim.labellings) == 1
        return "futile" if first and self.heard.sum() > 300 else end(self)

    monkeypatch.setattr(Sides, "end", breaks_off)
    world, labels = WORLDS["weak, dense"]
    ended = [play(world(seed), seed, DELTA) for seed in range(120)]
    assert upper_limit(sum(not right(each, labels) for each in ended), 120) <= DELTA
    joined = [each.result.certificate.further for each in ended if each.result is not None]  # type: ignore[union-attr]
    assert sum(map(bool, joined)) > 60


def published(runs: int, cap: int) -> int:
    """Runs that publish a label though all items are alike."""
    some = 0
    for seed in range(runs):
        oracle = gaussian(np.zeros((1, 2)), labels=np.zeros(4, dtype=np.int64), rng=seed)
        ended = play(oracle, seed, DELTA, cap=cap)
        some += ended.result is not None and bool((ended.result.labels >= 0).any())
    return some


def test_one_group_alone_is_not_labelled() -> None:
    assert upper_limit(published(150, 5000), 150) <= DELTA


def test_a_bet_that_sees_its_own_block_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def peeking(answers: AnswerKind, _x: Any, _r: Any, x: Any, a: Any, r: Any, b: Any) -> Any:
        return log_evidence(answers, x / np.maximum(a, 1), r / np.maximum(b, 1), x, a, r, b)

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
    """Every item is bet to answer as it did so far, on whichever side of the references."""
    del side
    block = log_evidence(self.problem.answers, guess, reference, x, a, r, b)
    return np.where(b > 0, block, 0.0)


def test_a_two_sided_bet_with_pooled_references_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """References of the other group make "the same mean" false for an item that is right."""
    propose = Sides.propose

    def own_bets(self: Sides) -> Plan:
        """Bets from every item's own answers, and everybody a reference of both sides."""
        plan = propose(self)
        items = plan.ints("items")
        asked = self._counts[items] > 0
        rows = np.flatnonzero(asked)
        own = self._sums[items[rows]] / self._counts[items[rows]]
        columns = {**plan.columns, "late": rows, "own": own, "roles": np.full(len(items), 3)}
        return Plan(plan.kind, plan.facts, columns)

    monkeypatch.setattr(Sides, "propose", own_bets)
    world, labels = WORLDS["weak, dense"]
    honest = label_errors(world, labels, 60)
    assert upper_limit(honest, 60) <= DELTA, honest
    monkeypatch.setattr(PooledClaim, "_block", two_sided)
    assert lower_limit(label_errors(world, labels, 60), 60) > DELTA


def test_the_search_s_answers_counted_as_fresh_are_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A pair is searched because it looks different: its old answers prove nothing."""
    begin = Sides.__init__

    def knows_already(self: Sides, *given: Any) -> None:
        begin(self, *given)
        opened = pooled.Labelling.begin

        def warm(items: int, question: int, threshold: float) -> pooled.Labelling:
            made = opened(items, question, threshold)
            low, high = self.target.pair[self.order]
            gap, counts = self.hoped, self.target.counts
            made.evidence[0, high] = made.evidence[1, low] = gap**2 * counts.min() / 4 * 2
            return made

        monkeypatch.setattr(pooled.Labelling, "begin", warm)

    monkeypatch.setattr(sides.Sides, "__init__", knows_already)
    assert lower_limit(published(60, 5000), 60) > DELTA
