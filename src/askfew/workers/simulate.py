"""A simulated crowd, for rehearsals: the groups it believes in, and how often it is right.

Its random numbers depend on names alone, so that a rehearsal comes out the same again.
"""

from __future__ import annotations

import asyncio
import csv
import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

import numpy as np

from askfew.answers import AnswerKind
from askfew.campaigns.campaign import Assignment
from askfew.campaigns.folder.table_file import read_text
from askfew.campaigns.lease_id import slot_part
from askfew.errors import InvalidInput
from askfew.workers.desk import Answer, Desk, Reply
from askfew.workers.shift import Shift, Worked, run_shifts

__all__ = [
    "USUAL_RELIABILITY",
    "Groups",
    "Simulated",
    "chance",
    "check_reliabilities",
    "digits_told",
    "groups_from_file",
    "random_groups",
    "read_reliabilities",
    "run",
]


USUAL_RELIABILITY = 0.9
_PLATE = 20
"""Questions at a time, for one worker whose answers take no time."""
_LARGEST = 50_000_000
"""Bytes of a file of groups."""
_NAMED = 20
"""So many questions are named where one is not known."""

Groups = Callable[[str], int]
"""The group, a number from 0, of an item by its id."""


def chance(*names: object) -> np.random.Generator:
    """A generator for these names.

    >>> chance(7, "duck").random() == chance(7, "duck").random()
    True
    """
    digest = hashlib.blake2b(repr(names).encode(), digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(digest))


def random_groups(seed: int, share: float = 0.5, groups: int = 2) -> Groups:
    """The seed and the item's id decide: group 1 with probability ``share``, or, of more than two
    groups, any.
    """
    if groups == 2:
        return lambda item: int(chance(seed, "group", item).random() < share)
    return lambda item: int(chance(seed, "group", item).integers(groups))


def digits_told(questions: Sequence[str], groups: int) -> dict[str, int]:
    """Which binary digit of a group's number each question is about, in turn: so any two groups
    differ on a question, if there are as many questions as digits.

    >>> digits_told(["swims", "flies", "sings"], groups=3)
    {'swims': 0, 'flies': 1, 'sings': 0}
    """
    digits = (groups - 1).bit_length()
    return {question: place % digits for place, question in enumerate(questions)}


def groups_from_file(path: Path) -> tuple[Groups, int]:
    """The columns id and group of a CSV file, and how many groups there are: at least two."""
    rows = csv.DictReader(StringIO(read_text(path, most=_LARGEST)))
    if not {"id", "group"} <= set(rows.fieldnames or ()):
        raise InvalidInput(
            f"{path}: the columns id and group must be there",
            ", ".join(rows.fieldnames or ()) or "none",
            "name them in the first line",
        )
    written = {row["id"]: row["group"] for row in rows}
    names = sorted(set(written.values()))
    if len(names) < 2:
        raise InvalidInput(f"{path}: there must be two groups", len(names), "mend the column")

    def group(item: str) -> int:
        if item not in written:
            raise InvalidInput(f"{path}: every item must have a group", repr(item), "add it")
        return names.index(written[item])

    return group, len(names)


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
        slot = slot_part(asked.id)  # the rest of an id differs from lease to lease
        rng = chance(self.seed, asked.item.id, asked.question.id, slot)
        return self.kind.draw(rng, high)


def read_reliabilities(written: Sequence[str]) -> tuple[float, dict[str, float]]:
    """A number for all questions, and QUESTION=NUMBER for some.

    >>> read_reliabilities(["0.9", "q3=0.5"])
    (0.9, {'q3': 0.5})
    """
    usual, by_question = USUAL_RELIABILITY, {}
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


def run(
    desks: Sequence[Desk],
    *,
    reliability: float = USUAL_RELIABILITY,
    by_question: Mapping[str, float] | None = None,
    groups: tuple[Groups, int] | None = None,
    balance: float = 0.5,
    seed: int = 0,
    delay: float = 0.0,
    idle: float = math.inf,
) -> list[Worked]:
    """Let a crowd answer, one worker a desk, until the campaign is over, or ``idle`` seconds
    without a question. The seed decides on ``groups`` (each item's, and how many) if nobody does.
    """
    about, rare = desks[0].describe(), dict(by_question or {})
    if about.question_ids is not None:
        check_reliabilities(rare, about.question_ids)
    planted, many = groups or (random_groups(seed, balance, about.groups), about.groups)
    told = [each for each in about.question_ids or () if rare.get(each, reliability) != 0.5]
    digits = digits_told(told, many)
    crowd = Simulated(about.answers, planted, reliability, rare, seed, delay, digits)
    plate = 1 if delay or len(desks) > 1 else _PLATE
    return run_shifts([Shift(desk, crowd, plate=plate, idle=idle) for desk in desks])
