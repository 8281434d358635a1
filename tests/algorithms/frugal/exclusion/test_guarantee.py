"""P(any wrong label) <= delta with three groups, measured; and the measurement catches cheats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from askfew.algorithms.frugal.claim import exclusion
from askfew.algorithms.frugal.method import by_exclusion
from askfew.answers import AnswerKind
from askfew.driver import run
from askfew.evidence import log_evidence
from askfew.oracles import gaussian
from askfew.simulation import Instance
from error_limits import lower_limit, upper_limit

from .worlds import DELTA, NUMBERS, SMALL, draw, play, right

WEAK = Instance(items=24, questions=4, useful=4, gap=1.0, groups=3)
"""Labels take many answers, so that a cheat has many chances."""


def label_errors(instance: Any, runs: int, cap: int = 2_000) -> int:
    """Runs with a wrong label, or with an item that is called a misfit where there is none."""
    errors = 0
    for seed in range(runs):
        world = draw(instance, seed)
        ended = play(world.oracle, seed, cap=cap)
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

    monkeypatch.setattr(exclusion, "log_evidence", peeking)
    assert lower_limit(label_errors(WEAK, 25, 6_000), 25) > DELTA


def test_a_threshold_without_the_union_over_items_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exclusion, "items_to_label", lambda items: 1)
    assert lower_limit(label_errors(WEAK, 25, 6_000), 25) > DELTA


def false_pairs(runs: int) -> int:
    """Confirmed pairs where no two items differ: at most 0.15 of delta goes to them."""
    false = 0
    for seed in range(runs):
        oracle = gaussian(np.zeros((1, 3)), labels=np.zeros(4, dtype=np.int64), rng=seed)
        rng = np.random.default_rng([seed, 3])
        procedure = by_exclusion(oracle.problem, DELTA, rng, groups=3)
        ended = run(procedure, oracle, max_answers=1_000)
        known = ended.known
        false += known is not None and known.phase != "search"
    return false


def test_pairs_are_right() -> None:
    assert upper_limit(false_pairs(30), 30) <= DELTA
