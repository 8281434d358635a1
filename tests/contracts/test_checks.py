"""The checks themselves: each kind of broken method or oracle is rejected, with its reason."""

import random
from collections.abc import Generator
from typing import Any

import numpy as np
import pytest

from askfew import Batch, Problem, Scale, Tally, YesNo, oracles
from askfew.records import Certificate, Finding, Oracle, Procedure, Snapshot
from askfew.testing import Start, check_method, check_oracle, two_groups

PROBLEM = Problem(4, 2)
ITEMS, FIRST = np.arange(4), np.zeros(4, dtype=np.int64)


def ask(repeats: int = 3, known: Snapshot | None = None) -> Batch:
    return Batch(ITEMS.copy(), FIRST.copy(), np.full(4, repeats), "ask all", known)


def labels(tally: Tally) -> np.ndarray[Any, np.dtype[np.int64]]:
    """More yeses than noes, named so that item 0 is in group 0; no division by counts."""
    yes = 2 * tally.sums > tally.counts
    return np.asarray(yes != yes[0], dtype=np.int64)


def honest(problem: Problem, rng: np.random.Generator) -> Procedure[Finding]:
    repeats = int(rng.integers(2, 9))
    tally = yield ask(repeats)
    return Finding(labels(tally))


def test_an_honest_method_passes() -> None:
    check_method(honest, PROBLEM)


def forgets_yield_from(
    problem: Problem, rng: np.random.Generator
) -> Generator[Any, Tally, Finding]:
    yield honest(problem, rng)
    return Finding(FIRST)


def asks_items_that_are_not_there(problem: Problem, rng: np.random.Generator) -> Procedure[Finding]:
    tally = yield Batch(ITEMS + 1, FIRST, FIRST + 1)
    return Finding(labels(tally))


def returns_a_list(problem: Problem, rng: np.random.Generator) -> Generator[Batch, Tally, Any]:
    tally = yield ask()
    return labels(tally).tolist()


def returns_too_few_labels(problem: Problem, rng: np.random.Generator) -> Procedure[Finding]:
    tally = yield ask()
    return Finding(labels(tally)[1:])


def returns_floats(problem: Problem, rng: np.random.Generator) -> Procedure[Finding]:
    tally = yield ask()
    return Finding(labels(tally).astype(np.float64))


def puts_item_0_in_group_1(problem: Problem, rng: np.random.Generator) -> Procedure[Finding]:
    tally = yield ask()
    return Finding(1 - labels(tally))


def promises_too_much(problem: Problem, rng: np.random.Generator) -> Procedure[Finding]:
    tally = yield ask()
    nobody = np.full_like(labels(tally), -1)
    return Finding(nobody, certificate=Certificate(0.1, "sure", ()), status="undecided")


def uses_python_s_random(problem: Problem, rng: np.random.Generator) -> Procedure[Finding]:
    tally = yield ask(random.randint(2, 3))
    return Finding(labels(tally))


def uses_numpy_s_random(problem: Problem, rng: np.random.Generator) -> Procedure[Finding]:
    tally = yield ask(np.random.randint(2, 9))  # noqa: NPY002
    return Finding(labels(tally))


def uses_its_own_rng(problem: Problem, rng: np.random.Generator) -> Procedure[Finding]:
    tally = yield ask(int(np.random.default_rng().integers(1, 10**3)))
    return Finding(labels(tally))


def changes_its_batch(problem: Problem, rng: np.random.Generator) -> Procedure[Finding]:
    batch = ask()
    tally = yield batch
    batch.repeats[:] = 5
    tally = yield batch
    return Finding(labels(tally))


def changes_its_tally(problem: Problem, rng: np.random.Generator) -> Procedure[Finding]:
    tally = yield ask()
    tally.sums[:] += 1.0
    return Finding(labels(tally))


def divides_by_counts(problem: Problem, rng: np.random.Generator) -> Procedure[Finding]:
    tally = yield ask()
    yes = tally.sums / tally.counts > 0.5
    return Finding((yes != yes[0]).astype(np.int64))


