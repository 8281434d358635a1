"""From evidence to labels: any error, the share of errors, and what must never be done."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askfew.evidence.decisions import label_threshold
from askfew.records import Floats

NATS = st.lists(st.floats(-30, 60), min_size=0, max_size=60)


def test_any_error_needs_the_same_whatever_others_have() -> None:
    for evidence in ([], [1.0], [99.0] * 10):
        needed = label_threshold(np.array(evidence), "any", 0.05, items=10, nodes=3)
        assert needed == math.log(10 * 3 / 0.05)


def test_share_is_never_stricter_than_any_and_never_below_one_over_delta() -> None:
    assert label_threshold(np.full(10, 99.0), "share", 0.05, items=10) == pytest.approx(
        math.log(1 / 0.05)
    )
    assert label_threshold(np.array([99.0]), "share", 0.05, items=10) == math.log(10 / 0.05)


def test_nobody_may_be_labelled_where_nothing_is_known() -> None:
    assert label_threshold(np.zeros(10), "share", 0.05, items=10) == math.inf
    assert label_threshold(np.zeros(0), "share", 0.05, items=10) == math.inf


@given(NATS, st.floats(0.001, 0.5), st.integers(0, 40), st.integers(1, 4))
def test_as_many_reach_the_threshold_as_it_was_computed_for(
    evidence: list[float], delta: float, others: int, nodes: int
) -> None:
    """k items have log(n / (delta k)) or more, and no larger number would do."""
    nats, items = np.array(evidence), max(len(evidence) + others, 1)
    needed = label_threshold(nats, "share", delta, items=items, nodes=nodes)
    labels = int((nats >= needed - 1e-12).sum())
    alone = math.log(items * nodes / delta)
    assert (labels == 0) == (needed == math.inf)
    if labels:
        assert needed == pytest.approx(alone - math.log(labels), abs=1e-9)
    for more in range(labels + 1, len(nats) + 1):
        assert (nats >= alone - math.log(more)).sum() < more


@given(NATS, st.lists(st.floats(0, 5), min_size=60, max_size=60))
def test_with_frozen_evidence_the_number_of_labels_never_falls(
    evidence: list[float], steps: list[float]
) -> None:
    """Others may gain or lose what they like: whoever has a label keeps it by the same line."""
    nats = np.array(evidence)
    items = max(len(nats), 1)
    needed = label_threshold(nats, "share", 0.1, items=items)
    frozen = nats >= needed
    later = np.where(frozen, nats, nats + np.array(steps[: len(nats)]) - 2.5)
    then = label_threshold(later, "share", 0.1, items=items)
    assert then <= needed + 1e-12
    assert (later[frozen] >= then - 1e-12).all()


# One hundred items. Half of them are true signals that the stopper labels one at a time. The others
# are nulls whose evidence rose to its maximum and fell back to nothing (a fair game: the maximum
# exceeds x with chance 1/x). The stopper ends the run at the first wrong label.

ITEMS, NULLS, DELTA = 100, 50, 0.1


def wrong_share(nulls: Floats) -> float:
    for signals in range(NULLS + 1):
        evidence = np.concatenate([nulls, np.full(signals, 50.0)])
        needed = label_threshold(evidence, "share", DELTA, items=ITEMS)
        wrong = int((nulls >= needed).sum())
        if wrong:
            return wrong / (wrong + signals)
    return 0.0


def test_running_maxima_break_the_share_at_a_stopping_time() -> None:
    rng = np.random.default_rng(4)
    maxima = -np.log(rng.random((400, NULLS)))
    kept = [wrong_share(each) for each in maxima]
    spread = np.std(kept) / math.sqrt(len(kept))
    assert np.mean(kept) - 2 * spread > DELTA


def test_evidence_as_it_stands_keeps_the_share_at_that_stopping_time() -> None:
    """Each null is held until it has a level of its own or all is lost, then left as it stands."""
    rng = np.random.default_rng(5)
    goals = rng.choice([2.0, 5.0, 20.0, 50.0, 100.0, 1000.0], (400, NULLS))
    won = rng.random((400, NULLS)) < 1 / goals
    kept = [wrong_share(each) for each in np.where(won, np.log(goals), -np.inf)]
    spread = np.std(kept) / math.sqrt(len(kept))
    assert np.mean(kept) + 2 * spread < DELTA
