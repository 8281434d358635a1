"""Reads the form: a campaign ready to be created, or a sentence for each field that is wrong.

Uploaded files are read with the same sentences as those of a campaign's folder.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TypeVar

from askfew.answers import KINDS, PLAIN_KINDS
from askfew.campaigns.folder.load import read_items, read_questions
from askfew.campaigns.forecast import Sizes, unknown_of
from askfew.campaigns.inputs import Inputs, what_is_wrong
from askfew.campaigns.records import (
    Item,
    Question,
    check_group,
    check_items,
    check_picture,
    check_questions,
)
from askfew.campaigns.setting_values import read_setting
from askfew.campaigns.settings import Settings, setting_to_blame
from askfew.errors import AskfewError, InvalidInput, shown
from askfew.planning import Range

__all__ = ["RANGES", "Draft", "FormInput", "anchored", "items_from", "questions_from", "read_draft"]

T = TypeVar("T")
_WHOLE = ("max_answers", "answers_per_worker_and_cell", "seed", "people", "per_cell", "audit")
_REAL = ("delta", "price", "lease_seconds", "step_timeout", "tolerance", "gold")
_FEWEST_TO_FORECAST = 4
"""The fewest items for which the form shows a forecast. A plain choice: fewer need few answers."""
RANGES = ("gap", "share", "useful")
_LABELS = {
    "delta": "the allowed error",
    "max_answers": "the cap on answers",
    "per_cell": "answers per cell",
    "answers_per_worker_and_cell": "answers per person and cell",
    "lease_seconds": "the lease",
    "step_timeout": "the step time-out",
}
"""What the form calls settings whose names are not words."""


def items_from(table: bytes | None, pictures: Iterable[tuple[str, bytes]]) -> tuple[Item, ...]:
    """Items of a CSV file and the pictures it names; without one, every picture is an item."""
    by_name = _by_name(pictures)
    if table:
        return _through_file("items.csv", table, lambda path: read_items(path, _among(by_name)))
    if not by_name:
        raise InvalidInput("there must be items", "none", "choose a CSV file, or pictures")
    names = sorted(by_name, key=_in_human_order)
    if len(names) < 2:
        raise InvalidInput("there must be at least two items", 1, "choose more pictures")
    stems = [PurePosixPath(name).stem for name in names]
    uses = Counter(stems)
    items = tuple(
        # An id without the ending reads better, unless a.png and a.jpg would then be the same.
        Item(stem if uses[stem] == 1 else name, image=by_name[name], image_name=name)
        for name, stem in zip(names, stems, strict=True)
    )
    check_items(items)
    return items


def questions_from(table: bytes | None, lines: str) -> tuple[Question, ...]:
    """Questions of a CSV file, or one per line; one that defines the split begins with a star."""
    typed = [line.strip() for line in lines.splitlines() if line.strip()]
    if table and typed:
        raise InvalidInput(
            "questions must come as a file or as typed lines", "both", "take one of them away"
        )
    if table:
        return _through_file("questions.csv", table, read_questions)
    if not typed:
        raise InvalidInput(
            "there must be at least one question", "none", "type one per line, or choose a CSV file"
        )
    questions = tuple(
        Question(f"q{number}", line.lstrip("* "), line.startswith("*"))
        for number, line in enumerate(typed, start=1)
    )
    check_questions(questions)
    return questions


def anchored(items: tuple[Item, ...], lines: str) -> tuple[Item, ...]:
    """The items, with the groups of those that are known: ``item, group``, one per line.

    >>> [item.group for item in anchored((Item("a"), Item("b")), "b, owls")]
    ['', 'owls']
    """
    known: dict[str, str] = {}
    ids = {item.id for item in items}
    for line in filter(None, map(str.strip, lines.splitlines())):
        # At the last comma, because an id may contain one.
        name, comma, group = (part.strip() for part in line.rpartition(","))
        if not (comma and name and group):
            raise InvalidInput(
                "a known item must be written as item, group", shown(line), "put a comma between"
            )
        if name not in ids:
            raise InvalidInput(
                "a known item must be one of the items", shown(name), "write its id as it is there"
            )
        if known.setdefault(name, group) != group:
            raise InvalidInput(
                "an item must be in one group", f"{shown(name)} in two", "keep the right one"
            )
        check_group(group)
    return tuple(replace(item, group=known.get(item.id, item.group)) for item in items)


def _through_file(name: str, data: bytes, read: Callable[[Path], T]) -> T:
    """Read uploaded bytes by a function that wants a file; its sentences leave out the folder."""
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        try:
            return read(path)
        except InvalidInput as error:
            expected, got, do = error.args
            raise InvalidInput(str(expected).replace(f"{folder}/", ""), got, do) from None


def _by_name(pictures: Iterable[tuple[str, bytes]]) -> dict[str, bytes]:
    by_name: dict[str, bytes] = {}
    for name, data in pictures:
        last = _last(name)
        if last in by_name:
            raise InvalidInput(
                "pictures must have different names", f"{shown(last)} twice", "rename one of them"
            )
        by_name[last] = data
    return by_name


def _among(by_name: Mapping[str, bytes]) -> Callable[[str], bytes]:
    def picture(name: str) -> bytes:
        if _last(name) not in by_name:
            raise InvalidInput(
                "image must be one of the chosen pictures", shown(name), "choose it, too"
            )
        data = by_name[_last(name)]
        check_picture(data, name)
        return data

    return picture


def _last(name: str) -> str:
    """The file's own name: some browsers send its folders, too."""
    return PurePosixPath(name.replace("\\", "/")).name


