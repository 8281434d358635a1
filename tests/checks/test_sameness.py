"""A question that splits a group voids the promise "groups", in words nobody can miss."""

from functools import partial

import numpy as np

from askfew.checks import check
from askfew.clustering import cluster
from askfew.estimates.cells import CellSums
from askfew.oracles import bernoulli
from askfew.outcome import Outcome
from askfew.records import Floats, Problem


def frugal(seed: int, spread: float) -> Outcome:
    """40 items, 12 questions of which 3 separate them by .7; spread in gaps."""
    rng = np.random.default_rng(seed)
    truth = np.arange(40) % 2
    means: Floats = np.full((40, 12), 0.5)
    means[:, :3] = np.where(truth == 1, 0.85, 0.15)[:, np.newaxis]
    means = np.clip(means + rng.normal(0, spread * 0.7, means.shape), 0.01, 0.99)
    return cluster(bernoulli(means, rng=rng), rng=rng, max_answers=50_000)


def test_identical_groups_raise_no_alarm() -> None:
    for seed in range(12):
        checks = frugal(seed, 0.0).checks
        assert checks is not None
        assert not checks.void


def test_groups_of_unlike_items_void_the_promise_in_words_nobody_can_miss() -> None:
    voided = 0
    for seed in range(8):
        outcome = frugal(seed, 0.35)
        checks = outcome.checks
        assert checks is not None
        if outcome.certificate_text is None or not checks.splits:
            continue
        voided += 1
        split = checks.splits[0]
        first = outcome.certificate_text.splitlines()[0]
        assert first.startswith(
            f"THE PROMISE BELOW DOES NOT HOLD: question {split.question} splits group {split.group}"
        )
        assert "Items of one group are not the same; use method='rule'." in first
        assert outcome.to_dict()["checks"]["void"]
        assert split.low < split.high
    assert voided >= 6


def test_items_within_the_tolerance_do_not_void_the_promise() -> None:
    counts = np.full(12, 2000)
    means = np.tile([0.2, 0.3, 0.25, 0.7, 0.8, 0.75], 2)
    groups = (means > 0.5).astype(np.int64)
    sums = counts * means
    cells = CellSums(np.arange(12), np.zeros(12, dtype=np.int64), counts, sums, sums)
    said = partial(check, Problem(12, 1), cells, groups, groups, 2, carrying=[0], promise="groups")
    assert said().void
    assert not said(tolerance=0.1).void
    assert "differ by more than 0.01;" in said(tolerance=0.01).warnings(["q"])[0]
