"""P(any wrong label) <= delta, measured; and the measurement catches three ways of cheating."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

from askfew.algorithms.frugal.course import Course
from askfew.algorithms.frugal.options import Options
from askfew.algorithms.frugal.search import Search, search
from askfew.answers import AnswerKind
from askfew.driver import run
from askfew.evidence import log_evidence
from askfew.oracles import gaussian, scale
from askfew.records import Ints, Oracle

from .worlds import numbers, play, right, yes_no

DELTA = 0.1
FRUGAL = "askfew.algorithms.frugal."


def upper_limit(errors: int, runs: int) -> float:
    """Clopper and Pearson's, at 95 %."""
    return float(beta.ppf(0.95, errors + 1, runs - errors))


def lower_limit(errors: int, runs: int) -> float:
    """Clopper and Pearson's, at 95 %: a cheat is caught when even this exceeds delta."""
    return float(beta.ppf(0.05, errors, runs - errors + 1)) if errors else 0.0


def label_errors(world: Callable[[int], Oracle], labels: Ints, runs: int) -> int:
    ended = (play(world(seed), seed, DELTA) for seed in range(runs))
    return sum(not right(each, labels) for each in ended)


def false_pairs(runs: int) -> int:
    """Confirmed pairs where no two items differ: each is an error of probability delta."""
    false = 0
    for seed in range(runs):
        oracle = gaussian(np.zeros((1, 3)), labels=np.zeros(4, dtype=np.int64), rng=seed)
        course = Course(oracle.problem, np.random.default_rng([seed, 3]), Options(), DELTA)
        ended = run(search(course, Search.begin(course)), oracle, max_answers=10_000)
        false += ended.status == "done"
    return false


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


def test_pairs_are_right() -> None:
    assert upper_limit(false_pairs(150), 150) <= DELTA


def module(name: str) -> Any:
    return importlib.import_module(FRUGAL + name)


def test_screening_answers_counted_as_fresh_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        module("search"), "evidence_at_registration", lambda pool, row: float(pool.scores[row])
    )
    assert lower_limit(false_pairs(60), 60) > DELTA


def test_a_bet_that_sees_its_own_block_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def peeking(answers: AnswerKind, _x: Any, _r: Any, x: Any, a: Any, r: Any, b: Any) -> Any:
        return log_evidence(answers, x / np.maximum(a, 1), r / np.maximum(b, 1), x, a, r, b)

    monkeypatch.setattr(module("label"), "log_evidence", peeking)
    world, labels = WORLDS["weak, dense"]
    assert lower_limit(label_errors(world, labels, 60), 60) > DELTA


def test_a_threshold_without_the_union_over_items_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module("method"), "items_to_label", lambda items: 1)
    world, labels = WORLDS["weak, dense"]
    assert lower_limit(label_errors(world, labels, 60), 60) > DELTA
