"""The same answers in any data frame give the same outcome, and it goes back into any."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import askfew
from askfew.errors import InvalidInput
from askfew.simulation import CustomWorlds

MAKE = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def rows() -> dict[str, list[Any]]:
    """Sixty answers to each of two questions about six animals; one tells the birds apart."""
    rng = np.random.default_rng(0)
    names = ["owl", "elk", "jay", "hog", "tit", "fox"]
    cells = [(item, question) for item in names for question in ("flies?", "nice?")] * 60
    flies = [0.9 if item in ("owl", "jay", "tit") else 0.1 for item, _ in cells]
    chances = np.where([question == "flies?" for _, question in cells], flies, 0.5)
    return {
        "item": [item for item, _ in cells],
        "question": [question for _, question in cells],
        "answer": (rng.random(len(cells)) < chances).astype(int).tolist(),
    }


@pytest.mark.parametrize("backend", MAKE)
def test_in_and_out(backend: str) -> None:
    oracle = askfew.oracles.from_frame(MAKE[backend](rows()), rng=1)
    outcome = askfew.cluster(oracle, rng=2)
    assert outcome.groups == [["owl", "jay", "tit"], ["elk", "hog", "fox"]]
    frame = outcome.to_frame(backend)
    assert type(frame) is type(MAKE[backend]({"a": [1]}))
    assert {
        name: list(frame[name].to_pylist() if backend == "pyarrow" else frame[name])
        for name in ("item", "group")
    } == {
        "item": ["owl", "elk", "jay", "hog", "tit", "fox"],
        "group": [0, 1, 0, 1, 0, 1],
    }


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        (
            pd.DataFrame({"thing": ["owl"]}),
            "columns item, question, answer, got thing",
        ),
        (pd.DataFrame({**rows(), "answer": [None] * 720}), "empty places in answer"),
        (pl.DataFrame({**rows(), "answer": [7] * 720}), "got 7.* in row 0"),
        (rows(), "one of pandas, polars or pyarrow, got dict"),
        (pd.DataFrame(rows()).set_index("item"), "got question, answer: .*reset_index"),
        (pd.concat([pd.DataFrame(rows())] * 2, axis=1), "different names, got .*'item' 2 times"),
        (pl.DataFrame({**rows(), "answer": [float("nan")] * 720}), "got nan in row 0"),
    ],
)
def test_what_is_no_record_of_answers_is_refused(frame: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        askfew.oracles.from_frame(frame)


@pytest.mark.parametrize("backend", MAKE)
def test_a_run_without_evidence_has_the_same_types_of_columns(backend: str) -> None:
    def types(outcome: askfew.Outcome) -> list[object]:
        frame = outcome.to_frame(backend)
        return list(frame.schema.types if backend == "pyarrow" else frame.dtypes)

    done = askfew.cluster(askfew.oracles.from_frame(MAKE[backend](rows()), rng=1), rng=2)
    stopped = askfew.cluster(lambda item, question: True, ["a", "b", "c"], 2, max_answers=9, rng=0)
    assert stopped.table["evidence"] == [None] * 3
    assert types(stopped) == types(done)


def test_names_of_several_types_go_out_where_a_frame_can_hold_them() -> None:
    outcome = askfew.cluster(lambda item, question: item == "1", [0, "1", 2.5], 2, rng=0)
    assert list(outcome.to_frame("pandas")["item"]) == [0, "1", 2.5]
    for backend in ("polars", "pyarrow"):
        with pytest.raises(InvalidInput, match=f"a column of {backend} must hold values of one"):
            outcome.to_frame(backend)


def test_an_oracle_that_is_none_gets_a_sentence() -> None:
    class Deaf:
        problem = askfew.Problem(4, 2)

    with pytest.raises(InvalidInput, match=r"must be an oracle .*callable with a Batch"):
        askfew.cluster(Deaf(), rng=1)  # type: ignore[arg-type]
    for drawn in (3, (Deaf(), [0, 1, 0, 1]), (askfew.oracles.bernoulli(np.eye(3)), [0, 1])):
        with pytest.raises(InvalidInput, match="mine"):
            CustomWorlds("mine", partial(_returned, drawn)).draw(np.random.SeedSequence(0))


def _returned(value: object, rng: np.random.Generator) -> object:
    return value
