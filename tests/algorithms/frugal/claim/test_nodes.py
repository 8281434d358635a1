"""The evidence of a node against its true partition, weighed many times."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
import scipy
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


GRID = (0.0, 0.01, 0.3, 0.5, 0.99, 1.0)
SMALL = (
    # The true sides, and how many answers each item gives to the one question, Batch by Batch.
    ([1, 1, -1], [[2, 1, 1], [1, 2, 2]]),
    ([1, 1, 1], [[3, 1, 1], [1, 0, 2]]),
    ([1, 1, -1, -1], [[1, 1, 1, 1], [1, 2, 0, 1]]),
)
"""Nodes small enough that every possible answer can be gone through."""


def largest_mean(
    truth: list[int], counts: list[list[int]], guess: Callable[[Floats, Floats], Floats]
) -> float:
    """The mean of the evidence against the truth, exactly; the largest over the groups' levels.

    What is bet on the items, and who bets, follows the answers before.
    """
    sides, asked = np.array(truth), np.array(counts, dtype=np.float64)[:, :, np.newaxis]
    evidence, heard = [], []
    for each in itertools.product(*(range(many + 1) for row in counts for many in row)):
        said = np.array(each, dtype=np.float64).reshape(asked.shape)
        so_far, rounds = np.zeros((2, len(truth), 1)), []
        for now, many in zip(said, asked, strict=True):
            guesses = guess(*so_far)
            betting = guesses[:, 0] != 0.5
            so_far = so_far + np.stack([now, many])
            rounds.append(Round(guesses, betting, now, many, *so_far))
        node = Node(np.arange(len(truth)), needed=TOO_MUCH)
        assert node.sides is not None
        node._keep((node.sides == sides).all(axis=1))
        node.weigh(YesNo(), rounds)
        evidence.append(np.exp(node._nats(YesNo())[0]))
        heard.append(said)
    yes = np.array(heard)
    ways = scipy.special.comb(asked, yes).prod(axis=(1, 2, 3))
    means = []
    for levels in itertools.product(GRID, repeat=2):
        p = np.where(sides > 0, *levels)[:, np.newaxis]
        chances = ways * (p**yes * (1 - p) ** (asked - yes)).prod(axis=(1, 2, 3))
        assert chances.sum() == pytest.approx(1)
        means.append(float(chances @ evidence))
    return max(means)


def follows(sums: Floats, counts: Floats) -> Floats:
    """Guesses that an item answers as it did."""
    return np.asarray((sums + 0.02) / (counts + 0.04))


def opposes(sums: Floats, counts: Floats) -> Floats:
    """Guesses that an item answers as it did not."""
    return 1 - follows(sums, counts)


@pytest.mark.parametrize("guess", [follows, opposes])
@pytest.mark.parametrize(("truth", "counts"), SMALL)
def test_the_mean_of_the_evidence_is_at_most_one_exactly(
    truth: list[int], counts: list[list[int]], guess: Callable[[Floats, Floats], Floats]
) -> None:
    assert largest_mean(truth, counts, guess) <= 1 + 1e-12


def after_the_fact(odds: ArrayLike, yes: int, many: int, *block: ArrayLike) -> Floats:
    """Conditional evidence whose bet knows what the member said, not only how many said yes."""
    odds = np.asarray(odds)
    bet = np.maximum(odds, 1 / odds) if 2 * yes > many else np.minimum(odds, 1 / odds)
    return conditional_evidence(bet, yes, many, *block)


@pytest.mark.parametrize(("truth", "counts"), SMALL)
def test_bets_that_know_who_said_yes_are_noticed_exactly(
    truth: list[int], counts: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nodes, "conditional_evidence", after_the_fact)
    assert largest_mean(truth, counts, follows) > 1 + 1e-5


def test_bets_that_know_who_said_yes_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "conditional_evidence", after_the_fact)
    values = np.array([np.exp(weighed(seed)._nats(YesNo())[0]) for seed in range(100)])
    assert values.mean() - 1 > 4 * values.std() / np.sqrt(len(values))
