"""A desk hands out a campaign's questions to one worker and takes its replies.

``StoreDesk`` works on the campaign's own store; ``server_desk`` has the desk of a server. ``Retry``
repeats calls to a desk that cannot be reached.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Lock
from typing import Protocol, TypeVar

from askfew.answer_warnings import AnswerWarning
from askfew.answers import AnswerKind
from askfew.campaigns.campaign import Assignment, Campaign
from askfew.campaigns.db.queries.calls import Call, CallLimits, admit_call
from askfew.campaigns.db.queries.contents import find_picture
from askfew.campaigns.reading.independence import warnings_about
from askfew.campaigns.records import media_type
from askfew.campaigns.settings import most_groups
from askfew.campaigns.slots.intake import Receipt
from askfew.errors import InvalidInput, StoreUnreachable

__all__ = [
    "MOST_AT_ONCE",
    "OVER",
    "Answer",
    "Answerer",
    "CampaignInfo",
    "Desk",
    "HandBack",
    "Handout",
    "NoAnswer",
    "Pictures",
    "Reply",
    "Retry",
    "StopAnswering",
    "StoreDesk",
]

T = TypeVar("T")

logger = logging.getLogger(__name__)

OVER = ("ended", "closed")
"""The states in which a campaign asks nothing more."""
MOST_AT_ONCE = 200
"""Questions that a worker asks for in one request. A plain choice below the API's limit of 1000:
more would only wait here, while another worker could answer them."""


@dataclass(frozen=True)
class CampaignInfo:
    """What a worker needs to know about a campaign before it begins."""

    name: str
    answers: AnswerKind
    guidelines: str
    lease_seconds: float
    question_ids: tuple[str, ...] | None = None
    """The ids of all questions; None if the server does not say."""
    groups: int = 2
    """How many groups the method looks for; two if the server does not say."""


@dataclass(frozen=True)
class Handout:
    """Leased questions, and the state of the campaign.

    No questions does not mean that the campaign is over; only ``state`` says that.
    """

    state: str
    questions: tuple[Assignment, ...]


class Desk(Protocol):
    """One campaign for one worker. It may be used from several threads."""

    @property
    def worker(self) -> str:
        """The name under which answers are stored."""

    def describe(self) -> CampaignInfo:
        """Describe the campaign."""

    def ask(self, n: int, *, per_item: int = 1) -> Handout:
        """Lease up to n questions; up to ``per_item`` of them about the same item, if possible."""

    def tell(
        self, lease: str, answer: float, *, seconds: float | None, cost: float | None
    ) -> Receipt:
        """Hand in an answer. The same answer told twice counts once."""

    def skip(self, lease: str, reason: str) -> Receipt:
        """Give no answer: the slot counts a failure and goes to someone else."""

    def release(self, lease: str) -> Receipt:
        """Hand a question back; the slot counts no failure."""

    def renew(self, lease: str) -> Receipt:
        """Extend the lease of a question."""

    def image(self, digest: str) -> bytes:
        """Load a picture by its hash."""

    def admit_call(self, call: str, tokens: int, most: CallLimits) -> float:
        """Count a call to a language model, or say how many seconds to wait for room. A call that
        was counted before is corrected to these tokens.
        """

    def warnings(self) -> tuple[AnswerWarning, ...]:
        """The campaign's warnings about this worker's answers."""

    def close(self) -> None:
        """Close connections."""


@dataclass(frozen=True)
class Answer:
    """An answer; ``cost`` is its real cost if it is known, else the campaign's price counts."""

    value: float
    cost: float | None = None


@dataclass(frozen=True)
class NoAnswer:
    """A refusal, an unreadable reply or an outage: the slot counts a failure."""

    reason: str


@dataclass(frozen=True)
class HandBack:
    """Not answered, and no failure: the slot goes back as it was."""

    reason: str


Reply = Answer | NoAnswer | HandBack

Answerer = Callable[[Sequence[Assignment]], Awaitable[Sequence[Reply]]]
"""Answers some questions together; returns one reply for each."""


class StopAnswering(Exception):
    """Raised by an answerer that stops on purpose, such as at a limit on money; says why."""


