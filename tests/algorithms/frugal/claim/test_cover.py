"""Panels that cover all items, with a guesser that is as greedy as it can be."""

from __future__ import annotations

import numpy as np
import pytest

from askfew.algorithms.frugal.claim.cover import Cover
from askfew.algorithms.frugal.claim.ledger import Ledger
from askfew.plans import Plan
from askfew.records import Problem, Tally
from error_limits import upper_limit

DELTA = 0.1


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
    assert upper_limit(errors, 60) <= DELTA


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
