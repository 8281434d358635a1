"""The contract of a method, whatever answers it gets."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias, get_args

import numpy as np

from askfew import algorithms
from askfew.answers import Number, Scale, YesNo
from askfew.driver import AskTell, RunEnd, replay, run
from askfew.errors import AskfewError, ReplayMismatch
from askfew.log import Log
from askfew.outcome import outcome_of
from askfew.records import Batch, Finding, Ints, Oracle, Problem, Procedure, Status
from askfew.testing.worlds import ForgetfulOracle, no_global_randomness, two_groups

__all__ = ["Start", "check_method"]

Start: TypeAlias = Callable[[Problem, np.random.Generator], Procedure[Finding]]

PROBLEMS = (Problem(5, 3, YesNo()), Problem(6, 4, Scale(1, 5)), Problem(7, 2, Number(2.0)))
ENDS = get_args(Status)


def check_method(
    method: str | Start,
    *problems: Problem,
    budget: int | None = None,
    max_answers: int = 20_000,
    options: Mapping[str, Any] | None = None,
) -> None:
    """Check a method, named as in METHODS or given as ``start(problem, rng)``, on some problems.

    The method must yield valid Batches and not change them afterwards. The same rng must give the
    same Batches, without global random state. A run must end, or stop at its cap, with one label
    for each item, also if answers are missing. A log must replay to the same end from any step. By
    default one small problem of each kind of answer is tried.

    >>> check_method("paper", Problem(4, 2))
    """
    start = _named(method, budget, options or {}) if isinstance(method, str) else method
    for problem in problems or PROBLEMS:
        ended, log = _live(start, problem, two_groups(problem, seed=1), max_answers)
        _check_end(ended, problem, max_answers)
        _check_repeatable(start, problem, log, max_answers)
        _check_replay(start, log, ended, max_answers)
        for name, keep in SKIPPING.items():
            _check_skips(start, problem, name, keep, max_answers)


def _named(method: str, budget: int | None, options: Mapping[str, Any]) -> Start:
    return partial(_start, method, budget, options)


def _start(
    method: str,
    budget: int | None,
    options: Mapping[str, Any],
    problem: Problem,
    rng: np.random.Generator,
) -> Procedure[Finding]:
    return algorithms.start(method, problem, rng, delta=0.1, budget=budget, **options)


def _live(
    start: Start, problem: Problem, oracle: Oracle, max_answers: int
) -> tuple[RunEnd[Finding], Log]:
    """One run from a fixed seed, and its log."""
    log = Log(problem)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # such as a division by zero answers
        procedure = start(problem, np.random.default_rng(7))
        try:
            ended = run(procedure, oracle, max_answers=max_answers, log=log)
        except AskfewError as error:
            raise AssertionError(f"a method must ask Batches that can be asked: {error}") from error
    for index in range(len(log)):
        try:
            log.verify(index)
        except ReplayMismatch as error:
            raise AssertionError(
                f"a method must not change the arrays of Batches or Tallies (step {index})"
            ) from error
    return ended, log


def _check_end(ended: RunEnd[Finding], problem: Problem, max_answers: int) -> None:
    assert ended.status in ENDS, f"a run must end with one of {ENDS}, got {ended.status!r}"
    assert ended.meter.answers <= max_answers, "a run must stay within its cap"
    if ended.status == "done":
        assert isinstance(ended.result, Finding), (
            f"a method must return a Finding, got {type(ended.result).__name__}"
        )
    outcome = outcome_of(ended, range(problem.items), range(problem.questions))
    labels = outcome.labels
    assert labels.shape == (problem.items,), (
        f"there must be {problem.items} labels, got {labels.shape}"
    )
    assert labels.dtype.kind == "i", f"labels must be whole numbers, got {labels.dtype}"
    assert labels.min() >= -1, "an undecided item must have label -1"
    decided = labels[labels >= 0]
    assert outcome.rule is not None or not len(decided) or decided[0] == 0, (
        "without a rule that names the groups, the first decided item must have label 0"
    )
    if outcome.question is not None:
        assert 0 <= outcome.question < problem.questions, "the question must be one of the problem"
    assert outcome.certificate is None or len(decided), "nothing certified, nothing promised"
    if outcome.status == "done":
        assert len(decided) == problem.items, "a run is done when every item has a label"


def _check_repeatable(start: Start, problem: Problem, log: Log, max_answers: int) -> None:
    # Checked in the second run, because importing some packages draws from the global generator.
    with no_global_randomness("a method"):
        _, again = _live(start, problem, two_groups(problem, seed=1), max_answers)
    assert len(again) == len(log), "the same rng and answers must give as many Batches"
    for index, (one, other) in enumerate(zip(log, again, strict=True)):
        assert one.batch.asks_the_same_as(other.batch), (
            f"the same rng and answers must give the same Batches, step {index} differs"
        )


def _check_replay(start: Start, log: Log, ended: RunEnd[Finding], max_answers: int) -> None:
    """The whole log must lead to the same end, and half of it to the Batch that came next."""
    session = _replayed(start, log, max_answers)
    assert session.ended is not None, "the replay of a whole log must end as the live run did"
    assert session.ended.status == ended.status, "a replay must end with the same status"
    sizes = range(log.problem.items), range(log.problem.questions)
    live, replayed = outcome_of(ended, *sizes), outcome_of(session.ended, *sizes)
    assert np.array_equal(live.labels, replayed.labels), "a replay must find the same labels"
    assert live.to_dict() == replayed.to_dict(), "a replay must have the same outcome"
    half = len(log) // 2
    if half < len(log):
        next_batch = _replayed(start, Log(log.problem, steps=log.steps[:half]), max_answers).ask()
        _assert_same(next_batch, log.steps[half].batch)


def _replayed(start: Start, log: Log, max_answers: int) -> AskTell[Finding]:
    procedure = start(log.problem, np.random.default_rng(7))
    try:
        return replay(procedure, log, max_answers=max_answers)
    except ReplayMismatch as error:
        raise AssertionError(f"a log must replay: {error}") from error


def _assert_same(one: Batch | None, other: Batch) -> None:
    assert one is not None, "half a log must not end the run"
    assert one.asks_the_same_as(other), "half a log must lead to the Batch that came next"


def _check_skips(
    start: Start, problem: Problem, name: str, keep: Callable[[int, Ints], Ints], max_answers: int
) -> None:
    oracle = ForgetfulOracle(two_groups(problem, seed=2), keep)
    try:
        ended, log = _live(start, problem, oracle, max_answers)
        _check_end(ended, problem, max_answers)
        _check_replay(start, log, ended, max_answers)
    except Exception as error:
        raise AssertionError(f"a method must bear {name}: {error!r}") from error


def _half(step: int, repeats: Ints) -> Ints:  # noqa: ARG001
    return np.random.default_rng(int(repeats.sum())).binomial(repeats, 0.5)


def _first_rows(step: int, repeats: Ints) -> Ints:  # noqa: ARG001
    return np.where(np.arange(len(repeats)) < len(repeats) // 2, repeats, 0)


def _last_rows(step: int, repeats: Ints) -> Ints:
    return repeats - _first_rows(step, repeats)


def _one_in_three(step: int, repeats: Ints) -> Ints:
    return repeats if step % 3 == 2 else np.zeros_like(repeats)


def _none(step: int, repeats: Ints) -> Ints:  # noqa: ARG001
    return np.zeros_like(repeats)


SKIPPING: dict[str, Callable[[int, Ints], Ints]] = {
    "rows that come short": _half,
    "rows without any answer at the end of each Batch": _first_rows,
    "rows without any answer at the start of each Batch": _last_rows,
    "two Batches of three without any answer": _one_in_three,
    "no answers at all": _none,
}
