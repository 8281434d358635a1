"""What can become of a question that was handed to a worker."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from askfew.campaigns.campaign import Assignment

__all__ = ["Answer", "Answerer", "Enough", "HandBack", "NoAnswer", "Reply"]


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
