"""What one panel and the items beside it are asked."""

from __future__ import annotations

import numpy as np
import pytest

from askfew.algorithms.frugal.claim.ledger import Ledger
from askfew.algorithms.frugal.claim.panel import Panel, PanelClaim
from askfew.algorithms.frugal.guess.panels.model import GroupModel
from askfew.algorithms.frugal.guess.panels.panel import (
    _PATIENCE,
    PanelGuesser,
    _certify_plan,
    _Step,
)
from askfew.records import Problem

N, D = 16, 6
TRUTH = np.arange(N) % 2
MEMBERS = [0, 1, 2, 3]


def known(per_cell: int = 12) -> tuple[GroupModel, Panel]:
    """All have answered four times; three questions tell the groups apart."""
    ledger = Ledger(Problem(N, D), per_cell, np.arange(D))
    model = GroupModel(ledger, 2, root=1, fresh=8.0)
    ledger.counts += 4
    ledger.sums[:, :3] += 4 * TRUTH[:, np.newaxis]
    ledger.sums[:, 3:] += 2
    model.explore(np.arange(N))
    return model, Panel(ledger, 2, 0.05, 1, MEMBERS)


def test_the_panel_comes_before_the_others_unless_answers_are_scarce() -> None:
    model, panel = known()
    first = _certify_plan(model, panel, scarce=False)
    assert set(first.ints("items")) <= set(MEMBERS)
    assert set(first.ints("questions")) <= {0, 1, 2}
    assert panel.ask(first) is not None
    scarce = _certify_plan(model, panel, scarce=True)
    assert len(np.unique(scarce.ints("items"))) == N
    assert len(np.unique(scarce.ints("questions"))) == 1


def test_the_others_are_asked_beside_references_of_both_groups() -> None:
    model, panel = known()
    panel.labels[MEMBERS] = model.chances[MEMBERS].argmax(axis=1)
    plan = _certify_plan(model, panel, scarce=False)
    assert set(range(4, N)) <= set(plan.ints("items"))
    references = set(plan.ints("items")) & set(MEMBERS)
    assert set(TRUTH[list(references)]) == {0, 1}


def test_no_cell_is_asked_beyond_its_cap() -> None:
    model, panel = known(per_cell=5)  # one more answer of each cell
    plan = _certify_plan(model, panel, scarce=False)
    assert plan.ints("repeats").max() == 1
    model.ledger.counts[:, :3] = 5
    assert not _Step(model, panel, np.arange(N), scarce=False).worth[:, :3].any()


def test_a_panel_that_takes_too_long_is_given_up() -> None:
    model, panel = known()
    panel.used[:] = _PATIENCE * len(MEMBERS) + 1
    assert _certify_plan(model, panel, scarce=False).kind == "again"


@pytest.mark.parametrize(("scarce", "kind"), [(True, "end"), (False, "again")])
def test_where_nothing_is_worth_asking_it_ends_or_tries_again(scarce: bool, kind: str) -> None:
    model, panel = known(per_cell=4)
    assert _certify_plan(model, panel, scarce=scarce).kind == kind


def begin(per_cell: int = 12) -> PanelGuesser:
    return PanelGuesser(PanelClaim(Ledger(Problem(N, D), per_cell, np.arange(D)), 2, 0.05), 3)


def test_exploring_leaves_most_of_a_cell() -> None:
    guess = begin()
    plan = guess.propose()
    assert plan.kind == "explore"
    guess.ledger.counts += 4
    assert guess._round() is None


def test_a_panel_has_the_surest_of_both_groups() -> None:
    guess = begin()
    ledger = guess.ledger
    ledger.counts += 4
    ledger.sums += 4 * TRUTH[:, np.newaxis]
    for _ in range(2):  # the second time confirms
        guess.model.explore(np.arange(N))
        guess.model.remember()
        ledger.counts += 2
        ledger.sums += 2 * TRUTH[:, np.newaxis]
    plan = guess._panel()
    assert plan.kind == "panel"
    members = plan.ints("members")
    assert len(members) == 12
    assert np.bincount(TRUTH[members]).tolist() == [6, 6]


def test_questions_that_carry_nothing_are_hopeless() -> None:
    guess = begin()
    guess.ledger.counts += 4
    guess.ledger.sums += 2.0
    guess.model.explore(np.arange(N))
    plan = guess._panel()
    assert plan.kind == "hopeless"
    assert plan.facts["useful"] == 0
