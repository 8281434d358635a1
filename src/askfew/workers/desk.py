"""Where a worker gets questions and hands in answers: a store, or a server in front of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from askfew.answer_warnings import AnswerWarning
from askfew.answers import AnswerKind
from askfew.campaigns.campaign import Assignment
from askfew.campaigns.slots.intake import Receipt

__all__ = ["MOST_AT_ONCE", "OVER", "Described", "Desk", "Handed"]

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

    def ask(self, n: int) -> Handed:
        """Up to n questions, leased."""

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
