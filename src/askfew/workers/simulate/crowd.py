"""Workers that know the groups, and say them with a given reliability on each question."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

from askfew.answers import AnswerKind, Number, Scale
from askfew.campaigns.campaign import Assignment
from askfew.errors import InvalidInput
from askfew.workers.replies import Answer, Reply
from askfew.workers.simulate.chance import chance
from askfew.workers.simulate.groups import Groups

__all__ = ["Simulated", "check_reliabilities", "read_reliabilities"]

_STEPS = 4
"""A simulated scale has five points."""
_NAMED = 20
"""So many questions are named where one is not known."""


@dataclass(frozen=True)
class Simulated:
    """Answers at random: about group 1 the answer is high with the question's reliability, about
    group 0 low. A reliability of 0.5 says nothing. Of more groups, a question tells one binary
    digit of the group's number.

    yes-no: yes or no. A scale: five points, with a mean of that share of the width. A number: of
    the kind's sigma, above 0 with that probability. The seed, the cell and the slot decide.
    """

    kind: AnswerKind
    groups: Groups
    reliability: float
    by_question: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    delay: float = 0.0
    digits: Mapping[str, int] = field(default_factory=dict)
    """Which digit each question tells; the last one, where nothing is said."""

    async def __call__(self, plate: Sequence[Assignment]) -> list[Reply]:
        """One answer for each question."""
        if self.delay:
            await asyncio.sleep(self.delay)
        return [Answer(self._value(each)) for each in plate]

    def _value(self, asked: Assignment) -> float:
        right = self.by_question.get(asked.question.id, self.reliability)
        digit = self.digits.get(asked.question.id, 0)
        high = right if self.groups(asked.item.id) >> digit & 1 else 1 - right
        slot = asked.id.rpartition("-")[0]  # the rest of an id differs from lease to lease
        rng = chance(self.seed, asked.item.id, asked.question.id, slot)
        match self.kind:
            case Scale(low, top):
                return low + (top - low) * float(rng.binomial(_STEPS, high)) / _STEPS
            case Number(sigma):
                return sigma * (NormalDist().inv_cdf(high) + float(rng.normal()))
            case _:
                return float(rng.random() < high)


def read_reliabilities(written: Sequence[str]) -> tuple[float, dict[str, float]]:
    """A number for all questions, and QUESTION=NUMBER for some.

    >>> read_reliabilities(["0.9", "q3=0.5"])
    (0.9, {'q3': 0.5})
    """
    usual, by_question = 0.9, {}
    for each in written:
        question, equals, number = each.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = -1.0
        if not 0 < value < 1:
            raise InvalidInput(
                "a reliability must lie strictly between 0 and 1",
                repr(each),
                "say for example 0.9, or colour=0.95",
            )
        if equals:
            by_question[question] = value
        else:
            usual = value
    return usual, by_question


def check_reliabilities(by_question: Mapping[str, float], known: Sequence[str]) -> None:
    """Refuse a reliability for a question that the campaign does not have.

    >>> check_reliabilities({"colour": 0.9}, ["color", "size"])
    Traceback (most recent call last):
    askfew.errors.InvalidInput: a reliability must be for one of the questions color, size, got ...
    """
    for question in by_question:
        if question not in known:
            more = f" and {len(known) - _NAMED} more" if len(known) > _NAMED else ""
            raise InvalidInput(
                f"a reliability must be for one of the questions {', '.join(known[:_NAMED])}{more}",
                repr(question),
                "check its id",
            )
