"""The spread of items within groups, as a share of the gap."""

import numpy as np
import pytest

from askfew.checks.spread import Spread, spread_of
from askfew.estimates.cells import CellSums


def measured(rng: np.random.Generator, items: int, times: int, share: float) -> Spread | None:
    groups = np.arange(items) % 2
    centres = np.where(groups == 1, 0.75, 0.25)[:, np.newaxis]
    means = np.clip(centres + rng.normal(0, share * 0.5, (items, 4)), 0, 1)
    where = np.indices(means.shape).reshape(2, -1)
    sums = rng.binomial(times, means).astype(float).ravel()
    cells = CellSums(where[0], where[1], np.full(sums.size, times), sums, sums)
    return spread_of(cells, groups[where[0]], dict.fromkeys(range(4), 0.5))


@pytest.mark.parametrize("share", [0.0, 0.15, 0.25])
def test_it_is_what_was_planted_and_its_interval_holds(share: float) -> None:
    rng = np.random.default_rng(1)
    found = [measured(rng, 60, 5, share) for _ in range(150)]
    held = [each is not None and each.low <= share <= each.high for each in found]
    assert np.mean(held) > 0.9
    assert np.median([each.share for each in found if each]) == pytest.approx(share, abs=0.05)


def test_noise_alone_is_no_spread() -> None:
    """Items that are the same differ in their means: without taking off the noise, by .45."""
    found = measured(np.random.default_rng(2), 200, 4, 0.0)
    assert found is not None
    assert found.low == 0
    assert found.share < 0.15


def test_without_repeats_it_is_not_known() -> None:
    assert measured(np.random.default_rng(1), 60, 1, 0.3) is None
    assert measured(np.random.default_rng(1), 6, 5, 0.3) is None
