import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from askfew.algorithms.paper.differences import against_reference, differences, until_answered
from askfew.driver import AskTell
from askfew.records import Batch, Problem, Snapshot, Tally

KNOWN = Snapshot("test", np.full(3, -1))


def test_references_come_first() -> None:
    batch = against_reference(np.array([2, 1]), np.array([5, 6]), 3, "why", KNOWN)
    assert batch.items.tolist() == [0, 0, 2, 1]
    assert batch.questions.tolist() == [5, 6, 5, 6]
    assert batch.repeats.tolist() == [3] * 4


def test_with_all_answers_m_is_tau() -> None:
    D, m = differences(Tally(np.array([4, 4]), np.array([2.0, 10.0])))  # noqa: N806
    assert (D.tolist(), m.tolist()) == ([2.0], [4.0])


def test_with_fewer_answers_m_is_the_harmonic_mean() -> None:
    D, m = differences(Tally(np.array([6, 3]), np.array([6.0, 9.0])))  # noqa: N806
    assert (D.tolist(), m.tolist()) == ([2.0], [4.0])


@given(st.integers(0, 9), st.integers(0, 9))
def test_the_noise_of_the_difference_is_that_of_m_pairs(a: int, b: int) -> None:
    _, m = differences(Tally(np.array([b, a]), np.zeros(2)))
    if a == 0 or b == 0:
        assert m[0] == 0
    else:
        np.testing.assert_allclose(2 / m[0], 1 / a + 1 / b)


def test_no_answers_on_one_side_are_no_difference() -> None:
    tally = Tally(np.array([0, 5, 5, 0]), np.array([0.0, 5.0, 50.0, 0.0]))
    D, m = differences(tally)  # noqa: N806
    assert D.tolist() == [0.0, 0.0]
    assert m.tolist() == [0.0, 0.0]


def test_what_did_not_come_is_asked_again() -> None:
    batch = Batch(np.array([0, 1, 2]), np.array([0, 0, 0]), np.array([2, 3, 1]), "why", KNOWN)
    session = AskTell(until_answered(batch), Problem(3, 1))
    session.tell([2, 1, 0], [1, 1, 0])
    again = session.ask()
    assert again is not None
    assert (again.items.tolist(), again.repeats.tolist()) == ([1, 2], [2, 1])
    session.tell([0, 1], [0, 1])
    session.tell([2], [2])
    assert session.ended is not None
    tally = session.ended.result
    assert tally is not None
    assert (tally.counts.tolist(), tally.sums.tolist()) == ([2, 3, 1], [1.0, 3.0, 1.0])
