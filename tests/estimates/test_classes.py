"""Latent classes are found where they are, and the better model wins."""

import numpy as np
import pytest

from askfew.answers import Number
from askfew.estimates.classes import CellMeans, agreement, fit, predicted
from askfew.records import Ints

SIGMA = 1.0


def numbers(seed: int, gap: float = 3.0) -> tuple[CellMeans, Ints]:
    """Three groups of twenty, any two of which differ on four of fifteen questions."""
    rng = np.random.default_rng(seed)
    groups = np.arange(60) % 3
    levels = np.zeros((3, 15))
    levels[0, :4] = levels[1, 2:6] = levels[2, [0, 1, 4, 5]] = gap
    answers = levels[groups] + SIGMA * rng.standard_normal((60, 15))
    return CellMeans.of(Number(SIGMA), np.ones((60, 15)), answers), groups


@pytest.mark.parametrize("seed", range(4))
def test_of_several_starts_the_one_with_the_narrower_classes_wins(seed: int) -> None:
    """A start that merges two groups explains less, and must not win for being wide."""
    answered, groups = numbers(seed)
    model = fit(answered, 3, np.random.default_rng(seed))
    assert agreement(model.posterior.argmax(axis=1), groups) > 0.9
    assert model.variances is not None
    assert model.variances.max() < 2.5 * SIGMA**2


def test_the_right_number_of_groups_predicts_numbers_best() -> None:
    answered, _ = numbers(1)
    rng = np.random.default_rng(1)
    first, second = np.arange(0, 30), np.arange(30, 60)
    worth = {
        k: sum(
            predicted(answered.rows(part), fit(answered.rows(rest), k, rng))
            for part, rest in ((first, second), (second, first))
        )
        for k in (1, 2, 3)
    }
    assert max(worth, key=lambda k: worth[k]) == 3
    assert worth[3] > worth[2] + 10
