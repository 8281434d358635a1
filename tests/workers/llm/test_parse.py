"""Only what is plainly an answer is one."""

import time

import pytest

from askfew.answers import AnswerKind, Number, Scale, YesNo
from askfew.workers.llm.prompt import answer_schema, parse_answer
from fake_endpoint import GARBAGE


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (YesNo(), '{"answer": "yes"}', 1.0),
        (YesNo(), ' {"answer": "No", "why": "because"} ', 0.0),
        (YesNo(), '{"answer": true}', 1.0),
        (YesNo(), '```json\n{"answer": "no"}\n```', 0.0),
        (YesNo(), "```\nYes.\n```", 1.0),
        (YesNo(), "Yes.", 1.0),
        (YesNo(), '"no"', 0.0),
        (Scale(1, 5), '{"answer": 4}', 4.0),
        (Scale(1, 5), '{"answer": "2.5"}', 2.5),
        (Scale(1, 5), "3", 3.0),
        (Number(2.0), '{"answer": -1e3}', -1000.0),
    ],
)
def test_valid_answers_are_read(kind: AnswerKind, text: str, value: float) -> None:
    assert parse_answer(kind, text) == value


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *((YesNo(), text) for text in GARBAGE),
        (YesNo(), "yes and no"),
        (YesNo(), "````"),
        (YesNo(), "``````"),
        (YesNo(), '{"answer": 1}'),
        (YesNo(), "1"),
        (YesNo(), '{"answer": null}'),
        (YesNo(), '{"answer": ["yes"]}'),
        (YesNo(), '{"answer": {"answer": "yes"}}'),
        (YesNo(), '{"result": "yes"}'),
        (YesNo(), "[]"),
        (YesNo(), "[" * 100_000),
        (YesNo(), '{"answer": "yes"'),
        (YesNo(), '{"answer": "yes"} {"answer": "no"}'),
        (Scale(1, 5), '{"answer": 6}'),
        (Scale(1, 5), '{"answer": true}'),
        (Scale(1, 5), '{"answer": "yes"}'),
        (Scale(1, 5), "4 out of 5"),
        (Number(1.0), '{"answer": NaN}'),
        (Number(1.0), "inf"),
        (Number(1.0), '{"answer": 1e999}'),
        (Number(1.0), '{"answer": ' + "9" * 5000 + "}"),
    ],
)
def test_everything_else_is_no_answer(kind: AnswerKind, text: str) -> None:
    assert parse_answer(kind, text) is None


@pytest.mark.parametrize(
    "part",
    [" ", "\n", "`", "```", "``` ", "```json\n", '"', "{", '{"answer":', "[", "yes ", "9", "."],
)
def test_reading_takes_a_time_that_grows_no_faster_than_the_text(part: str) -> None:
    long = part * (1_000_000 // len(part))
    for text in (long, f"```{long}", f"```{long}x", f"```json{long}x```"):
        for kind in (YesNo(), Number(1.0)):
            began = time.process_time()
            parse_answer(kind, text)
            assert time.process_time() - began < 2.0


@pytest.mark.parametrize("kind", [YesNo(), Scale(1, 5), Number(1.0)])
def test_the_schema_asks_for_one_answer(kind: AnswerKind) -> None:
    schema = answer_schema(kind)["schema"]
    assert schema["required"] == list(schema["properties"]) == ["answer"]
