"""Evidence about who gave the yes of a block, against enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from askfew.evidence.conditional import conditional_evidence


@pytest.mark.parametrize("answers", [1, 2, 3])
@pytest.mark.parametrize("mean", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("odds", [1 / 81, 0.5, 1.0, 7.0])
def test_it_has_mean_one_whatever_the_level_and_however_the_odds_use_the_sum(
    odds: float, mean: float, answers: int
) -> None:
    expected = 0.0
    for dealt in itertools.product((0, 1), repeat=answers + 4):
        yes = sum(dealt)
        chance = mean**yes * (1 - mean) ** (len(dealt) - yes)
        bet = odds ** (1 + yes)  # the bet may know how many of the block said yes
        nats = conditional_evidence(bet, sum(dealt[:answers]), answers, yes, len(dealt))
        expected += chance * math.exp(float(nats))
    assert expected == pytest.approx(1)


def test_a_bet_that_knows_who_said_yes_has_a_larger_mean() -> None:
    expected = 0.0
    for dealt in itertools.product((0, 1), repeat=5):
        bet = 9.0 if dealt[0] else 1 / 9
        nats = conditional_evidence(bet, dealt[0], 1, sum(dealt), 5)
        expected += 0.5**5 * math.exp(float(nats))
    assert expected > 1.3


def test_an_item_alone_in_its_block_says_nothing() -> None:
    nats = conditional_evidence([0.1, 10.0], 2, 3, block_yes=[2, 2], block_answers=[3, 3])
    np.testing.assert_allclose(nats, 0, atol=1e-12)
