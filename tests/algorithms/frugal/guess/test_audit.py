"""Whom an audit asks: many pairs of a question and a group at first, then the oddest ones."""

from __future__ import annotations

import numpy as np

from askfew.algorithms.frugal.claim.audit import AuditClaim
from askfew.algorithms.frugal.guess.audit import Auditor
from askfew.estimates.cells import Cells
from askfew.plans import Plan
from askfew.records import Batch, Certificate, Finding, Floats, Ints, Problem, Tally

LABELS = np.repeat([0, 1], [30, 10])
NONE = np.zeros(0, dtype=np.int64)


def begin(most: int, per_cell: int | None = None, questions: int = 50) -> tuple[Auditor, Cells]:
    problem = Problem(40, questions)
    found = Finding(LABELS, 0, Certificate(0.05, "", ()))
    claim = AuditClaim(problem, found, most, per_cell=per_cell, cells=NONE, times=NONE)
    heard = Cells(problem)
    return Auditor(claim, heard, 7, 0.0), heard


def answer(auditor: Auditor, heard: Cells, means: Floats, seed: int = 0) -> list[Plan]:
    """All waves, answered with these means (items x questions)."""
    rng, plans = np.random.default_rng(seed), []
    while not auditor.claim.over:
        plan = auditor.propose()
        batch = auditor.claim.ask(plan)
        auditor.accept(plan)
        if batch is not None:
            plans.append(plan)
            chances = means[batch.items, batch.questions]
            tally = Tally(batch.repeats, rng.binomial(batch.repeats, chances).astype(float))
            auditor.claim.settle(tally)
            auditor.learn(plan, batch, tally)
            heard.add(batch, tally)
    return plans


def pairs(plan: Plan) -> Ints:
    return LABELS[plan.ints("items")] * 100 + plan.ints("questions")


def test_the_first_wave_asks_a_few_items_of_many_pairs_several_times() -> None:
    auditor, _ = begin(300)
    plan = auditor.propose()
    asked, items = np.unique(pairs(plan), return_counts=True)
    assert len(asked) == 10
    assert (items == 4).all()
    assert (plan.ints("repeats") == 3).all()
    # Three quarters of the items are in the first group.
    assert 5 <= (asked < 100).sum() <= 10


def test_what_was_seen_well_is_left_out_of_the_first_wave() -> None:
    auditor, heard = begin(10_000, questions=3)
    items = np.arange(40)
    heard.add(
        Batch(items, np.full(40, 1), np.full(40, 5)),
        Tally(np.full(40, 5), np.full(40, 3.0)),
    )
    assert set(auditor.propose().ints("questions").tolist()) == {0, 2}


def test_if_all_was_seen_well_it_looks_closer_at_once() -> None:
    auditor, heard = begin(100, questions=1)
    items = np.arange(40)
    sums = np.where(items == 3, 5.0, 1.0)
    heard.add(Batch(items, 0 * items, np.full(40, 9)), Tally(np.full(40, 5), sums))
    plan = auditor.propose()
    assert 3 in plan.ints("items")
    assert plan.ints("repeats").sum() == 25


def test_later_waves_ask_on_about_the_items_that_lie_farthest_apart() -> None:
    means = np.full((40, 50), 0.1)
    means[::2] = 0.9
    auditor, heard = begin(300)
    plans = answer(auditor, heard, means)
    assert [len(np.unique(pairs(each))) for each in plans[:2]] == [10, 3 + 1]
    closer = plans[1]
    for pair in np.unique(pairs(closer)):
        items = closer.ints("items")[pairs(closer) == pair]
        assert len(set((items % 2).tolist())) == 2
    # It ends when a question surely splits a group.
    assert 100 < heard.sums().count.sum() < 300


def test_where_items_are_alike_all_is_asked() -> None:
    auditor, heard = begin(301)
    plans = answer(auditor, heard, np.tile([0.1, 0.5], (40, 25)))
    assert len(plans) == 4
    assert heard.sums().count.sum() == 301


def test_no_cell_is_asked_more_often_than_the_cap() -> None:
    for cap in (2, 5):
        auditor, heard = begin(300, per_cell=cap)
        answer(auditor, heard, np.full((40, 50), 0.5))
        assert heard.sums().count.max() == cap
        assert heard.sums().count.sum() > 250
