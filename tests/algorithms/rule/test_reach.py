"""When the caps of the cells are too low to certify anything, learning ends early."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from askfew import oracles
from askfew.algorithms.rule.guess.learn import Learner
from askfew.answers import Scale
from askfew.oracles import bernoulli, gaussian
from askfew.records import Floats, Problem

from .worlds import found, play


def few_questions(useful: int = 4, right: float = 0.92, items: int = 60) -> Floats:
    """Two groups of equal size; ``useful`` of 15 questions tell them apart."""
    means = np.full((items, 15), 0.5)
    means[:, :useful] = np.where(np.arange(items)[:, None] % 2, right, 1 - right)
    return means


def run(means: Floats, seed: int = 1, **options: Any) -> tuple[int, str, str, float]:
    ended = play(bernoulli(means, rng=seed), seed, delta=0.05, **options)
    finding = found(ended)
    return ended.meter.answers, finding.status, finding.reason, float((finding.labels >= 0).mean())


@pytest.mark.parametrize("anchors", [{}, {0: 0, 1: 1, 2: 0, 3: 1}])
def test_one_answer_per_cell_of_few_items_is_out_of_reach_before_anything_is_asked(
    anchors: dict[int, int],
) -> None:
    answers, status, reason, _ = run(few_questions(), per_cell=1, anchors=anchors or None)
    assert (answers, status) == (0, "undecided")
    assert "so none is asked for" in reason
    assert "more people" in reason
    assert 'repeats = "same"' in reason


def test_three_people_are_told_so_after_the_first_screen_instead_of_at_the_end() -> None:
    answers, status, reason, labelled = run(few_questions(), per_cell=3)
    assert (answers, status, labelled) == (450, "undecided", 0.0)
    assert "after 450 answers no more are asked for" in reason
    assert 'error = "share"' in reason  # which three people can reach:
    answers, _, _, labelled = run(few_questions(), per_cell=3, error="share")
    assert answers > 900
    assert labelled > 0.4


def test_anchors_show_it_after_fewer_answers() -> None:
    anchors = {item: item % 2 for item in range(8)}
    answers, status, _, _ = run(few_questions(), per_cell=3, anchors=anchors)
    assert status == "undecided"
    assert answers <= 250


def test_the_sentence_leaves_out_what_would_not_help() -> None:
    _, _, reason, _ = run(few_questions(), per_cell=2, error="share")
    assert "could be certified" in reason
    assert 'error = "share"' not in reason


@pytest.mark.parametrize(
    ("means", "options"),
    [
        (few_questions(), {"per_cell": 8}),
        (few_questions(), {"per_cell": 5, "error": "share"}),
        (few_questions(15, 0.95), {"per_cell": 3}),
        (few_questions(15, 0.95), {"per_cell": 2, "error": "share"}),
        (few_questions(8, 0.9, items=200), {"per_cell": 4}),
    ],
)
def test_what_can_be_certified_is_asked_for_as_without_the_check(
    monkeypatch: pytest.MonkeyPatch, means: Floats, options: dict[str, Any]
) -> None:
    checked = [run(means, seed, **options) for seed in range(3)]
    assert min(labelled for *_, labelled in checked) > 0.5
    monkeypatch.setattr(Learner, "_out_of_reach", lambda *_: None)
    assert checked == [run(means, seed, **options) for seed in range(3)]


def test_one_good_number_may_decide_so_numbers_are_never_out_of_reach() -> None:
    means = 4 * few_questions()
    ended = play(gaussian(means, sigma=0.5, rng=1), 1, per_cell=2, delta=0.05)
    assert (found(ended).labels >= 0).mean() > 0.5


def test_steady_answers_on_a_scale_gain_more_than_yes_and_no() -> None:
    """They never lose a bet, so means that are too near each other for yes/no are enough."""
    means = few_questions(15, 0.8)
    assert run(means, per_cell=2)[0] == 450
    kind = Problem(60, 15, Scale(0, 1))
    steady = oracles.function(lambda item, question: means[item, question], kind)
    assert play(steady, 1, per_cell=2, delta=0.05).meter.answers > 450
