"""Records of a campaign: items, questions, slots, answers, flags, outcome; and checks of input.

Every store must be able to hold items, questions and pictures, and every worker to see them.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from askfew.campaigns.setting_values import LONGEST_TEXT, is_storable
from askfew.campaigns.settings import Settings
from askfew.campaigns.slots.states import SlotState
from askfew.errors import InvalidInput, located, shown
from askfew.outcome import Outcome
from askfew.records import WhyUndecided

__all__ = [
    "FLAGS",
    "LARGEST_PICTURE",
    "Answer",
    "CampaignFolder",
    "Flag",
    "Item",
    "Question",
    "Slot",
    "StoredOutcome",
    "check_contents",
    "check_group",
    "check_id",
    "check_items",
    "check_name",
    "check_picture",
    "check_questions",
    "check_text",
    "media_type",
]


@dataclass(frozen=True)
class Item:
    """Something to be sorted, shown as a text, a picture, both, or only its id."""

    id: str
    text: str = ""
    image: bytes | None = field(default=None, repr=False)
    image_name: str = ""
    group: str = ""
    """The name of an anchor's group; empty for other items."""

    @property
    def shown(self) -> str:
        """The text for a worker; the id if there is neither text nor picture.

        >>> Item("mallard").shown
        'mallard'
        """
        return self.text if self.text or self.image is not None else self.id


@dataclass(frozen=True)
class Question:
    """A question that may be asked about every item."""

    id: str
    text: str
    defines: bool = False
    """Whether it defines the split."""


@dataclass(frozen=True)
class CampaignFolder:
    """A campaign before it is created: items and questions in the order of their files."""

    settings: Settings
    items: tuple[Item, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class Slot:
    """One answer that a step wants; item and question are numbers."""

    number: int
    item: int
    question: int
    state: SlotState
    worker: str | None
    """Who holds it, or held it until the lease ran out."""


@dataclass(frozen=True)
class Answer:
    """An answer as it is stored; ``id`` is the id of its lease."""

    id: str
    campaign: int
    step: int
    slot: int
    worker: str
    item: int
    question: int
    value: float
    raw: str
    """The answer as the worker sent it."""
    seconds: float | None
    cost: float | None
    time: float


FLAGS = ("broken or not readable", "twice among the items", "should not be here")
"""The reasons for a flag. They are fixed: a free text could reveal an answer before its step is
closed."""


@dataclass(frozen=True)
class Flag:
    """A worker's report that something is wrong with an item."""

    item: int
    worker: str
    reason: str


@dataclass(frozen=True)
class StoredOutcome:
    """The outcome of a campaign as it is stored: the fields of ``Outcome.to_dict``, in its order.

    An older askfew wrote fewer of them. Certificate, rule and checks stay as they were written,
    because a certificate's fields depend on its method.
    """

    status: str
    reason: str = ""
    labels: Sequence[int] = ()
    guesses: Sequence[int] | None = None
    confidence: Sequence[float] = ()
    undecided: Mapping[int, WhyUndecided] = field(default_factory=dict)
    groups: Sequence[str] = ()
    told: Sequence[int] | None = None
    answers: int = 0
    batches: int = 0
    answers_by_phase: Mapping[str, int] = field(default_factory=dict)
    question: int | None = None
    question_name: str | None = None
    evidence: Sequence[float] | None = None
    certificate: Mapping[str, Any] | None = None
    certificate_text: str | None = None
    rule: Mapping[str, Any] | None = None
    checks: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, outcome: Outcome) -> StoredOutcome:
        """The outcome of a session."""
        return cls._from_dict(outcome.to_dict())

    @classmethod
    def from_json(cls, text: str) -> StoredOutcome:
        """Read what ``to_json`` wrote, in this version or an older one."""
        return cls._from_dict(json.loads(text))

    @classmethod
    def _from_dict(cls, values: Mapping[str, Any]) -> StoredOutcome:
        given = {name: values.get(name) for name in (each.name for each in fields(cls))}
        undecided = {int(item): why for item, why in (given.pop("undecided") or {}).items()}
        known: dict[str, Any] = {name: each for name, each in given.items() if each is not None}
        return cls(**known, undecided=undecided)

    def to_json(self) -> str:
        """The text that is stored."""
        return json.dumps(vars(self))

    @property
    def representatives(self) -> Sequence[int]:
        """The items that stand for their groups; others were excluded from them."""
        return tuple((self.certificate or {}).get("representatives", ()))

    @property
    def needed(self) -> float | None:
        """The nats that a label needed; methods name it differently in their certificates."""
        names = ("item_needed", "needed", "panel_needed")
        found = self.certificate or {}
        return next((found[name] for name in names if found.get(name)), None)

    @property
    def promised(self) -> bool:
        """Whether there is a certificate, and the answers do not contradict what it assumes."""
        return self.certificate is not None and not (self.checks or {}).get("void", False)


