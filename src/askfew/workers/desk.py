"""Where a worker gets questions, what it may reply, and the pictures that come with them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Protocol

from askfew.answer_warnings import AnswerWarning
from askfew.answers import AnswerKind
from askfew.campaigns.campaign import Assignment
from askfew.campaigns.folder.pictures import media_type
from askfew.campaigns.slots.intake import Receipt
from askfew.errors import InvalidInput

__all__ = [
    "MOST_AT_ONCE",
    "OVER",
    "Answer",
    "Answerer",
    "Described",
    "Desk",
    "Enough",
    "HandBack",
    "Handed",
    "NoAnswer",
    "Pictures",
    "Reply",
]

OVER = ("ended", "closed")
"""The states in which a campaign asks nothing more."""
MOST_AT_ONCE = 200
"""Questions that a worker asks for in one request."""


@dataclass(frozen=True)
class Described:
    """What a worker needs to know of a campaign before it begins."""

    name: str
    answers: AnswerKind
    guidelines: str
    lease_seconds: float
    question_ids: tuple[str, ...] | None = None
    """All of them; None where a server does not say."""
    groups: int = 2
    """How many are looked for; two where nobody says."""


@dataclass(frozen=True)
class Handed:
    """Questions, all leased; none does not mean that the campaign is over: ``state`` does."""

    state: str
    questions: tuple[Assignment, ...]


class Desk(Protocol):
    """One campaign, for one worker. Safe to use from several threads."""

    @property
    def worker(self) -> str:
        """The name under which answers are kept."""

    def describe(self) -> Described:
        """What the campaign is about."""

    def ask(self, n: int, *, per_item: int = 1) -> Handed:
        """Up to n questions, leased; up to ``per_item`` about one item, as far as there are."""

    def tell(
        self, lease: str, answer: float, *, seconds: float | None, cost: float | None
    ) -> Receipt:
        """Hand in an answer; telling it twice counts once."""

    def skip(self, lease: str, reason: str) -> Receipt:
        """No answer: the slot counts a failure, and goes to someone else."""

    def release(self, lease: str) -> Receipt:
        """Hand a question back; no failure."""

    def renew(self, lease: str) -> Receipt:
        """Keep a question for another lease."""

    def image(self, digest: str) -> bytes:
        """A picture by its hash."""

    def warnings(self) -> tuple[AnswerWarning, ...]:
        """What the campaign has found wrong with this worker's answers."""

    def close(self) -> None:
        """Give back connections."""


@dataclass(frozen=True)
class Answer:
    """An answer; ``cost`` is what it cost, if that is known better than the campaign's price."""

    value: float
    cost: float | None = None


@dataclass(frozen=True)
class NoAnswer:
    """A refusal, garbage, an outage: the slot counts a failure and goes to someone else."""

    reason: str


@dataclass(frozen=True)
class HandBack:
    """Not answered, and nobody's failure: the slot goes back as it was."""

    reason: str


Reply = Answer | NoAnswer | HandBack

Answerer = Callable[[Sequence[Assignment]], Awaitable[Sequence[Reply]]]
"""Answers some questions, one reply each."""


class Enough(Exception):
    """Raised by an answerer that will answer no more, for a good reason (its sentence)."""


class Pictures:
    """The pictures of one desk's campaign, in a folder of their own until closed."""

    def __init__(self, desk: Desk) -> None:
        self._desk, self._lock = desk, Lock()
        self._folder = TemporaryDirectory(prefix="askfew-")

    def file(self, digest: str) -> Path:
        """The file of a picture; its ending says what kind it is."""
        if not digest.isalnum():  # it becomes a file's name
            raise InvalidInput("a picture must have a hash", repr(digest), "mend it")
        with self._lock:
            there = next(Path(self._folder.name).glob(f"{digest}.*"), None)
            if there is None:
                content = self._desk.image(digest)
                ending = (media_type(content) or "image/unknown").partition("/")[2]
                there = Path(self._folder.name, f"{digest}.{ending}")
                there.write_bytes(content)
        return there

    def content(self, digest: str) -> tuple[str, bytes]:
        """Media type and bytes of a picture."""
        content = self.file(digest).read_bytes()
        return media_type(content) or "application/octet-stream", content

    def close(self) -> None:
        """Take the files away."""
        self._folder.cleanup()
