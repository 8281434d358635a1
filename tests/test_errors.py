import pickle

import pytest

from askfew import errors
from askfew.errors import (
    AskfewError,
    BudgetReached,
    CellExhausted,
    EndOfAnswers,
    InvalidAnswer,
    InvalidBatch,
    InvalidInput,
    InvalidTally,
    MissingExtra,
    ReplayMismatch,
)

ALL = [
    each
    for each in vars(errors).values()
    if isinstance(each, type) and issubclass(each, AskfewError)
]


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_every_error_says_one_sentence(kind: type[AskfewError]) -> None:
    error = kind("delta must lie in (0, 1)", 2, "pass 0.05")
    assert isinstance(error, AskfewError)
    assert str(error) == "delta must lie in (0, 1), got 2: pass 0.05"
    assert error.log is None


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_every_error_survives_another_process(kind: type[AskfewError]) -> None:
    error = pickle.loads(pickle.dumps(kind("a", "b", "c")))
    assert type(error) is kind
    assert str(error) == "a, got b: c"


def test_they_are_also_what_python_would_raise() -> None:
    for kind in (InvalidInput, InvalidTally, InvalidAnswer):
        assert issubclass(kind, ValueError)
    assert issubclass(InvalidBatch, TypeError)
    assert issubclass(MissingExtra, ImportError)


def test_ends_of_answers_know_their_status() -> None:
    assert issubclass(BudgetReached, EndOfAnswers)
    assert BudgetReached.status == "budget"
    assert CellExhausted.status == "exhausted"


def test_a_mismatch_knows_its_step() -> None:
    mismatch = ReplayMismatch("a", "b", "c", step=7)
    assert (mismatch.step, mismatch.asked, mismatch.would_ask) == (7, None, None)
