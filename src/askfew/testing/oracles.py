"""The contract of an oracle."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from askfew.errors import AskfewError, CellExhausted
from askfew.records import Batch, Oracle, Problem, Tally, checked_tally
from askfew.testing.worlds import no_global_randomness

__all__ = ["check_oracle"]


def check_oracle(make: Callable[[int], Oracle]) -> None:
    """Check an oracle; ``make(seed)`` must return a new one, the same for the same seed.

    The oracle must answer every row of a Batch, in order, with at most as many answers as asked and
    with sums that its kind of answer allows. A cell may come twice. It must not change the Batch.
    The same seed must give the same answers, without global random state. An oracle that runs out
    of recorded answers may raise CellExhausted, but not before it has answered once.

    >>> from askfew import oracles
    >>> check_oracle(lambda seed: oracles.bernoulli([[0.1, 0.5], [0.9, 0.5]], rng=seed))
    """
    problem = make(0).problem
    assert isinstance(problem, Problem), f"an oracle's problem must be a Problem, got {problem!r}"
    for batch in _batches(problem):
        with no_global_randomness("an oracle"):
            tally = _answered(make(1), batch)
        again = _answered(make(1), batch)
        assert _same(tally, again), f"the same seed must give the same answers to {batch}"
    _check_goes_on(make(2), problem)


def _batches(problem: Problem) -> list[Batch]:
    """Three Batches: one cell; every cell of some items; the same cells twice, reordered."""
    items, questions = np.divmod(
        np.arange(min(problem.items * problem.questions, 60)), problem.questions
    )
    twice = np.concatenate([np.arange(len(items)), np.arange(len(items))[::-1]])
    return [
        _batch(items[-1:], questions[-1:], np.ones(1, dtype=np.int64)),
        _batch(items, questions, 1 + np.arange(len(items)) % 3),
        _batch(items[twice], questions[twice], 1 + np.arange(len(twice)) % 4),
    ]


def _batch(items: np.ndarray, questions: np.ndarray, repeats: np.ndarray) -> Batch:
    return Batch(items, questions, repeats, f"check {len(items)} rows")


def _answered(oracle: Oracle, batch: Batch) -> Tally:
    """The Tally, checked as the driver would."""
    before = Batch(batch.items.copy(), batch.questions.copy(), batch.repeats.copy())
    tally = oracle(batch)
    assert batch.asks_the_same_as(before), "an oracle must not change the Batch it is given"
    assert isinstance(tally, Tally), f"an oracle must return a Tally, got {type(tally).__name__}"
    try:
        checked = checked_tally(batch, oracle.problem.kind, tally.counts, tally.sums, tally.squares)
    except AskfewError as error:
        raise AssertionError(f"an oracle must answer the Batch it was asked: {error}") from error
    if checked.squares is not None:
        least = checked.sums**2 / np.maximum(checked.counts, 1)
        enough = checked.squares >= least * (1 - 1e-9)
        assert enough.all(), "squares must be sums of squared answers, at least sum^2 / count"
    return checked


def _same(one: Tally, other: Tally) -> bool:
    return (
        np.array_equal(one.counts, other.counts)
        and np.array_equal(one.sums, other.sums)
        and (one.squares is None) == (other.squares is None)
        and (one.squares is None or np.array_equal(one.squares, other.squares))  # type: ignore[arg-type]
    )


def _check_goes_on(oracle: Oracle, problem: Problem) -> None:
    """Ask the same Batch again: the answers must be valid until there are none left."""
    batch = _batches(problem)[1]
    _answered(oracle, batch)
    for _ in range(3):
        try:
            _answered(oracle, batch)
        except CellExhausted:
            return
