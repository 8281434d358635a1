import numpy as np
import pytest

from askfew import oracles
from askfew.algorithms.paper import compare_sequential_halving
from askfew.algorithms.paper.compare_sequential_halving import depths
from askfew.answers import Number
from askfew.driver import run
from askfew.log import Log
from askfew.records import Ints, Problem, Snapshot

N, D = 6, 40
PROBLEM = Problem(N, D, Number(1.0))
KNOWN = Snapshot("test", np.full(N, -1))


def halve(items: Ints, L: int, T: int, seed: int, gap: float) -> tuple[tuple[int, int], Log]:  # noqa: N803
    """CSH in a world where item i differs from item 0 by gap x i x (j + 1) on question j."""
    means = gap * np.arange(N)[:, np.newaxis] * np.arange(1, D + 1)
    log = Log(PROBLEM)
    procedure = compare_sequential_halving(
        PROBLEM, items, L, T, np.random.default_rng(seed), why="test", known=KNOWN
    )
    ended = run(procedure, oracles.gaussian(means, rng=seed), log=log)
    assert ended.result is not None
    return ended.result, log


def fitting() -> list[tuple[int, int]]:
    """All (L, T) that CR and CBC use in their first rounds."""
    return [(L, 2 ** (k + 1)) for k in range(1, 12) for L in depths(99, k)]


@pytest.mark.parametrize("seed", range(5))
def test_an_enormous_gap_finds_the_largest_entry_drawn(seed: int) -> None:
    (i, j), log = halve(np.arange(1, N), 5, 2**9, seed, gap=1e6)
    first = log.steps[0].batch
    half = len(first) // 2
    size = first.items[half:] * (first.questions[half:] + 1)
    assert i * (j + 1) == size.max()


def test_the_right_question_wins_for_one_item() -> None:
    (i, j), log = halve(np.array([3]), 6, 2**10, seed=0, gap=1e6)
    assert i == 3
    assert j == log.steps[0].batch.questions.max()


def test_it_spends_at_most_T_and_asks_at_least_once() -> None:  # noqa: N802
    for L, T in fitting():  # noqa: N806
        _, log = halve(np.arange(1, N), L, T, seed=L, gap=1.0)
        assert len(log) == L
        assert 0 < log.answers <= T
        assert min(step.batch.repeats.min() for step in log) >= 1


def test_each_halving_keeps_half_and_compares_with_item_0() -> None:
    _, log = halve(np.arange(1, N), 4, 2**9, seed=2, gap=1.0)
    assert [len(step.batch) for step in log] == [32, 16, 8, 4]
    for step in log:
        half = len(step.batch) // 2
        assert (step.batch.items[:half] == 0).all()
        assert (step.batch.items[half:] > 0).all()
        assert (step.batch.questions[:half] == step.batch.questions[half:]).all()
        assert len(set(step.batch.repeats.tolist())) == 1
    spent = [step.batch.answers for step in log]
    assert spent == [2**9 // 2**5 // 4 * 32, 2**9 // 2**4 // 4 * 16, 2**9 // 2**3 // 4 * 8, 128]


@pytest.mark.parametrize("k", range(1, 40))
def test_depths_are_all_that_give_tau_at_least_one(k: int) -> None:
    tried = depths(99, k)
    budget = 2 ** (k + 1)
    assert list(tried) == list(range(1, len(tried) + 1))
    assert all(budget // (2 ** (L + 1) * L) >= 1 for L in tried)
    following = len(tried) + 1
    assert budget // (2 ** (following + 1) * following) == 0


def test_depths_stop_at_the_largest_L() -> None:  # noqa: N802
    assert list(depths(3, 30)) == [1, 2, 3]
    assert list(depths(3, 0)) == []
