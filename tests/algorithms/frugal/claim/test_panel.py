"""One panel and the items beside it, with a guesser that is as greedy as it can be."""

from __future__ import annotations

import numpy as np
import pytest

from askfew.algorithms.frugal.claim.ledger import Ledger
from askfew.algorithms.frugal.claim.panel import Panel
from askfew.algorithms.frugal.claim.panel_certificates import PanelCertificate
from askfew.errors import InvalidPlan
from askfew.plans import Plan
from askfew.records import Floats, Problem, Tally
from error_limits import upper_limit

RUNS, DELTA = 1000, 0.1

ROWS = np.repeat(np.arange(6), 2), np.tile(np.arange(2), 6)


def greedy(totals: Floats, asked: float) -> Plan:
    """Bets that items are what their answers were so far."""
    means = (totals + 0.5) / (asked + 1)
    levels = np.clip(np.stack([means.max(axis=0), means.min(axis=0)]), 0.05, 0.95)
    high = abs(means - levels[0]).sum(axis=1) < abs(means - levels[1]).sum(axis=1)
    chances = np.where(high[:, np.newaxis], [0.9, 0.1], [0.1, 0.9])
    columns = {"levels": levels.ravel(), "chances": chances.ravel()}
    return Plan("certify", {}, {**columns, **rows()})


def rows() -> dict[str, np.ndarray]:
    items, questions = ROWS
    return {"items": items, "questions": questions, "repeats": np.ones(12, dtype=np.int64)}


def published(seed: int, peeking: bool) -> bool:
    """Whether any label was published though all items are alike: always a mistake."""
    rng = np.random.default_rng([seed, 9])
    panel = Panel(Ledger(Problem(6, 2), 40, np.arange(2)), 2, DELTA, 1, [0, 1, 2, 3])
    totals = np.zeros((6, 2))
    for step in range(10):
        answers = (rng.random((6, 2)) < 0.5).astype(np.float64)
        plan = greedy(totals + 3 * answers, step + 3) if peeking else greedy(totals, step)
        panel.ask(plan)
        panel.settle(Tally(np.ones(12, dtype=np.int64), answers.ravel()))
        totals += answers
        if (panel.labels >= 0).any():
            return True
    return False


def test_labels_of_items_that_are_all_alike_are_rare() -> None:
    errors = sum(published(seed, peeking=False) for seed in range(RUNS))
    assert upper_limit(errors, RUNS) <= DELTA


def test_bets_that_have_seen_the_answers_are_caught() -> None:
    errors = sum(published(seed, peeking=True) for seed in range(100))
    assert errors > 50


def test_attempts_share_delta() -> None:
    ledger = Ledger(Problem(6, 2), 40, np.arange(2))
    panels = [Panel(ledger, 2, DELTA, attempt, [0, 1, 2, 3]) for attempt in range(1, 30)]
    assert sum(each.panel_delta + each.item_delta for each in panels) <= DELTA


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("repeats", np.full(12, 41)),
        ("items", np.full(12, 6)),
        ("items", np.zeros(12, dtype=np.int64)),
        ("questions", np.full(12, 2)),
        ("chances", np.full(12, 0.7)),
        ("levels", np.full(4, np.nan)),
    ],
)
def test_a_bad_plan_is_refused(name: str, value: np.ndarray) -> None:
    panel = Panel(Ledger(Problem(6, 2), 40, np.arange(2)), 2, DELTA, 1, [0, 1, 2, 3])
    good = greedy(np.zeros((6, 2)), 0)
    with pytest.raises(InvalidPlan):
        panel.ask(Plan("certify", {}, {**good.columns, name: value}))


@pytest.mark.parametrize("members", [[0], [0, 0, 1], [0, 6], [-1, 2]])
def test_a_bad_panel_is_refused(members: list[int]) -> None:
    with pytest.raises(InvalidPlan):
        Panel(Ledger(Problem(6, 2), 40, np.arange(2)), 2, DELTA, 1, members)


@pytest.mark.parametrize("undecided", [(), (5,), (3,), (0, 1, 5)])
def test_other_divisions_of_the_panel_are_called_excluded_only_if_they_are(
    undecided: tuple[int, ...],
) -> None:
    certificate = PanelCertificate(
        DELTA,
        "Some labels are right.",
        (),
        attempt=1,
        per_cell=5,
        panel=(0, 1, 2, 3),
        panel_delta=0.03,
        panel_needed=3.5,
        item_delta=0.06,
        item_needed=4.6,
        item_evidence=(5.0,) * 6,
        questions=(0, 1),
        undecided=undecided,
        misfits=(),
    )
    text = certificate.text(range(6), range(2))
    # A member without a label means that several ways to divide the panel are left.
    several = any(item < 4 for item in undecided)
    assert ("Every other way to divide it was excluded" not in text) == several
    assert ("what all ways to divide it agree on" in text) == several