def expects_every_answer(problem: Problem, rng: np.random.Generator) -> Procedure[Finding]:
    tally = yield ask()
    if tally.answers < 12:
        raise RuntimeError("somebody skipped")
    return Finding(labels(tally))


BROKEN: dict[str, tuple[Any, str]] = {
    "forgets yield from": (forgets_yield_from, "yield from"),
    "asks nonsense": (asks_items_that_are_not_there, "can be asked"),
    "returns a list": (returns_a_list, "must return a Finding"),
    "too few labels": (returns_too_few_labels, "there must be 4 labels"),
    "float labels": (returns_floats, "whole numbers"),
    "item 0 in group 1": (puts_item_0_in_group_1, "must have label 0"),
    "promises too much": (promises_too_much, "nothing certified, nothing promised"),
    "Python's random": (uses_python_s_random, "Python's global random state"),
    "NumPy's random": (uses_numpy_s_random, "NumPy's global random state"),
    "its own rng": (uses_its_own_rng, "same rng"),
    "changes its batch": (changes_its_batch, "must not change the arrays"),
    "changes its tally": (changes_its_tally, "must not change the arrays"),
    "divides by counts": (divides_by_counts, "must bear rows .*RuntimeWarning"),
    "expects every answer": (expects_every_answer, "must bear rows that come short"),
}


@pytest.mark.parametrize(("method", "reason"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_method_is_rejected(method: Start, reason: str) -> None:
    with pytest.raises(AssertionError, match=reason):
        check_method(method, PROBLEM)


class Broken:
    """A fair coin whose Tally is then spoiled."""

    def __init__(self, seed: int, kind: str) -> None:
        self.problem = Problem(3, 2, YesNo() if kind != "off the scale" else Scale(1, 5))
        self._rng, self._kind = np.random.default_rng(seed), kind

    def __call__(self, batch: Batch, /) -> Any:
        sums = self._rng.binomial(batch.repeats, 0.5).astype(np.float64)
        counts = batch.repeats.copy()
        match self._kind:
            case "leaves out a row":
                return Tally(counts[1:], sums[1:])
            case "too many answers":
                return Tally(counts + 1, sums)
            case "NaN":
                return Tally(counts, sums * np.nan)
            case "wrong squares":
                return Tally(counts, sums, sums / 9)
            case "unseeded":
                return Tally(counts, np.random.default_rng().binomial(counts, 0.5).astype(float))
            case "global random":
                return Tally(counts, np.random.binomial(counts, 0.5).astype(float))  # noqa: NPY002
            case "changes the batch":
                batch.repeats[:] = 1
                return Tally(counts, sums)
            case "a list":
                return [counts, sums]
        return Tally(counts, sums)


REASONS = {
    "leaves out a row": "must answer the Batch",
    "too many answers": "must answer the Batch",
    "off the scale": "must answer the Batch",
    "NaN": "must answer the Batch",
    "wrong squares": "squares",
    "unseeded": "same seed",
    "global random": "global random state",
    "changes the batch": "must not change the Batch",
    "a list": "must return a Tally",
}


@pytest.mark.parametrize(("kind", "reason"), REASONS.items())
def test_a_broken_oracle_is_rejected(kind: str, reason: str) -> None:
    with pytest.raises(AssertionError, match=reason):
        check_oracle(lambda seed: Broken(seed, kind))


def test_an_oracle_must_know_its_problem() -> None:
    class Lost:
        problem = (3, 2)

    with pytest.raises(AssertionError, match="must be a Problem"):
        check_oracle(lambda seed: Lost())  # type: ignore[arg-type, return-value]


def test_an_oracle_that_is_empty_from_the_start_is_no_oracle() -> None:
    def used_up(seed: int) -> Oracle:
        oracle = oracles.table([[[1], [1]], [[0], [0]]], rng=seed)
        oracle(Batch(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.full(4, 1)))
        return oracle

    with pytest.raises(Exception, match="used up"):
        check_oracle(used_up)


def test_the_small_worlds_have_two_groups() -> None:
    for kind in (YesNo(), Scale(1, 5)):
        problem = Problem(4, 2, kind)
        sums = two_groups(problem, 0)(ask(1000)).sums / 1000
        assert sums[[0, 2]].max() < sums[[1, 3]].min()
