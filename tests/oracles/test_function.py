import functools
from typing import Any

import numpy as np
import pytest

from askfew import Number, Scale, oracles
from askfew.errors import AnswerFailed, CellExhausted, InvalidAnswer
from askfew.records import Batch, Problem, Tally

BATCH = Batch(np.array([0, 2, 0]), np.array([1, 0, 1]), np.array([2, 3, 1]), "test")


def test_one_value_at_a_time_row_by_row() -> None:
    asked: list[tuple[int, int]] = []

    def ask(item: int, question: int) -> float:
        asked.append((item, question))
        return 1.5 * item + question

    tally = oracles.function(ask, Problem(3, 2, Number()))(BATCH)
    assert asked == [(0, 1)] * 2 + [(2, 0)] * 3 + [(0, 1)]
    assert tally.counts.tolist() == [2, 3, 1]
    assert tally.sums.tolist() == [2.0, 9.0, 1.0]
    assert tally.squares is not None
    assert tally.squares.tolist() == [2.0, 27.0, 1.0]


def test_none_is_no_answer() -> None:
    answers = iter([None, True, None, None, None, False])
    tally = oracles.function(lambda i, q: next(answers), Problem(3, 2))(BATCH)
    assert tally.counts.tolist() == [1, 0, 1]
    assert tally.sums.tolist() == [1.0, 0.0, 0.0]


def test_names_are_passed_on() -> None:
    oracle = oracles.function(
        lambda item, question: (item, question) == ("c", "big?"),
        Problem(3, 2),
        items=["a", "b", "c"],
        questions=["big?", "old?"],
    )
    assert oracle(BATCH).sums.tolist() == [0.0, 3.0, 0.0]


def test_a_whole_batch_is_passed_if_it_takes_one_argument() -> None:
    def answer(batch: Batch) -> Tally:
        assert batch is BATCH
        return Tally(batch.repeats, np.zeros(3))

    assert oracles.function(answer, Problem(3, 2))(BATCH).counts.tolist() == [2, 3, 1]


class Callable2:
    def __call__(self, item: int, question: int) -> int:
        return 1


class Callable1:
    def __call__(self, batch: Batch, extra: int = 0) -> Tally:
        return Tally(batch.repeats, np.ones(len(batch)))


def two(item: int, question: int, extra: int = 3) -> int:
    return 1


def three(extra: int, item: int, question: int) -> int:
    return extra


def anything(*values: int) -> int:
    return len(values) - 1


@pytest.mark.parametrize(
    "ask",
    [Callable2(), two, functools.partial(three, 1), functools.partial(two, extra=4), anything],
    ids=["object", "default", "partial", "partial keyword", "any arguments"],
)
def test_what_counts_as_a_function_of_item_and_question(ask: Any) -> None:
    assert oracles.function(ask, Problem(3, 2))(BATCH).sums.tolist() == [2.0, 3.0, 1.0]


def test_an_object_with_defaults_may_take_a_batch() -> None:
    assert oracles.function(Callable1(), Problem(3, 2))(BATCH).sums.tolist() == [1.0, 1.0, 1.0]


def test_a_function_that_raises_keeps_its_traceback_and_what_was_answered() -> None:
    answers = iter([1, 0, 1, ZeroDivisionError("oops")])

    def ask(item: int, question: int) -> object:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    with pytest.raises(AnswerFailed, match=r"item 2, question 0.*oops") as caught:
        oracles.function(ask, Problem(3, 2))(BATCH)
    cause = caught.value.__cause__
    assert isinstance(cause, ZeroDivisionError)
    assert cause.__traceback__ is not None
    partial = caught.value.partial
    assert partial is not None
    assert partial.counts.tolist() == [2, 1, 0]
    assert partial.sums.tolist() == [1.0, 1.0, 0.0]


@pytest.mark.parametrize("value", [6, 0.99, float("nan"), float("inf"), "x", [1, 2]])
def test_an_impossible_answer_is_refused_and_the_others_kept(value: object) -> None:
    answers = iter([4, value])
    with pytest.raises(InvalidAnswer, match=r"from 1 to 5.*item 0, question 1") as caught:
        oracles.function(lambda i, q: next(answers), Problem(3, 2, Scale(1, 5)))(BATCH)
    assert caught.value.partial is not None
    assert caught.value.partial.sums.tolist() == [4.0, 0.0, 0.0]


def test_a_function_of_a_batch_may_say_that_there_is_no_more() -> None:
    def answer(batch: Batch) -> Tally:
        raise CellExhausted("more answers are needed", "none", "hire more people")

    with pytest.raises(CellExhausted):
        oracles.function(answer, Problem(3, 2))(BATCH)


@pytest.mark.parametrize("returned", [None, 3, [1, 2, 3], {"counts": [1]}])
def test_a_function_of_a_batch_must_return_a_tally(returned: object) -> None:
    def answer(batch: Batch) -> object:
        return returned

    with pytest.raises(InvalidAnswer, match="must return a Tally"):
        oracles.function(answer, Problem(3, 2))(BATCH)


def test_an_async_function_is_refused_with_a_sentence() -> None:
    async def answer(item: int, question: int) -> bool:
        return True

    with pytest.raises(InvalidAnswer, match="a coroutine for item 0, question 1: call it with"):
        oracles.function(answer, Problem(3, 2))(BATCH)
