"""Read a model's answer: what is not plainly a valid answer is no answer, and never guessed."""

from __future__ import annotations

import json
from typing import Any

from askfew.answers import AnswerKind, YesNo
from askfew.errors import InvalidAnswer

__all__ = ["answer_schema", "parse_answer"]

_FENCE = "```"
_YES_NO = {"yes", "no", "true", "false"}


def answer_schema(kind: AnswerKind) -> dict[str, Any]:
    """The JSON schema that a model's output is bound to, where the endpoint can do that."""
    answer = (
        {"type": "string", "enum": ["yes", "no"]} if isinstance(kind, YesNo) else {"type": "number"}
    )
    schema = {
        "type": "object",
        "properties": {"answer": answer},
        "required": ["answer"],
        "additionalProperties": False,
    }
    return {"name": "answer", "strict": True, "schema": schema}


def parse_answer(kind: AnswerKind, text: str) -> float | None:
    """The answer, or None: a JSON object with one valid ``answer``, or the bare answer itself.

    >>> parse_answer(YesNo(), '{"answer": "yes"}'), parse_answer(YesNo(), "No.")
    (1.0, 0.0)
    >>> parse_answer(YesNo(), "I would say yes, but it may be no") is None
    True
    """
    plain = _unfenced(text.strip())
    try:
        value = json.loads(plain, object_pairs_hook=_one_answer, parse_constant=_nothing)
    except (ValueError, RecursionError):
        value = plain.rstrip(".").strip().strip("\"'").lower()
    return _valid(kind, value)


def _unfenced(text: str) -> str:
    """What stands in a fence of Markdown, if all of the text does."""
    if len(text) < 2 * len(_FENCE) or not (text.startswith(_FENCE) and text.endswith(_FENCE)):
        return text
    return text[len(_FENCE) : -len(_FENCE)].removeprefix("json").strip()


def _one_answer(pairs: list[tuple[str, Any]]) -> Any:
    """What an object says as its answer; nothing if it does so twice."""
    said = [value for key, value in pairs if key == "answer"]
    return {"answer": said[0]} if len(said) == 1 else None


def _nothing(_: str) -> None:
    """NaN and infinities are no answers."""


def _valid(kind: AnswerKind, value: object) -> float | None:
    if isinstance(value, dict):
        value = value["answer"]
    said_so = isinstance(value, bool) or str(value).strip().lower() in _YES_NO
    # A bool would pass for a number, and 1 for a yes, though nobody meant it.
    if said_so != isinstance(kind, YesNo) or not isinstance(value, bool | int | float | str):
        return None
    try:
        return kind.read(value)
    except InvalidAnswer:
        return None
