from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from askfew.answers import Number, Scale, YesNo
from askfew.errors import AskfewError, InvalidBatch, InvalidInput, InvalidTally
from askfew.records import Batch, Certificate, Problem, Snapshot, checked_batch, checked_tally

PROBLEM = Problem(4, 3)


def batch(items: Any, questions: Any, repeats: Any) -> Batch:
    return Batch(items, questions, repeats, "test")


def ints(*values: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array(values, dtype=np.int64)


@pytest.mark.parametrize("items", [1, 0, -3, True, 2.0, "2", None, np.nan])
def test_a_problem_needs_two_items(items: Any) -> None:
    with pytest.raises(InvalidInput, match="items must be a whole number, at least 2"):
        Problem(items, 3)


@pytest.mark.parametrize("questions", [0, -1, True, 3.0, "3", None])
def test_a_problem_needs_a_question(questions: Any) -> None:
    with pytest.raises(InvalidInput, match="questions must be a whole number, at least 1"):
        Problem(2, questions)


@pytest.mark.parametrize("answers", ["yes", None, YesNo, 0.5])
def test_a_problem_needs_a_kind_of_answer(answers: Any) -> None:
    with pytest.raises(InvalidInput, match="the kind of answer must be YesNo"):
        Problem(2, 2, answers)


def test_a_good_batch_passes_untouched() -> None:
    good = batch(ints(0, 3, 3), ints(2, 0, 0), ints(1, 5, 2))
    assert checked_batch(good, PROBLEM) is good


def test_other_whole_numbers_become_int64() -> None:
    known = Snapshot("phase", np.full(4, -1))
    items: Any = [0, 3]
    repeats: Any = np.array([1, 2], dtype=np.uint8)
    given_batch = Batch(items, ints(2, 0), repeats, "w", known)
    checked = checked_batch(given_batch, PROBLEM)
    assert all(
        each.dtype == np.int64 for each in (checked.items, checked.questions, checked.repeats)
    )
    assert (checked.why, checked.known) == ("w", known)
    assert checked.repeats.tolist() == [1, 2]


WRONG_BATCHES: dict[str, tuple[Any, Any, Any]] = {
    "no rows": (ints(), ints(), ints()),
    "item too large": (ints(4), ints(0), ints(1)),
    "item negative": (ints(-1), ints(0), ints(1)),
    "item beyond int64": (np.array([2**63], dtype=np.uint64), ints(0), ints(1)),
    "question too large": (ints(0), ints(3), ints(1)),
    "question negative": (ints(0), ints(-1), ints(1)),
    "zero repeats": (ints(0, 1), ints(0, 0), ints(1, 0)),
    "negative repeats": (ints(0), ints(0), ints(-2)),
    "lengths differ": (ints(0, 1), ints(0), ints(1, 1)),
    "two dimensions": (ints(0).reshape(1, 1), ints(0).reshape(1, 1), ints(1).reshape(1, 1)),
    "not an array": (0, 0, 1),
    "floats": (np.array([0.0]), ints(0), ints(1)),
    "float repeats": (ints(0), ints(0), np.array([1.5])),
    "bools": (np.array([True]), ints(0), ints(1)),
    "strings": (["a"], ints(0), ints(1)),
    "ragged": ([[0], [1, 2]], ints(0, 0), ints(1, 1)),
    "nothing": (None, None, None),
}


@pytest.mark.parametrize("rows", WRONG_BATCHES.values(), ids=WRONG_BATCHES.keys())
def test_a_wrong_batch_is_refused(rows: tuple[Any, Any, Any]) -> None:
    with pytest.raises(InvalidBatch):
        checked_batch(batch(*rows), PROBLEM)


@pytest.mark.parametrize("thing", [None, 3, (0, 0, 1), iter([]), YesNo()])
def test_only_a_batch_is_a_batch(thing: object) -> None:
    with pytest.raises(InvalidBatch, match=r"must yield a Batch.*yield from"):
        checked_batch(thing, PROBLEM)


ASKED = batch(ints(0, 1), ints(0, 0), ints(2, 3))

WRONG_TALLIES: dict[str, tuple[Any, Any, Any]] = {
    "too many answers": ([3, 3], [0, 0], None),
    "negative count": ([-1, 3], [0, 0], None),
    "float counts": ([2.0, 3.0], [0, 0], None),
    "bool counts": ([True, True], [0, 0], None),
    "string counts": (["2", "3"], [0, 0], None),
    "no counts": (None, [0, 0], None),
    "ragged counts": ([[1], [1, 2]], [0, 0], None),
    "one row missing": ([2], [0], None),
    "one row more": ([2, 3, 1], [0, 0, 0], None),
    "sums too short": ([2, 3], [0], None),
    "scalar": (2, 0, None),
    "NaN": ([2, 3], [np.nan, 0], None),
    "infinite": ([2, 3], [np.inf, 0], None),
    "no numbers": ([2, 3], ["x", 0], None),
    "no sums": ([2, 3], None, None),
    "more yeses than answers": ([2, 3], [0, 4], None),
    "negative sum": ([2, 3], [-1, 0], None),
    "half a yes": ([2, 3], [0.5, 0], None),
    "a sum of no answers": ([0, 3], [1, 0], None),
    "squares too short": ([2, 3], [1, 0], [1]),
    "infinite squares": ([2, 3], [1, 0], [np.inf, 0]),
}


@pytest.mark.parametrize("told", WRONG_TALLIES.values(), ids=WRONG_TALLIES.keys())
def test_a_wrong_tally_is_refused(told: tuple[Any, Any, Any]) -> None:
    with pytest.raises(InvalidTally):
        checked_tally(ASKED, YesNo(), *told)


def test_a_tally_is_a_copy_of_what_was_told() -> None:
    counts, sums, squares = ints(2, 3), np.array([1.0, 0.0]), np.array([1.0, 0.0])
    tally = checked_tally(ASKED, YesNo(), counts, sums, squares)
    counts[0] = sums[0] = squares[0] = 0
    assert (tally.counts[0], tally.sums[0]) == (2, 1.0)
    assert tally.squares is not None
    assert tally.squares[0] == 1.0


def refused(check: Callable[[], object]) -> bool:
    try:
        check()
    except AskfewError:
        return True
    return False


columns = arrays.arrays(np.int64, st.integers(0, 4), elements=st.integers(-2, 6))


@given(columns, columns, columns)
def test_checked_batch_accepts_exactly_what_it_should(
    items: Any, questions: Any, repeats: Any
) -> None:
    good = (
        len(items) == len(questions) == len(repeats) > 0
        and all(0 <= item < 4 for item in items)
        and all(0 <= question < 3 for question in questions)
        and all(repeat >= 1 for repeat in repeats)
    )
    assert refused(lambda: checked_batch(batch(items, questions, repeats), PROBLEM)) is not good


@given(
    st.lists(st.integers(-1, 4), min_size=1, max_size=3),
    st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 8.0, np.nan]), min_size=1, max_size=3),
    st.sampled_from([YesNo(), Scale(1, 2), Scale(-1, 1), Number(1.0)]),
)
def test_checked_tally_accepts_exactly_what_it_should(
    counts: list[int], sums: list[float], kind: YesNo | Scale | Number
) -> None:
    asked = batch(ints(0, 1), ints(0, 0), ints(2, 3))

    def possible(count: int, total: float) -> bool:
        if isinstance(kind, YesNo):
            return 0 <= total <= count and total == int(total)
        if isinstance(kind, Scale):
            return kind.low * count <= total <= kind.high * count
        return count > 0 or total == 0

    good = (
        len(counts) == len(sums) == 2
        and all(0 <= count <= most for count, most in zip(counts, (2, 3), strict=True))
        and not np.isnan(sums).any()
        and all(map(possible, counts, sums))
    )
    assert refused(lambda: checked_tally(asked, kind, counts, sums)) is not good


def test_batches_are_the_same_if_their_rows_are() -> None:
    one = Batch(ints(0, 1), ints(0, 0), ints(2, 3), "one")
    same = Batch(ints(0, 1), ints(0, 0), ints(2, 3), "another reason", Snapshot("p", ints(0)))
    swapped = Batch(ints(1, 0), ints(0, 0), ints(3, 2))
    more = Batch(ints(0, 1), ints(0, 0), ints(2, 4))
    assert one.asks_the_same_as(same)
    assert not one.asks_the_same_as(swapped)
    assert not one.asks_the_same_as(more)


def test_they_say_what_they_are() -> None:
    assert repr(ASKED) == "Batch(2 rows, 5 answers: test)"
    assert repr(Snapshot("label", ints(0, -1, 1))) == "Snapshot('label', 2 of 3 labels)"
    assert repr(checked_tally(ASKED, YesNo(), [1, 3], [0, 0])) == "Tally(2 rows, 4 answers)"


def test_a_certificate_lists_its_assumptions() -> None:
    certificate = Certificate(0.1, "All is right.", ("nobody lies",))
    assert str(certificate) == "All is right.\nThis assumes:\n- nobody lies"
    assert certificate.to_dict()["delta"] == 0.1
