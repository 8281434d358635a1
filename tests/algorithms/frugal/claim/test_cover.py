"""Panels that cover all items, with a guesser that is as greedy as it can be."""

from __future__ import annotations

import numpy as np
import pytest

from askfew.algorithms.frugal.claim.cover import Cover
from askfew.algorithms.frugal.claim.ledger import Ledger
from askfew.algorithms.frugal.claim.panel_certificates import cover_finding
from askfew.plans import Plan
from askfew.records import Floats, Problem, Tally
from error_limits import upper_limit

DELTA = 0.1


def covered(seed: int, peeking: bool) -> bool:
    """Whether the truth was excluded though all items are alike: a label, or no partition left."""
    rng = np.random.default_rng([seed, 8])
    cover = Cover(Ledger(Problem(14, 2), 40, np.arange(2)), DELTA, np.arange(14))
    totals = np.zeros((14, 2))
    items, questions = np.repeat(np.arange(14), 2), np.tile(np.arange(2), 14)
    ones = np.ones(28, dtype=np.int64)
    for step in range(8):
        answers = (rng.random((14, 2)) < 0.5).astype(np.float64)
        seen, asked = (totals + 3 * answers, step + 3) if peeking else (totals, step)
        means = (seen + 0.5) / (asked + 1)
        columns = {"items": items, "questions": questions, "repeats": ones}
        bets = {"guesses": means.ravel(), "bets": np.ones(14, dtype=np.int64)}
        cover.ask(Plan("certify", {}, {**columns, **bets}))
        cover.settle(Tally(ones, answers.ravel()))
        totals += answers
        if (cover.labels >= 0).any() or len(cover.misfits):
            return True
    return False


def test_panels_of_items_that_are_all_alike_rarely_exclude_that() -> None:
    errors = sum(covered(seed, peeking=False) for seed in range(60))
    assert upper_limit(errors, 60) <= DELTA


def test_panels_catch_bets_that_have_seen_the_answers() -> None:
    assert sum(covered(seed, peeking=True) for seed in range(20)) > 10


def test_a_panel_holds_every_partition_once() -> None:
    cover = Cover(Ledger(Problem(4, 2), 1, np.arange(2)), 0.1, np.arange(4))
    assert cover.root.sides is not None
    assert len(np.unique(cover.root.sides, axis=0)) == 8
    assert (cover.root.sides[:, 0] == 1).all()


def test_parts_of_delta_of_panels_and_joins_add_up() -> None:
    cover = Cover(Ledger(Problem(61, 2), 1, np.arange(2)), 0.1, np.arange(61))
    assert sum(np.exp(-node.needed) for node in cover.nodes) == pytest.approx(0.1)
    assert sorted(cover.root.members) == list(range(61))


TWO_PANELS = np.arange(24) % 2


def told(cover: Cover, question: int, yes: Floats) -> None:
    """Everybody answers a question once, as ``yes`` says; bets follow what it says, too."""
    n = cover.problem.items
    ones = np.ones(n, dtype=np.int64)
    columns = {"items": np.arange(n), "questions": np.full(n, question), "repeats": ones}
    bets = {"guesses": np.where(TWO_PANELS == 1, 0.9, 0.1), "bets": ones}
    cover.ask(Plan("certify", {}, {**columns, **bets}))
    cover.settle(Tally(ones, yes))


def sorted_out(questions: int) -> Cover:
    """A cover of 24 items, all of them labelled, with this many questions left to be asked."""
    ledger = Ledger(Problem(24, 8 + questions), 1, np.arange(8 + questions))
    cover = Cover(ledger, DELTA, np.arange(24))
    for question in range(8):
        told(cover, question, TWO_PANELS.astype(np.float64))
    assert (cover.labels == TWO_PANELS).all()
    return cover


def test_no_labels_are_given_where_the_answers_fit_no_two_groups() -> None:
    cover = sorted_out(questions=30)
    for question in range(8, 38):  # item 0 turns out to be like nobody else
        told(cover, question, np.where(np.arange(24) == 0, 1.0, TWO_PANELS))
        if cover.root.broken:
            break
    assert cover.root.broken
    assert not cover.panels[1].broken  # it would still label its own members
    assert (cover.labels == -1).all()
    finding = cover_finding(cover, None)
    assert finding.certificate is None
    assert set(finding.undecided.values()) == {"misfit"}
    assert "no way to divide the items into two groups is left" in finding.reason


def test_nodes_with_a_misfit_give_no_labels_and_the_others_do() -> None:
    cover = sorted_out(questions=1)
    cover.panels[0]._keep(np.zeros(1, dtype=bool))  # as if its last partition were excluded
    told(cover, 8, TWO_PANELS.astype(np.float64))
    assert not cover.root.broken  # it has a partition left, of items that are in no two groups
    assert cover.misfits.tolist() == list(range(12))
    assert (cover.labels[:12] == -1).all()
    assert (cover.labels[12:] == TWO_PANELS[12:]).all()
    certificate = cover_finding(cover, None).certificate
    assert certificate is not None
    assert certificate.promise.startswith("12 labels are right")
    assert certificate.assumptions[0].endswith("but for the 12 items set aside")