_LONGEST_ID = 200
"""Characters. A round number; ids stand in tables, files and addresses."""
LARGEST_PICTURE = 5_000_000
"""The most bytes of a picture. A round number."""

_BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


def check_contents(items: Sequence[Item], questions: Sequence[Question]) -> None:
    """Refuse items and questions that a campaign's folder would be refused for.

    >>> check_contents([Item("a"), Item("b")], [Question("q", "")])
    Traceback (most recent call last):
    askfew.errors.InvalidInput: question 1: a question must have a text, got none: write what ...
    """
    check_items(items)
    check_questions(questions)


def check_items(items: Sequence[Item]) -> None:
    """Refuse items that a campaign's folder would be refused for."""
    if len(items) < 2:
        raise InvalidInput("there must be at least two items", len(items), "add some")
    for number, item in enumerate(items, 1):
        with located(f"item {number}"):
            check_id(item.id)
            check_text(item.text)
            check_group(item.group)
            if item.image is not None:
                check_picture(item.image, item.image_name or item.id)


def check_questions(questions: Sequence[Question]) -> None:
    """Refuse questions that a campaign's folder would be refused for."""
    if not questions:
        raise InvalidInput("there must be at least one question", 0, "add one")
    for number, question in enumerate(questions, 1):
        with located(f"question {number}"):
            check_id(question.id)
            check_text(question.text)
            if not question.text:
                raise InvalidInput("a question must have a text", "none", "write what is asked")


def check_id(name: str) -> None:
    """Refuse an id that is empty, long, or not on one line: ids stand in tables, files and logs."""
    one_line = all(unicodedata.category(char) not in ("Cc", "Zl", "Zp") for char in name)
    if not 0 < len(name) <= _LONGEST_ID or not one_line or not is_storable(name):
        raise InvalidInput(
            f"an id must be 1 to {_LONGEST_ID} characters on one line",
            shown(name) if name else "none",
            "give every row a short id of its own",
        )


def check_group(name: str) -> None:
    """Refuse a name of a group that could not be an id; an empty one is fine (no anchor)."""
    one_line = all(unicodedata.category(char) not in ("Cc", "Zl", "Zp") for char in name)
    if len(name) > _LONGEST_ID or not one_line or not is_storable(name):
        raise InvalidInput(
            f"a group's name must be at most {_LONGEST_ID} characters on one line",
            shown(name),
            "shorten it, or leave it empty",
        )


def check_text(text: str) -> None:
    """Refuse a text that is too long to be shown, or that a store cannot hold."""
    if len(text) > LONGEST_TEXT or not is_storable(text):
        raise InvalidInput(
            f"a text must have at most {LONGEST_TEXT:,} characters, and no NUL",
            shown(text),
            "shorten it",
        )


def check_name(worker: object) -> str:
    """The worker's name; InvalidInput if some store could not hold it."""
    if isinstance(worker, str) and 1 <= len(worker) <= 200 and worker.isprintable():
        return worker
    raise InvalidInput(
        "a worker's name must have 1 to 200 printable characters", repr(worker)[:300], "name it"
    )


def media_type(data: bytes) -> str | None:
    """The media type of a picture, by its first bytes; None for anything else.

    SVG is not allowed, because it can contain scripts.

    >>> media_type(b"GIF89a and so on"), media_type(b"<svg>")
    ('image/gif', None)
    """
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _BEGINNINGS.items() if data.startswith(start)), None)


def check_picture(data: bytes, name: str) -> None:
    """Refuse a picture that is too large, or not of a kind that browsers show safely."""
    if len(data) > LARGEST_PICTURE:
        raise InvalidInput(
            f"image must have at most {LARGEST_PICTURE:,} bytes",
            f"{shown(name)} with more",
            "shrink it",
        )
    if media_type(data) is None:
        raise InvalidInput(
            "image must be a PNG, JPEG, GIF or WebP picture",
            f"{shown(name)}, which is something else",
            "convert it",
        )
