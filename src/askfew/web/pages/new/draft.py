"""What the form says: a campaign ready to be created, or a sentence for each field in the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from askfew.campaigns.forecast import Sizes, unknown_of
from askfew.campaigns.inputs import Inputs, what_is_wrong
from askfew.campaigns.records import Item, Question
from askfew.campaigns.settings import Settings, check_setting, setting_to_blame
from askfew.errors import AskfewError, InvalidInput
from askfew.planning import Range
from askfew.web.pages.new.uploads import anchored, items_from, questions_from

__all__ = ["RANGES", "Draft", "Filled", "read_draft"]

T = TypeVar("T")

_WHOLE = ("max_answers", "answers_per_worker_and_cell", "seed", "people", "per_cell")
_REAL = ("delta", "price", "lease_seconds", "step_timeout", "tolerance", "gold")
_FEWEST_TO_FORECAST = 4


@dataclass(frozen=True)
class Filled:
    """The form as it came: texts by field, and files."""

    texts: Mapping[str, str]
    items: bytes | None = None
    questions: bytes | None = None
    pictures: Sequence[tuple[str, bytes]] = ()
    """Names and contents."""


@dataclass(frozen=True)
class Draft:
    """A campaign before it is created, and what its owner expects (None: too small to say)."""

    settings: Settings
    items: tuple[Item, ...]
    questions: tuple[Question, ...]
    reuse: str | None
    expected: dict[str, Range] | None


def read_draft(filled: Filled) -> tuple[Draft | None, dict[str, str]]:
    """The draft, or the sentences by field."""
    sentences: dict[str, str] = {}

    def tried(name: str, make: Callable[[], T]) -> T | None:
        try:
            return make()
        except AskfewError as error:
            sentences.setdefault(name, str(error))
            return None

    texts = {key: text.strip() for key, text in filled.texts.items()}
    values: dict[str, object] = {"guidelines": texts.get("guidelines", "").replace("\r\n", "\n")}
    values["name"] = texts.get("name", "")
    values |= {key: _number(texts[key], int) for key in _WHOLE if texts.get(key)}
    values |= {key: _number(texts[key], float) for key in _REAL if texts.get(key)}
    values |= {key: texts[key] for key in ("method", "error") if texts.get(key)}
    if texts.get("groups"):
        values["groups"] = _groups(texts["groups"])
    if not values["name"]:
        sentences["name"] = "A campaign must have a name: type one, for example birds 2"
    for key, value in values.items():
        tried(key, lambda key=key, value=value: check_setting(key, value))  # type: ignore[misc]
    kind = tried("answers", lambda: check_setting("answers", _kind(texts)))
    items = tried("items", lambda: items_from(filled.items, filled.pictures))
    if items is not None:
        items = tried("known", partial(anchored, items, texts.get("known", "")))
    questions = tried("questions", lambda: questions_from(filled.questions, texts["questions"]))
    reuse = texts.get("reuse") or None
    if reuse is not None:
        reuse = tried("reuse", lambda: check_setting("name", reuse))
    ranges = {key: tried(key, lambda key=key: _range(texts.get(key, ""))) for key in RANGES}  # type: ignore[misc]
    if sentences or items is None or questions is None or kind is None:
        return None, sentences
    to_blame = setting_to_blame({**values, "answers": kind})
    settings = tried(to_blame, lambda: Settings.from_dict({**values, "answers": kind}))
    if settings is not None:
        wrong = what_is_wrong(settings, Inputs.of(items, questions))
        if wrong is not None:
            typed = wrong[0] == "items" and texts.get("known")
            sentences.setdefault("known" if typed else wrong[0], str(wrong[1]))
    expected = None
    if settings is not None and len(items) >= _FEWEST_TO_FORECAST:
        expected = {key: given for key, given in ranges.items() if given is not None}
        assume = partial(unknown_of, settings, Sizes.of(items, questions))
        for key, given in expected.items():  # one by one, so that each has its own sentence
            tried(key, partial(assume, {key: given}))
        if not sentences:
            tried("gap", partial(assume, expected))
    if sentences or settings is None:
        return None, sentences
    return Draft(settings, items, questions, reuse, expected), {}


RANGES = ("gap", "share", "useful")


def _range(text: str) -> Range | None:
    """'0.5:0.8', '0.5 to 0.8', one number, or nothing.

    >>> _range("0.5 to 0.8")
    Range(low=0.5, high=0.8)
    """
    return Range.read(text.replace("to", ":")) if text else None


def _groups(text: str) -> object:
    """A number, several with commas between them, or "auto".

    >>> _groups("2, 3"), _groups("4"), _groups("auto")
    ([2, 3], 4, 'auto')
    """
    numbers = [_number(each.strip(), int) for each in text.split(",")]
    return numbers if len(numbers) > 1 else numbers[0]


def _number(text: str, kind: type[int] | type[float]) -> object:
    """The number that is meant, or the text itself for a sentence about it."""
    try:
        return kind(text.replace(",", "") if kind is int else text)
    except ValueError:
        return text


def _kind(texts: Mapping[str, str]) -> object:
    match texts.get("answers", "yes-no"):
        case "scale":
            return {"scale": [_number(texts.get(key, ""), float) for key in ("low", "high")]}
        case "number":
            return {"number": {"sigma": _number(texts.get("sigma", ""), float)}}
        case other:
            if other != "yes-no":
                raise InvalidInput("answers must be yes-no, scale or number", other, "choose one")
            return other
