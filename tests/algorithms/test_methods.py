from typing import Any

import numpy as np
import pytest

from askfew import cluster
from askfew.algorithms import METHODS, check_delta, start, takes_budget
from askfew.errors import InvalidInput
from askfew.records import Batch, Finding, Problem
from askfew.testing import two_groups

PROBLEM = Problem(4, 2)


def begin(method: Any, **settings: Any) -> object:
    return start(method, PROBLEM, np.random.default_rng(0), **{"delta": 0.1, **settings})


def test_the_reference_and_the_baselines_are_there() -> None:
    assert {"paper", "kmeans", "kmeans10", "spectral"} <= METHODS.keys()
    assert not takes_budget("paper")
    assert takes_budget("kmeans")


@pytest.mark.parametrize("method", METHODS)
def test_every_method_says_in_a_sentence_what_it_does(method: str) -> None:
    assert METHODS[method].__doc__


@pytest.mark.parametrize("delta", [0, 1, -1, 1.5, float("nan"), float("inf"), "x", None, True])
def test_delta_is_a_probability(delta: Any) -> None:
    with pytest.raises(InvalidInput, match="strictly between 0 and 1"):
        check_delta(delta)
    with pytest.raises(InvalidInput, match="strictly between 0 and 1"):
        begin("paper", delta=delta)


@pytest.mark.parametrize("method", ["papper", "", None, 3])
def test_an_unknown_method_is_told_which_there_are(method: Any) -> None:
    with pytest.raises(InvalidInput, match=r"method must be one of .*paper, "):
        begin(method)


def test_an_unknown_option_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"paper takes the options .*got flavour"):
        begin("paper", flavour=3)


@pytest.mark.parametrize("budget", [None, 0, -5, 2.5, "x", True])
def test_a_budget_is_a_whole_number_of_answers(budget: Any) -> None:
    with pytest.raises(InvalidInput, match="kmeans needs a budget"):
        begin("kmeans", budget=budget)


def test_a_method_that_stops_by_itself_takes_no_budget() -> None:
    with pytest.raises(InvalidInput, match="paper stops by itself"):
        begin("paper", budget=100)


def test_an_option_that_is_needed_is_asked_for() -> None:
    with pytest.raises(InvalidInput, match="told-gap needs the option gap"):
        begin("told-gap")


def first_look(returned: object) -> Any:
    """A method of one's own: one Batch, and then it returns this."""

    def mine(problem: Problem, rng: np.random.Generator, *, delta: float) -> Any:
        yield Batch(np.arange(4), np.zeros(4, np.int64), np.ones(4, np.int64), "a look")
        return returned

    return mine


@pytest.mark.parametrize(
    ("returned", "sentence"),
    [
        (None, "mine must return a Finding, got NoneType"),
        (np.zeros(4, np.int64), "mine must return a Finding, got ndarray"),
        (Finding(np.zeros(3, np.int64)), "an array of 4 whole numbers"),
        (Finding(np.zeros(4)), "an array of 4 whole numbers"),  # type: ignore[arg-type]
        (Finding([0] * 4), "an array of 4 whole numbers"),  # type: ignore[arg-type]
    ],
)
def test_what_a_method_of_one_s_own_returns_is_looked_at(returned: object, sentence: str) -> None:
    world = two_groups(PROBLEM, seed=0)
    with pytest.raises(InvalidInput, match=sentence):
        cluster(world, method=first_look(returned))
    good = cluster(world, method=first_look(Finding(np.array([0, 1, 0, -1]))))
    assert good.labels.tolist() == [0, 1, 0, -1]


def test_a_method_must_be_a_generator() -> None:
    with pytest.raises(InvalidInput, match="must be a generator, which yields Batches, got int"):
        begin(lambda problem, rng, *, delta: 5)
