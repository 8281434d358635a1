"""An oracle that calls a Python function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from askfew.errors import AnswerFailed, AskfewError, InvalidAnswer
from askfew.records import Batch, Problem, Tally

__all__ = ["FunctionOracle", "function"]


class FunctionOracle:
    """Calls ``ask(item, question)`` for each answer, or ``ask(batch)`` for each Batch."""

    def __init__(
        self,
        ask: Callable[..., Any],
        problem: Problem,
        items: Sequence[object],
        questions: Sequence[object],
    ) -> None:
        self.problem = problem
        self._ask, self._items, self._questions = ask, items, questions
        self._whole_batches = _takes_one_argument(ask)

    def __call__(self, batch: Batch, /) -> Tally:
        """Collect the answers. An error carries the answers that were already given."""
        return self._ask_batch(batch) if self._whole_batches else self._ask_one_by_one(batch)

    def _ask_batch(self, batch: Batch) -> Tally:
        try:
            tally = self._ask(batch)
        except AskfewError:
            raise
        except Exception as error:
            raise AnswerFailed(
                "the function must answer the Batch",
                f"{error!r}",
                "fix it and resume from error.log",
            ) from error
        if not isinstance(tally, Tally):
            raise InvalidAnswer(
                "a function of a Batch must return a Tally",
                type(tally).__name__,
                "return askfew.Tally(counts, sums)",
            )
        return tally

    def _ask_one_by_one(self, batch: Batch) -> Tally:
        counts = np.zeros(len(batch), dtype=np.int64)
        sums, squares = np.zeros(len(batch)), np.zeros(len(batch))
        for row, repeats in enumerate(batch.repeats):
            item = self._items[batch.items[row]]
            question = self._questions[batch.questions[row]]
            for _ in range(repeats):
                try:
                    answer = self._one(item, question)
                except AskfewError as error:
                    # Answers that were given before the failure may have cost money.
                    error.partial = Tally(counts, sums, squares)
                    raise
                if answer is not None:
                    counts[row] += 1
                    sums[row] += answer
                    squares[row] += answer * answer
        return Tally(counts, sums, squares)

    def _one(self, item: object, question: object) -> float | None:
        where = f"item {item!r}, question {question!r}"
        try:
            value = self._ask(item, question)
        except Exception as error:
            raise AnswerFailed(
                f"the function must answer {where}",
                f"{error!r}",
                "fix it and resume from error.log",
            ) from error
        if value is None:
            return None
        if inspect.iscoroutine(value):
            # Otherwise Python warns that it was never awaited, after our own sentence.
            value.close()
            raise InvalidAnswer(
                "the function must return its answer",
                f"a coroutine for {where}",
                "call it with asyncio.run, or let 'askfew work python' await it",
            )
        try:
            return self.problem.kind.read(value)
        except InvalidAnswer as error:
            expected, got, do = error.args
            raise InvalidAnswer(expected, f"{got} for {where}", do) from None


def function(
    ask: Callable[..., Any],
    problem: Problem,
    *,
    items: Sequence[object] | None = None,
    questions: Sequence[object] | None = None,
) -> FunctionOracle:
    """An oracle that calls ``ask(item, question)``, or ``ask(batch)`` if it takes one argument.

    ``ask(item, question)`` returns one answer, or None for no answer. It is called with elements of
    ``items`` and ``questions``, which are numbers by default.

    >>> oracle = function(lambda item, question: item == "owl", Problem(2, 1), items=["owl", "elk"])
    >>> oracle(Batch(np.array([0, 1]), np.array([0, 0]), np.array([2, 2]))).sums
    array([2., 0.])
    """
    return FunctionOracle(
        ask,
        problem,
        range(problem.items) if items is None else items,
        range(problem.questions) if questions is None else questions,
    )


def _takes_one_argument(ask: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(ask).parameters.values()
    except (TypeError, ValueError):  # some built-ins have no signature
        return False
    required = [
        each
        for each in parameters
        if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
        and each.default is each.empty
    ]
    return len(required) == 1
