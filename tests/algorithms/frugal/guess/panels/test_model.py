"""Latent classes under a cap: groups of items, levels of questions, and what they promise."""

from __future__ import annotations

import numpy as np

from askfew.algorithms.frugal.claim.ledger import Ledger
from askfew.algorithms.frugal.guess.panels.model import GroupModel, _matching
from askfew.records import Problem

N, D = 16, 8
TRUTH = np.arange(N) % 2


def model(useful: int = 4, times: int = 4) -> GroupModel:
    """All items have answered; the first questions tell the groups apart, always yes or no."""
    ledger = Ledger(Problem(N, D), 8, np.arange(D))
    built = GroupModel(ledger, 2, root=1, fresh=4.0)
    hear(built, useful, times)
    return built


def hear(built: GroupModel, useful: int, times: int) -> None:
    built.ledger.counts += times
    built.ledger.sums[:, :useful] += times * TRUTH[:, np.newaxis]
    built.ledger.sums[:, useful:] += times / 2


def test_the_groups_are_found_and_their_levels() -> None:
    built = model()
    built.explore(np.arange(N))
    group = built.chances.argmax(axis=1)
    assert len(set(group[TRUTH == 0])) == len(set(group[TRUTH == 1])) == 1
    gap = abs(built.levels[0] - built.levels[1])
    assert gap[:4].min() > 0.8 > 0.1 > gap[4:].max()


def test_answers_about_useful_questions_are_worth_more() -> None:
    built = model()
    built.explore(np.arange(N))
    rate, likely = built.rates(0.5)[0, 1], built.likely()[0, 1]
    assert rate[:4].min() > 0.3 > 0.05 > rate[4:].max()
    assert likely[:4].min() > 0.9 > 0.5 > likely[4:].max()


def test_only_later_answers_confirm_a_split() -> None:
    built = model()
    built.explore(np.arange(N))
    built.remember()
    assert built.promised() > 5
    assert built.confirmed() < 1
    hear(built, 4, 2)
    built.explore(np.arange(N))
    assert built.confirmed() > 3
    built.forget()
    assert built.confirmed() < 1


def test_a_split_that_does_not_come_again_is_not_confirmed() -> None:
    built = model()
    built.explore(np.arange(N))
    built.remember()
    hear(built, 0, 4)  # the same items now answer all alike
    built.explore(np.arange(N))
    assert built.confirmed() < 1


def test_labels_are_certain_and_number_the_groups() -> None:
    built = model()
    built.explore(np.arange(N))
    labels = np.full(N, -1)
    own = built.chances.argmax(axis=1)
    labels[0] = 1 - own[0]  # the claim may number them the other way round
    built.certify(labels)
    assert built.chances[0].tolist() == np.eye(2)[labels[0]].tolist()
    np.testing.assert_array_equal(built.chances.argmax(axis=1), 1 - own)


def test_groups_are_matched_by_the_items_they_share() -> None:
    assert _matching(np.array([[1.0, 5.0], [6.0, 2.0]])).tolist() == [1, 0]
    assert _matching(np.array([[9.0, 8.0], [8.0, 0.0]])).tolist() == [0, 1]
