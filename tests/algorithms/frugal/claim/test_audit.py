"""The claim of an audit: it asks labelled items, within bounds, and keeps nothing but counts."""

from __future__ import annotations

import numpy as np
import pytest

from askfew.algorithms.frugal.claim.audit import AuditClaim
from askfew.errors import InvalidPlan
from askfew.plans import Plan
from askfew.records import Audited, Certificate, Finding, Problem, Tally

LABELS = np.array([0, 1, 0, 1, -1])
FOUND = Finding(LABELS, 1, Certificate(0.05, "All is well.", ()), evidence=np.arange(5.0))


def audit(per_cell: int | None = None, most: int = 20) -> AuditClaim:
    """Of five items and three questions; cell (1, 2) was asked four times."""
    known = {"cells": np.array([5]), "times": np.array([4])}
    return AuditClaim(Problem(5, 3), FOUND, most, per_cell=per_cell, **known)


def plan(*rows: tuple[int, int, int], kind: str = "audit") -> Plan:
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return Plan(kind, {}, dict(zip(("items", "questions", "repeats"), columns, strict=True)))


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (plan((0, 0, 2), kind="label"), "a plan must audit or end"),
        (plan(), "must ask something"),
        (plan((5, 0, 2)), "items of the problem"),
        (plan((-1, 0, 2)), "items of the problem"),
        (plan((0, 0, 0)), "at least once"),
        (plan((0, 3, 1)), "questions of the problem"),
        (plan((4, 0, 1)), "items that have a label"),
        (plan((0, 0, 11), (2, 0, 10)), "20 more answers, got 21"),
        (plan((0, 0, 1), (0, 0, 1)), "name a cell once"),
        (plan((1, 2, 3)), "more than 6 times"),
        (plan((0, 0, 7)), "more than 6 times"),
    ],
)
def test_a_plan_that_is_not_sound_is_refused(wrong: Plan, sentence: str) -> None:
    with pytest.raises(InvalidPlan, match=sentence):
        audit(per_cell=6).ask(wrong)


def test_it_counts_what_was_asked_for_and_ends_when_that_is_enough() -> None:
    claim = audit(per_cell=6)
    batch = claim.ask(plan((1, 2, 2), (0, 0, 6)))
    assert batch is not None
    assert batch.known is not None
    assert (batch.known.phase, batch.known.expected) == ("audit", 20)
    claim.settle(Tally(np.array([0, 5]), np.array([0.0, 2.0])))
    assert claim.room(np.array([5, 0, 3])).tolist() == [0, 0, 6]
    assert claim.audited == Audited(5, 20, (0,))
    assert (claim.left, claim.over) == (12, False)
    for item in (2, 3):
        claim.ask(plan((item, 1, 6)))
        claim.settle(Tally(np.array([6]), np.array([6.0])))
    assert claim.audited == Audited(17, 20, (0, 1))
    assert (claim.left, claim.over) == (0, True)


def test_without_a_cap_there_is_room_for_all_that_is_left() -> None:
    assert audit().room(np.array([5, 0])).tolist() == [20, 20]


def test_a_plan_may_end_it() -> None:
    claim = audit()
    assert claim.ask(Plan("end")) is None
    assert claim.over


def test_nothing_is_audited_where_nothing_is_certified() -> None:
    none = np.zeros(0, dtype=np.int64)
    found = Finding(np.full(5, -1))
    assert AuditClaim(Problem(5, 3), found, 20, per_cell=None, cells=none, times=none).over
