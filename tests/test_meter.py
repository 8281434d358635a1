from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askfew.driver import Meter
from askfew.errors import BudgetReached, InvalidInput
from askfew.records import Batch, Snapshot, Tally


def batch(*repeats: int, phase: str | None = None) -> Batch:
    rows = np.zeros(len(repeats), dtype=np.int64)
    known = None if phase is None else Snapshot(phase, rows)
    return Batch(rows, rows, np.array(repeats), "test", known)


def tally(*counts: int) -> Tally:
    return Tally(np.array(counts), np.zeros(len(counts)))


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=5), max_size=8))
def test_it_is_the_sum_of_the_counts(told: list[list[int]]) -> None:
    meter = Meter()
    for counts in told:
        meter.record(batch(*[9] * len(counts)), tally(*counts))
    assert meter.answers == sum(map(sum, told))
    assert meter.cells == sum(map(len, told))
    assert meter.batches == len(told)
    assert sum(meter.by_phase.values()) == meter.answers


def test_it_counts_by_phase() -> None:
    meter = Meter()
    for phase, count in [("search", 3), ("label", 1), ("search", 2)]:
        meter.record(batch(5, phase=phase), tally(count))
    assert meter.by_phase == {"search": 5, "label": 1}


def test_the_cap_may_be_reached_but_not_crossed() -> None:
    meter = Meter(max_answers=5)
    meter.admit(batch(2, 3))
    with pytest.raises(BudgetReached, match="the cap is 5 answers and 0 are spent"):
        meter.admit(batch(2, 4))
    meter.record(batch(2), tally(2))
    meter.admit(batch(3))
    with pytest.raises(BudgetReached):
        meter.admit(batch(4))


def test_what_did_not_come_is_not_spent() -> None:
    meter = Meter(max_answers=5)
    meter.record(batch(5), tally(0))
    meter.admit(batch(5))
    assert (meter.answers, meter.batches) == (0, 1)


def test_no_cap_admits_everything() -> None:
    Meter().admit(batch(10**15))
    Meter(None).admit(batch(10**15))
    assert Meter().max_answers is None


@pytest.mark.parametrize("cap", [-1, float("nan"), "10", [5]])
def test_a_cap_is_a_number(cap: Any) -> None:
    with pytest.raises(InvalidInput, match="max_answers must be a number, at least 0"):
        Meter(cap)


def test_it_says_what_it_counted() -> None:
    meter = Meter()
    meter.record(batch(1200, 9), tally(1200, 3))
    assert repr(meter) == "Meter(1,203 answers in 2 cells and 1 batches)"
