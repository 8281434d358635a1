"""The prompt for a model (a Jinja template), and how its reply is read.

A reply that is not clearly a valid answer counts as no answer; nothing is guessed.
"""

from __future__ import annotations

import base64
import json
import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import (
    BaseLoader,
    ChoiceLoader,
    DictLoader,
    Environment,
    PackageLoader,
    StrictUndefined,
    Template,
    TemplateError,
)
from jinja2.meta import find_undeclared_variables
from jinja2.sandbox import ImmutableSandboxedEnvironment

from askfew.answers import AnswerKind
from askfew.campaigns.campaign import Assignment
from askfew.campaigns.folder.table_file import read_text
from askfew.errors import InvalidAnswer, InvalidInput

__all__ = [
    "VARIABLES",
    "Prompt",
    "Prompts",
    "answer_schema",
    "answers_schema",
    "parse_answer",
    "parse_answers",
]

VARIABLES = {
    "item": "the item's text",
    "item_id": "its id",
    "fence": "a random line to put around the item's text",
    "image": "whether a picture is attached",
    "ask": "the question, in the words of a paraphrase",
    "question": "the question's text",
    "question_id": "its id",
    "guidelines": "the campaign's",
    "low": "the least answer, on a scale",
    "high": "the greatest",
    "id": "the id of this assignment",
}
"""The variables that a template may use."""
_LARGEST = 1_000_000
"""Bytes of a template file. A plain choice: far more than a person writes."""


@dataclass(frozen=True)
class Prompt:
    """A text, with or without a picture (media type and bytes)."""

    text: str
    picture: tuple[str, bytes] | None = None

    def messages(self) -> list[dict[str, Any]]:
        """As messages of the chat protocol."""
        if self.picture is None:
            return [{"role": "user", "content": self.text}]
        kind, content = self.picture
        url = f"data:{kind};base64,{base64.b64encode(content).decode()}"
        parts = [
            {"type": "text", "text": self.text},
            {"type": "image_url", "image_url": {"url": url}},
        ]
        return [{"role": "user", "content": parts}]


class Prompts:
    """Writes prompts. A template with an unknown variable is refused at once.

    >>> from askfew.answers import YesNo
    >>> Prompts(YesNo(), "", ["Is {{ thing }} so?"])
    Traceback (most recent call last):
    askfew.errors.InvalidInput: paraphrase 1 may name ask, ..., got 'thing': fix the template
    """

    def __init__(
        self,
        kind: AnswerKind,
        guidelines: str,
        paraphrases: list[str] | tuple[str, ...] = ("{{ question }}",),
        template: Path | None = None,
    ) -> None:
        named = {f"paraphrase {n + 1}": text for n, text in enumerate(paraphrases)}
        if template is not None:
            named[str(template)] = read_text(template, most=_LARGEST)
        environment = _environment(DictLoader(named))
        for name, text in named.items():
            _check(environment, name, text)
        self._guidelines, self._kind = guidelines, kind
        self._paraphrases = [environment.get_template(name) for name in named][: len(paraphrases)]
        self._template = environment.get_template(
            str(template) if template is not None else f"{kind.name}.j2"
        )
        self._several = environment.get_template("several.j2")
        self._try()

    @property
    def variants(self) -> int:
        """The number of paraphrases."""
        return len(self._paraphrases)

    def write(
        self, asked: Assignment, variant: int, picture: tuple[str, bytes] | None = None
    ) -> Prompt:
        """The prompt for one question, in one of the paraphrases."""
        values = self._values(asked, variant, picture)
        return Prompt(_rendered(self._template, values).strip(), picture)

    def write_several(
        self,
        asked: Sequence[Assignment],
        variants: Sequence[int],
        picture: tuple[str, bytes] | None = None,
    ) -> Prompt:
        """One prompt for several questions about one item, each in one of the paraphrases."""
        each = [
            self._values(one, variant, picture)
            for one, variant in zip(asked, variants, strict=True)
        ]
        together = {**each[0], "asks": [one["ask"] for one in each], "form": self._kind.form}
        return Prompt(_rendered(self._several, together).strip(), picture)

    def _values(
        self, asked: Assignment, variant: int, picture: tuple[str, bytes] | None
    ) -> dict[str, Any]:
        item = asked.item.text or ("" if picture else asked.item.id)
        values: dict[str, Any] = {
            "item": item,
            "item_id": asked.item.id,
            "fence": f"=== {secrets.token_hex(8)} ===",
            "image": picture is not None,
            "question": asked.question.text or asked.question.id,
            "question_id": asked.question.id,
            "guidelines": self._guidelines,
            "low": f"{self._kind.low:g}",
            "high": f"{self._kind.high:g}",
            "id": asked.id,
        }
        values["ask"] = values["question"]
        values["ask"] = _rendered(self._paraphrases[variant % self.variants], values)
        return values

    def _try(self) -> None:
        """Write every variant once, so that a bad template fails before anything is leased."""
        from askfew.campaigns.campaign import Shown

        sample = Assignment(
            "1-0-0-0", Shown("item", "An item"), Shown("question", "A question?"), 0.0, 0.0
        )
        for variant in range(self.variants):
            self.write(sample, variant)


