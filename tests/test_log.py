import json
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askfew.answers import AnswerKind, Number, Scale, YesNo
from askfew.errors import InvalidInput, ReplayMismatch
from askfew.log import Log, Step, seal
from askfew.records import Batch, Problem, Snapshot, Tally

kinds = st.one_of(
    st.just(YesNo()),
    st.builds(Scale, st.floats(-9, 0), st.floats(1, 9)),
    st.builds(Number, st.floats(0.01, 99)),
)
numbers = st.floats(-1e300, 1e300, allow_subnormal=True)


@st.composite
def tallies(draw: st.DrawFn, rows: int) -> Tally:
    counts = draw(st.lists(st.integers(0, 2**62), min_size=rows, max_size=rows))
    sums, squares = (draw(st.lists(numbers, min_size=rows, max_size=rows)) for _ in range(2))
    return Tally(
        np.array(counts, dtype=np.int64),
        np.array(sums),
        np.array(squares) if draw(st.booleans()) else None,
    )


@st.composite
def logs(draw: st.DrawFn) -> Log:
    log = Log(Problem(draw(st.integers(2, 99)), draw(st.integers(1, 99)), draw(kinds)))
    log.recipe = {"method": "paper", "delta": draw(st.floats(0.01, 0.99))}
    for _ in range(draw(st.integers(0, 4))):
        rows = draw(st.integers(1, 3))
        column = st.lists(st.integers(0, 2**62), min_size=rows, max_size=rows)
        items, questions, repeats = (np.array(draw(column), dtype=np.int64) for _ in range(3))
        batch = Batch(items, questions, repeats, draw(st.text(max_size=5)))
        log.append(batch, draw(tallies(rows)))
    log.partial = draw(st.none() | tallies(2))
    log.complete = draw(st.booleans())
    return log


@given(logs())
def test_a_log_survives_json_bit_for_bit(log: Log) -> None:
    again = Log.from_dict(json.loads(json.dumps(log.to_dict())))
    assert again.to_dict() == log.to_dict()
    assert again.problem == log.problem
    assert again.answers == log.answers
    for index, step in enumerate(log):
        assert again.verify(index).batch.asks_the_same_as(step.batch)
        assert again.steps[index].tally.sums.tobytes() == step.tally.sums.tobytes()


def two_steps() -> Log:
    log = Log(Problem(3, 2))
    for first in (0, 1):
        batch = Batch(np.array([first, 2]), np.array([0, 1]), np.array([2, 1]), "why")
        log.append(batch, Tally(np.array([2, 1]), np.array([1.0, 0.0]), np.array([1.0, 0.0])))
    return log


@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize(
    "name", ["items", "questions", "repeats", "counts", "sums", "squares", "seal"]
)
def test_every_change_of_a_step_is_seen(name: str, index: int) -> None:
    values = two_steps().to_dict()
    step = values["steps"][index]
    if name == "seal":
        step[name] = step[name][::-1]
    else:
        step[name][0] += 1
    changed = Log.from_dict(values)
    with pytest.raises(ReplayMismatch, match=f"step {index}") as caught:
        changed.verify(index)
    assert caught.value.step == index


def test_leaving_out_squares_is_seen() -> None:
    values = two_steps().to_dict()
    values["steps"][1]["squares"] = None
    with pytest.raises(ReplayMismatch):
        Log.from_dict(values).verify(1)


def test_a_seal_is_the_same_whatever_the_order_of_bytes_in_memory() -> None:
    def sealed(order: Literal["<", ">"]) -> str:
        numbers = np.array([2, 3, 1]).astype(np.dtype(np.int64).newbyteorder(order))
        sums = np.array([1.0, 2.5, 0.0]).astype(np.dtype(np.float64).newbyteorder(order))
        return seal("", Batch(numbers, numbers, numbers), Tally(numbers, sums, sums))

    assert sealed("<") == sealed(">")


def test_a_seal_covers_all_steps_before_it() -> None:
    log = two_steps()
    one = log.steps[0]
    log.steps[0] = Step(one.batch, one.tally, "another past")
    with pytest.raises(ReplayMismatch):
        log.verify(1)


def test_a_log_counts_its_answers_the_partial_ones_too() -> None:
    log = two_steps()
    log.partial = Tally(np.array([1, 0]), np.array([1.0, 0.0]))
    assert repr(log) == "Log(2 steps, 7 answers)"


def test_appending_closes_the_partial_step_and_drops_the_snapshot() -> None:
    log = two_steps()
    log.partial = Tally(np.array([1]), np.array([1.0]))
    one = np.array([1])
    log.append(Batch(one, one, one, "w", Snapshot("p", one)), Tally(one, np.array([1.0])))
    assert log.partial is None
    assert log.steps[-1].batch.known is None
    assert log.steps[-1].batch.why == "w"


@pytest.mark.parametrize("missing", ["items", "answers", "steps", "partial", "recipe", "complete"])
def test_a_dict_that_is_no_log_is_refused(missing: str) -> None:
    values = two_steps().to_dict()
    del values[missing]
    with pytest.raises(InvalidInput, match="a log must have what"):
        Log.from_dict(values)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("answers", {"kind": "colour"}),
        ("answers", {"kind": "scale", "low": 1}),
        ("items", 1),
        ("steps", [{"items": [0]}]),
        ("steps", 3),
        ("partial", {"counts": ["x"], "sums": [0], "squares": None}),
    ],
)
def test_a_dict_with_nonsense_is_refused(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput):
        Log.from_dict({**two_steps().to_dict(), name: value})


@pytest.mark.parametrize("kind", [YesNo(), Scale(1, 5), Number(2.5)])
def test_the_kind_of_answer_is_kept(kind: AnswerKind) -> None:
    log = Log(Problem(3, 2, kind))
    assert Log.from_dict(log.to_dict()).problem.kind == kind
