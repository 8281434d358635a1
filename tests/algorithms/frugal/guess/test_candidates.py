"""Candidates of a search: which look different, which are given up, who is sampled again."""

from __future__ import annotations

import math

import numpy as np

from askfew.algorithms.frugal.guess.candidates import (
    _SILENT,
    Noise,
    Pool,
    plan_round,
    posterior,
)
from askfew.answers import Number
from askfew.records import Floats, Problem, Tally

PROBLEM = Problem(10, 400, Number(1.0))


def pool(samples: int, gaps: Floats) -> Pool:
    """Candidates that have answered with exactly these gaps."""
    found = Pool(PROBLEM.kind)
    rows = found.add(np.tile([0, 1], (len(gaps), 1)), np.arange(len(gaps)))
    counts = np.full((len(gaps), 2), float(samples))
    found.record(rows, counts, np.stack([np.zeros(len(gaps)), samples * gaps], axis=1))
    return found


def test_the_one_that_differs_is_believed_and_the_others_are_not() -> None:
    gaps = np.zeros(200)
    gaps[17] = 5.0
    now = posterior(pool(4, gaps), lambda each: each**2, Noise(PROBLEM))
    assert now.chances[17] > 0.9
    assert np.delete(now.chances, 17).max() < 0.1
    assert now.values[17] > now.new


def test_the_best_is_sampled_again() -> None:
    gaps = np.zeros(200)
    gaps[17] = 2.5
    seen = pool(2, gaps)
    now = posterior(seen, lambda each: each**2, Noise(PROBLEM))
    rows, times, leader = plan_round(seen, now, budget=40)
    assert leader in (17, None)
    assert 17 in rows
    assert (times >= 1).all()
    assert times.sum() <= 40


def test_a_candidate_that_stays_silent_is_given_up() -> None:
    seen = pool(1, np.array([1.0, 1.0]))
    for _ in range(_SILENT):
        seen.record(np.array([0]), np.array([[1.0, 0.0]]), np.zeros((1, 2)))
    assert seen.scores[0] == -math.inf
    assert seen.scores[1] > 0
    seen.record(np.array([0]), np.ones((1, 2)), np.zeros((1, 2)))
    assert seen.scores[0] == -math.inf  # for good


def test_a_pool_grows_and_replaces() -> None:
    seen = pool(1, np.linspace(0, 3, 100))
    worst = seen.least(3)
    rows = seen.add(np.tile([2, 3], (4, 1)), np.arange(300, 304), replaced=worst)
    assert seen.size == 101
    assert set(worst) < set(rows)
    assert (seen.counts[rows] == 0).all()


def test_quiet_answers_are_noticed() -> None:
    noise = Noise(PROBLEM)
    rng = np.random.default_rng(0)
    questions = np.repeat(np.arange(20), 10)
    answers = 0.2 * rng.standard_normal(200)
    noise.record(questions, Tally(np.ones(200, dtype=np.int64), answers, answers**2))
    assert (noise.shares(np.arange(20)) < 0.6).all()
    assert (Noise(PROBLEM).shares(np.arange(3)) == 1).all()