def _environment(loader: BaseLoader) -> Environment:
    # A configuration may come from a stranger: a sandboxed template sees nothing but its values.
    return ImmutableSandboxedEnvironment(
        loader=ChoiceLoader([loader, PackageLoader("askfew.workers.llm")]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # a prompt is not HTML
    )


def _check(environment: Environment, name: str, text: str) -> None:
    try:
        unknown = find_undeclared_variables(environment.parse(text)) - VARIABLES.keys()
    except TemplateError as error:
        raise InvalidInput(f"{name} must be a Jinja template", error.message, "fix it") from None
    if unknown:
        raise InvalidInput(
            f"{name} may name {', '.join(sorted(VARIABLES))}",
            repr(min(unknown)),
            "fix the template",
        )


def _rendered(template: Template, values: dict[str, Any]) -> str:
    try:
        return template.render(values)
    except Exception as error:  # a user's template may raise anything
        raise InvalidInput(
            f"{template.name} must be a template that can be filled in",
            f"{type(error).__name__} ({error})",
            "fix it",
        ) from None


_FENCE = "```"
_YES_NO = {"yes", "no", "true", "false"}


def answer_schema(kind: AnswerKind) -> dict[str, Any]:
    """The JSON schema for a model's output, for endpoints that enforce one."""
    return _schema("answer", kind, ["answer"])


def answers_schema(kind: AnswerKind, questions: int) -> dict[str, Any]:
    """The JSON schema for answers to several questions, numbered from 1."""
    return _schema("answers", kind, [str(n + 1) for n in range(questions)])


def _schema(name: str, kind: AnswerKind, keys: list[str]) -> dict[str, Any]:
    words = [word for word, _ in kind.choices]
    answer = {"type": "string", "enum": words} if kind.in_words else {"type": "number"}
    schema = {
        "type": "object",
        "properties": dict.fromkeys(keys, answer),
        "required": keys,
        "additionalProperties": False,
    }
    return {"name": name, "strict": True, "schema": schema}


def parse_answer(kind: AnswerKind, text: str) -> float | None:
    """Read a JSON object with one valid ``answer``, or the bare answer; None for anything else.

    >>> from askfew.answers import YesNo
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


def parse_answers(kind: AnswerKind, text: str, questions: int) -> list[float | None]:
    """Read answers to numbered questions; None where one is missing, invalid or given twice.

    A list is accepted, also alone in an object, if it has one answer for each question.

    >>> from askfew.answers import YesNo
    >>> parse_answers(YesNo(), '{"1": "yes", "2": "no", "3": "perhaps"}', 3)
    [1.0, 0.0, None]
    >>> parse_answers(YesNo(), '{"answers": ["yes", "no"]}', 2), parse_answers(YesNo(), "[]", 2)
    ([1.0, 0.0], [None, None])
    """
    try:
        said = json.loads(
            _unfenced(text.strip()), object_pairs_hook=_each_once, parse_constant=_nothing
        )
    except (ValueError, RecursionError):
        said = None
    if isinstance(said, dict) and len(said) == 1:
        (only,) = said.values()
        said = only if isinstance(only, list) else said
    if isinstance(said, list) and len(said) == questions:
        return [_valid(kind, each) for each in said]
    if not isinstance(said, dict):
        return [None] * questions
    return [_valid(kind, said.get(str(n + 1))) for n in range(questions)]


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object without the keys that appear twice."""
    times = Counter(key for key, _ in pairs)
    return {key: value for key, value in pairs if times[key] == 1}


def _unfenced(text: str) -> str:
    """The text without the Markdown fence around it, if there is one."""
    if len(text) < 2 * len(_FENCE) or not (text.startswith(_FENCE) and text.endswith(_FENCE)):
        return text
    return text[len(_FENCE) : -len(_FENCE)].removeprefix("json").strip()


def _one_answer(pairs: list[tuple[str, Any]]) -> Any:
    """The ``answer`` of a JSON object; None if it has none or two."""
    said = [value for key, value in pairs if key == "answer"]
    return {"answer": said[0]} if len(said) == 1 else None


def _nothing(_: str) -> None:
    """Read NaN and infinities as None: they are no answers."""


def _valid(kind: AnswerKind, value: object) -> float | None:
    if isinstance(value, dict):
        value = value.get("answer")
    words = _YES_NO | dict(kind.choices).keys() if kind.in_words else _YES_NO
    said_so = isinstance(value, bool) or str(value).strip().lower() in words
    # Python would read a bool as a number and 1 as a yes; the model did not mean that.
    if said_so != kind.in_words or not isinstance(value, bool | int | float | str):
        return None
    try:
        return kind.read(value)
    except InvalidAnswer:
        return None
