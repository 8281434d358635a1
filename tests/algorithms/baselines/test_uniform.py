import numpy as np
import pytest

from askfew.algorithms.baselines import uniform
from askfew.algorithms.baselines.uniform import filled_means, uniform_answers
from askfew.answers import Number
from askfew.driver import AskTell
from askfew.errors import InvalidInput
from askfew.records import Floats, Ints, Problem, renumbered

PROBLEM = Problem(3, 4, Number(1.0))


def means(
    budget: int, *, whole_sweeps: bool, skip: tuple[int, int] | None = None
) -> tuple[Floats, AskTell[tuple[Ints, Floats]]]:
    """Uniform means where the answer of item i to question j is 10 i + j."""
    procedure = uniform_answers(
        PROBLEM, budget, np.random.default_rng(0), whole_sweeps=whole_sweeps
    )
    session = AskTell(procedure, PROBLEM)
    while (batch := session.ask()) is not None:
        counts = batch.repeats.copy()
        if skip is not None:
            counts[(batch.items == skip[0]) & (batch.questions == skip[1])] = 0
        session.tell(counts, counts * (10.0 * batch.items + batch.questions))
    assert session.ended is not None
    assert session.ended.result is not None
    return filled_means(*session.ended.result), session


ALL = 10.0 * np.arange(3)[:, np.newaxis] + np.arange(4)


@pytest.mark.parametrize(("budget", "spent"), [(12, 12), (23, 12), (24, 24), (35, 24)])
def test_whole_sweeps_leave_the_rest_unspent(budget: int, spent: int) -> None:
    found, session = means(budget, whole_sweeps=True)
    assert session.meter.answers == spent
    np.testing.assert_array_equal(found, ALL)


@pytest.mark.parametrize(("budget", "spent"), [(12, 12), (23, 21), (26, 24), (35, 33)])
def test_else_the_rest_buys_random_questions(budget: int, spent: int) -> None:
    found, session = means(budget, whole_sweeps=False)
    assert session.meter.answers == spent
    np.testing.assert_array_equal(found, ALL)


def test_a_budget_below_one_sweep_asks_some_questions_of_every_item() -> None:
    found, session = means(7, whole_sweeps=False)
    assert session.meter.answers == 6
    assert found.shape == (3, 2)


@pytest.mark.parametrize(("budget", "whole"), [(11, True), (2, False)])
def test_a_budget_too_small_is_refused(budget: int, whole: bool) -> None:
    with pytest.raises(InvalidInput, match="budget must be at least"):
        means(budget, whole_sweeps=whole)


def test_a_cell_nobody_answered_gets_the_mean_of_its_question() -> None:
    found, _ = means(12, whole_sweeps=True, skip=(1, 2))
    assert found[1, 2] == (2 + 22) / 2
    found[1, 2] = ALL[1, 2]
    np.testing.assert_array_equal(found, ALL)


def test_a_large_table_is_asked_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uniform, "_ROWS", 5)
    found, session = means(12, whole_sweeps=True)
    assert session.meter.batches == 3
    np.testing.assert_array_equal(found, ALL)


def test_item_0_is_in_group_0() -> None:
    assert renumbered(np.array([1, 0, 1])).tolist() == [0, 1, 0]
    assert renumbered(np.array([0, 0, 1])).tolist() == [0, 0, 1]
