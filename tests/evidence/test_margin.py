"""The margin after the fact: a label is wrong beyond it with probability at most delta."""

import math

import numpy as np
import pytest

from askfew.answers import YesNo
from askfew.evidence import log_evidence
from askfew.evidence.margin import Margins
from askfew.records import Floats, Ints

GRID = np.array([0.0, 0.05, 0.1, 0.2])
DELTA = 0.2


def simulated(
    seed: int, spread: float, grid_of_bets: Floats, n: int = 12, low: float = 0.35
) -> tuple[Floats, Ints, Ints]:
    """Margins, labels and the truth of one run: items at the ends of their groups' ranges, compared
    with one reference a group that lies at the far end, so that the wrong group seems nearer.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    means = np.where(truth == 1, 1 - low, low) + spread / 2 * np.where(truth == 1, -1, 1)
    references = np.array([low - spread / 2, 1 - low + spread / 2])
    margins = Margins(GRID, items=n, groups=2, threshold=math.log(n / DELTA))
    seen, sums = np.full(2, 4.0), rng.binomial(4, references).astype(float)
    for _ in range(12):
        a, b = 4, 16
        x, r = rng.binomial(a, means).astype(float), rng.binomial(b, references).astype(float)
        guesses = (sums + 0.5) / (seen + 1)
        for group in (0, 1):
            there, here = guesses[1 - group], guesses[group]
            blocks = log_evidence(
                YesNo(), there, here, x[:, np.newaxis], a, r[group], b, tolerance=grid_of_bets
            )
            margins.add(np.arange(n), group, blocks)
        seen, sums = seen + b, sums + r
    excluded = margins.reported(np.zeros(n, int)), margins.reported(np.ones(n, int))
    best = np.nan_to_num(np.array(excluded), nan=-1.0)
    labels = np.where(best.max(axis=0) < 0, -1, best.argmax(axis=0))
    return margins.reported(labels), labels, truth


def wrong_within_the_margin(spread: float, grid_of_bets: Floats, runs: int) -> float:
    """How often some label is wrong although items are as alike as its margin asks."""
    bad = 0
    for seed in range(runs):
        margin, labels, truth = simulated(seed, spread, grid_of_bets)
        wrong = (labels >= 0) & (labels != truth)
        bad += bool((wrong & (margin >= spread - 1e-12)).any())
    return bad / runs


@pytest.mark.parametrize("spread", [0.0, 0.05, 0.2])
def test_labels_are_right_wherever_items_are_as_alike_as_the_margin_asks(spread: float) -> None:
    assert wrong_within_the_margin(spread, GRID, 150) <= DELTA


def test_the_check_rejects_margins_from_evidence_without_tolerance() -> None:
    """Every process bets as if w were next to nothing, and claims the margin w all the same."""
    assert wrong_within_the_margin(0.2, np.full(len(GRID), 1e-12), 40) > DELTA


def test_margins_are_found_where_there_are_any() -> None:
    margin, labels, truth = simulated(0, 0.0, GRID, low=0.1)
    assert labels.tolist() == truth.tolist()
    assert np.median(margin) >= 0.1


def test_a_value_counts_only_with_all_smaller_ones() -> None:
    margins = Margins([0.2, 0.0, 0.1], items=1, groups=2, threshold=1.0)
    margins.add([0], 1, [[2.0, 0.5, 2.0]])
    assert margins.reported([0]).tolist() == [0.0]
    margins.add([0], 1, [[0.0, 0.6, 0.0]])
    assert margins.reported([0]).tolist() == [0.2]


def test_what_was_excluded_once_stays_so() -> None:
    margins = Margins([0.0, 0.1], items=1, groups=2, threshold=1.0)
    margins.add([0], 1, [[2.0, 1.0]])
    margins.add([0], 1, [[-9.0, -9.0]])
    assert margins.reported([0]).tolist() == [0.1]


def test_a_label_of_many_groups_has_the_margin_of_the_nearest() -> None:
    margins = Margins([0.0, 0.1], items=3, groups=3, threshold=1.0)
    margins.add([0, 1], 1, [[2.0, 2.0], [2.0, 2.0]])
    margins.add([0], 2, [[2.0, 0.0]])
    np.testing.assert_array_equal(margins.reported([0, 0, -1]), [0.0, np.nan, np.nan])