class Pictures:
    """The pictures of a desk's campaign, kept in a temporary folder until closed."""

    def __init__(self, desk: Desk) -> None:
        self._desk, self._lock = desk, Lock()
        self._folder = TemporaryDirectory(prefix="askfew-")

    def file(self, digest: str) -> Path:
        """The file of a picture; its suffix says what kind it is."""
        if not digest.isalnum():  # it becomes a file name, so it must not hold a path
            raise InvalidInput("a picture must have a hash", repr(digest), "fix it")
        with self._lock:
            there = next(Path(self._folder.name).glob(f"{digest}.*"), None)
            if there is None:
                content = self._desk.image(digest)
                ending = (media_type(content) or "image/unknown").partition("/")[2]
                there = Path(self._folder.name, f"{digest}.{ending}")
                there.write_bytes(content)
        return there

    def content(self, digest: str) -> tuple[str, bytes]:
        """The media type and the bytes of a picture."""
        content = self.file(digest).read_bytes()
        return media_type(content) or "application/octet-stream", content

    def close(self) -> None:
        """Delete the files."""
        self._folder.cleanup()


class StoreDesk:
    """A desk that calls the campaign directly. Its store is closed by the code that opened it."""

    def __init__(self, campaign: Campaign, worker: str) -> None:
        self.campaign, self.worker = campaign, worker

    def describe(self) -> CampaignInfo:
        """Describe the campaign."""
        settings = self.campaign.settings
        return CampaignInfo(
            settings.name,
            settings.answers,
            settings.guidelines,
            settings.lease_seconds,
            tuple(each.id for each in self.campaign.questions),
            most_groups(settings.groups),
        )

    def ask(self, n: int, *, per_item: int = 1) -> Handout:
        """Lease up to n questions."""
        asked = tuple(self.campaign.ask(self.worker, n, per_item=per_item))
        return Handout("running" if asked else self.campaign.state, asked)

    def tell(
        self, lease: str, answer: float, *, seconds: float | None, cost: float | None
    ) -> Receipt:
        """Hand in an answer. The same answer told twice counts once."""
        return self.campaign.tell(lease, answer, seconds=seconds, cost=cost)

    def skip(self, lease: str, reason: str) -> Receipt:
        """Give no answer: the slot counts a failure and goes to someone else."""
        return self.campaign.skip(lease, reason)

    def release(self, lease: str) -> Receipt:
        """Hand a question back; the slot counts no failure."""
        return self.campaign.release(lease)

    def renew(self, lease: str) -> Receipt:
        """Extend the lease of a question."""
        return self.campaign.renew(lease)

    def image(self, digest: str) -> bytes:
        """Load a picture by its hash."""
        with self.campaign.database.read() as connection:
            picture = find_picture(connection, digest)
        if picture is None:
            raise InvalidInput("a picture must be in the store", digest, "run 'askfew doctor'")
        return picture.content

    def admit_call(self, call: str, tokens: int, most: CallLimits) -> float:
        """Count a call among those that the store knows of, or say how long to wait."""
        new = Call(self.campaign.clock(), tokens, call)
        return admit_call(self.campaign.database, new, most)

    def warnings(self) -> tuple[AnswerWarning, ...]:
        """The campaign's warnings about this worker's answers."""
        return warnings_about(self.campaign, self.worker)

    def close(self) -> None:
        """Do nothing: others may use the store."""


@dataclass
class Retry:
    """Repeats calls that fail with StoreUnreachable, more slowly each time, for ``seconds`` in all.

    The pauses double from ``first`` to ``longest``. Plain choices: a server that restarts is back
    within seconds, and after five minutes its owner should hear of it. A worker that gives up hands
    back what it holds, so nothing is lost.

    >>> Retry().call(lambda: "there")
    'there'
    """

    seconds: float = 300.0
    first: float = 0.1
    longest: float = 10.0
    _stopped: Event = field(default_factory=Event)

    def call(self, function: Callable[[], T]) -> T:
        """Return what the function returns in the end, or raise its last failure."""
        pause, waited = self.first, 0.0
        while True:
            try:
                return function()
            except StoreUnreachable as error:
                # A busy server says itself how long to wait.
                wait = max(pause, error.retry_after or 0.0)
                if not waited:
                    logger.warning("waiting: %s", error)
                # An event instead of a sleep: it ends at once when the worker is stopped.
                if waited + wait > self.seconds or self._stopped.wait(wait):
                    raise
            waited += wait
            pause = min(2 * pause, self.longest)

    def stop_waiting(self) -> None:
        """Give up at the first failure from now on, also in calls that are waiting already."""
        self._stopped.set()
