"""The evidence of a node against its true partition, weighed many times."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike

from askfew.algorithms.frugal.claim import nodes
from askfew.algorithms.frugal.claim.nodes import Node, Round
from askfew.answers import YesNo
from askfew.evidence.conditional import conditional_evidence
from askfew.records import Floats

TRUTH = np.array([1, 1, 1, -1, -1, 1])
LEVELS = np.array([[0.8, 0.5], [0.2, 0.5]])
"""The means of the two groups on two questions; the last tells nobody apart."""
TOO_MUCH = 10**9


def weighed(seed: int) -> Node:
    """A node that holds its true partition alone, after four Batches.

    Numbers of answers vary, guesses follow the past, and bets begin with the first Batch.
    """
    rng = np.random.default_rng([seed, 3])
    node = Node(np.arange(6), needed=TOO_MUCH)
    assert node.sides is not None
    node._keep((node.sides == TRUTH).all(axis=1))
    means = LEVELS[(TRUTH < 0).astype(np.int64)]
    sums, counts = np.zeros((6, 2)), np.zeros((6, 2))
    rounds: list[Round] = []
    for _ in range(4):
        guesses = np.clip((sums + 0.5) / (counts + 1), 0.02, 0.98)
        betting = rng.random(6) < 0.7
        many = rng.integers(3, size=(6, 2))
        asked, heard = many.astype(np.float64), rng.binomial(many, means).astype(np.float64)
        sums, counts = sums + heard, counts + asked
        rounds.append(Round(guesses, betting, heard, asked, sums, counts))
    node.weigh(YesNo(), rounds)
    return node


def test_against_the_truth_the_evidence_has_mean_one_at_most() -> None:
    found = [weighed(seed) for seed in range(300)]
    misplaced = np.array([np.exp(node._misplaced).mean() for node in found])
    both = np.array([np.exp(node._nats(YesNo())[0]) for node in found])
    error = both.std() / np.sqrt(len(found))
    assert both.mean() - 1 < 4 * error < 0.2
    # That one item is misplaced is a bet at fair odds, exactly.
    error = misplaced.std() / np.sqrt(len(found))
    assert abs(misplaced.mean() - 1) < 4 * error < 0.2


def test_bets_that_know_who_said_yes_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def after_the_fact(odds: ArrayLike, yes: int, many: int, *block: ArrayLike) -> Floats:
        odds = np.asarray(odds)
        bet = np.maximum(odds, 1 / odds) if 2 * yes > many else np.minimum(odds, 1 / odds)
        return conditional_evidence(bet, yes, many, *block)

    monkeypatch.setattr(nodes, "conditional_evidence", after_the_fact)
    values = np.array([np.exp(weighed(seed)._nats(YesNo())[0]) for seed in range(100)])
    assert values.mean() - 1 > 4 * values.std() / np.sqrt(len(values))