def _in_human_order(name: str) -> list[tuple[int, str]]:
    """2.png before 10.png."""
    parts = re.split(r"(\d+)", name.lower())
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


@dataclass(frozen=True)
class FormInput:
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


def read_draft(filled: FormInput) -> tuple[Draft | None, dict[str, str]]:
    """The draft, or the sentences by field."""
    sentences: dict[str, str] = {}

    def tried(name: str, make: Callable[[], T]) -> T | None:
        try:
            return make()
        except AskfewError as error:
            sentences.setdefault(name, _in_words_of_the_form(name, str(error)))
            return None

    texts = {key: text.strip() for key, text in filled.texts.items()}
    values: dict[str, object] = {"guidelines": texts.get("guidelines", "").replace("\r\n", "\n")}
    values["name"] = texts.get("name", "")
    values |= {key: _number(texts[key], int) for key in _WHOLE if texts.get(key)}
    values |= {key: _number(texts[key], float) for key in _REAL if texts.get(key)}
    values |= {key: texts[key] for key in ("method", "error", "repeats") if texts.get(key)}
    if texts.get("groups"):
        values["groups"] = _groups(texts["groups"])
    if not values["name"]:
        sentences["name"] = "A campaign must have a name: type one, for example birds 2"
    for key, value in values.items():
        # Each setting by itself, so that the form shows all that is wrong at once.
        tried(key, lambda key=key, value=value: read_setting(key, value))  # type: ignore[misc]
    kind = tried("answers", lambda: read_setting("answers", _kind(texts)))
    items = tried("items", lambda: items_from(filled.items, filled.pictures))
    if items is not None:
        items = tried("known", partial(anchored, items, texts.get("known", "")))
    questions = tried("questions", lambda: questions_from(filled.questions, texts["questions"]))
    reuse = texts.get("reuse") or None
    if reuse is not None:
        reuse = tried("reuse", lambda: read_setting("name", reuse))
    ranges = {key: tried(key, lambda key=key: _range(texts.get(key, ""))) for key in RANGES}  # type: ignore[misc]
    if sentences or items is None or questions is None or kind is None:
        return None, sentences
    to_blame = setting_to_blame({**values, "answers": kind})
    settings = tried(to_blame, lambda: Settings.from_dict({**values, "answers": kind}))
    if settings is not None:
        wrong = what_is_wrong(settings, Inputs.of(items, questions))
        if wrong is not None:
            # Anchors can come from the CSV file or from their own field; the sentence is shown
            # where they were typed.
            typed = wrong[0] == "items" and texts.get("known")
            said = _in_words_of_the_form(wrong[0], str(wrong[1]))
            sentences.setdefault("known" if typed else wrong[0], said)
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


def _in_words_of_the_form(setting: str, sentence: str) -> str:
    """A sentence about a setting, by the label of its field and without the syntax of a file.

    >>> _in_words_of_the_form("max_answers", "max_answers must be ..: write max_answers = 5000")
    'the cap on answers must be ..: write 5000'
    """
    plain = sentence.replace(f"{setting} = ", "")
    if setting not in _LABELS:
        return plain
    return re.sub(rf"^{setting}(, [^,]+,)?(?= )", _LABELS[setting], plain)


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
    """The number, or the text itself if it is none: a check then says what is wrong."""
    try:
        # People write 10,000; in a decimal number a comma could mean either thing.
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
            if other not in PLAIN_KINDS:
                known = ", ".join(kind.name for kind in KINDS)
                raise InvalidInput(f"answers must be one of {known}", other, "choose one")
            return other
