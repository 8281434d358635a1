"""P(any wrong label) <= delta with three groups, measured; and the measurement catches cheats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

from askfew.algorithms.frugal.claim import exclusion
from askfew.algorithms.frugal.claim.exclusion import Exclusion
from askfew.algorithms.frugal.guess.pool import in_sample_evidence
from askfew.algorithms.frugal.many_groups import many_groups
from askfew.answers import AnswerKind
from askfew.driver import run
from askfew.evidence import log_evidence
from askfew.oracles import gaussian
from askfew.plans import Plan
from askfew.records import Batch, Tally

from .worlds import DELTA, NUMBERS, SMALL, draw, play, right


def upper_limit(errors: int, runs: int) -> float:
    """Clopper and Pearson's, at 95 %."""
    return float(beta.ppf(0.95, errors + 1, runs - errors))


def lower_limit(errors: int, runs: int) -> float:
    """Clopper and Pearson's, at 95 %: a cheat is caught when even this exceeds delta."""
    return float(beta.ppf(0.05, errors, runs - errors + 1)) if errors else 0.0


def label_errors(instance: Any, runs: int) -> int:
    """Runs with a wrong label, or with an item that is called a misfit where there is none."""
    errors = 0
    for seed in range(runs):
        world = draw(instance, seed)
        ended = play(world.oracle, seed, cap=2_000)
        assert ended.result is not None
        misfit = "misfit" in ended.result.undecided.values()
        errors += misfit or not right(ended, world.labels)
    return errors


@pytest.mark.parametrize("instance", [SMALL, NUMBERS])
def test_labels_are_right(instance: Any) -> None:
    assert upper_limit(label_errors(instance, 60), 60) <= DELTA


def test_a_bet_that_sees_its_own_block_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def peeking(kind: AnswerKind, _x: Any, _r: Any, x: Any, a: Any, r: Any, b: Any, _w: Any) -> Any:
        return log_evidence(kind, x / np.maximum(a, 1), r / np.maximum(b, 1), x, a, r, b)

    monkeypatch.setattr(exclusion, "block_evidence", peeking)
    assert lower_limit(label_errors(SMALL, 25), 25) > DELTA


def test_a_threshold_without_the_union_over_items_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exclusion, "items_to_label", lambda items: 1)
    assert lower_limit(label_errors(SMALL, 25), 25) > DELTA


def false_pairs(runs: int, delta: float = DELTA) -> int:
    """Confirmed pairs where no two items differ: at most 0.15 of delta goes to them."""
    false = 0
    for seed in range(runs):
        oracle = gaussian(np.zeros((1, 3)), labels=np.zeros(4, dtype=np.int64), rng=seed)
        rng = np.random.default_rng([seed, 3])
        procedure = many_groups(oracle.problem, delta, rng, groups=3)
        ended = run(procedure, oracle, max_answers=1_000)
        known = ended.known
        false += known is not None and known.phase != "search"
    return false


def test_pairs_are_right() -> None:
    assert upper_limit(false_pairs(30), 30) <= DELTA


def test_answers_before_registration_counted_as_fresh_are_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ask, weigh = Exclusion._compare, Exclusion._weigh_pairs

    def asking(self: Any, plan: Plan) -> Batch:
        batch = ask(self, plan)
        seen: dict[tuple[int, int, int], np.ndarray[Any, Any]] = self.__dict__.setdefault(
            "seen", {}
        )
        for row in plan.ints("register").tolist():
            first, second = int(plan.ints("first")[row]), int(plan.ints("second")[row])
            mine = [v for (a, b, _), v in seen.items() if (a, b) == (first, second)]
            score = sum(
                float(in_sample_evidence(self.problem.answers, v[:1], v[1:])[0]) for v in mine
            )
            self.pairs[min(first, second), max(first, second)].evidence = score
        return batch

    def weighing(self: Any, plan: Plan, tally: Tally) -> None:
        seen = self.__dict__.setdefault("seen", {})
        both = np.stack([tally.counts.reshape(2, -1), tally.sums.reshape(2, -1)])
        columns = (plan.ints(name).tolist() for name in ("first", "second", "questions"))
        for row, cell in enumerate(zip(*columns, strict=True)):
            seen[cell] = seen.get(cell, 0) + both[:, :, row]
        weigh(self, plan, tally)

    monkeypatch.setattr(Exclusion, "_compare", asking)
    monkeypatch.setattr(Exclusion, "_weigh_pairs", weighing)
    assert lower_limit(false_pairs(30, 0.6), 30) > 0.15 * 0.6
