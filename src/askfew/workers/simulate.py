"""A simulated crowd, for rehearsals: planted groups, and answers that are right at a given rate.

Its random numbers depend on names only, so that a rehearsal gives the same answers every time.
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
from askfew.campaigns.folder.table_file import read_text, separator_of
from askfew.campaigns.slots.lease import slot_part
from askfew.errors import InvalidInput
from askfew.workers.desk import Answer, Desk, Reply
from askfew.workers.shift import Shift, ShiftReport, run_shifts

__all__ = [
    "USUAL_RELIABILITY",
    "Groups",
    "SimulatedAnswerer",
    "check_reliabilities",
    "digit_by_question",
    "groups_from_file",
    "random_groups",
    "read_reliabilities",
    "rng_for",
    "run",
]


USUAL_RELIABILITY = 0.9
"""A plain choice that ``--reliability`` changes: nine in ten answers are right."""
_PLATE = 20
"""Questions at a time for a single worker without a delay. A plain choice: fewer calls."""
_LARGEST = 50_000_000
"""Bytes of a file of groups. A plain choice: a million items and their groups fit."""
_NAMED = 20
"""The most question ids that an error lists. A plain choice."""

Groups = Callable[[str], int]
"""Maps the id of an item to the number of its group, from 0."""


def rng_for(*names: object) -> np.random.Generator:
    """A random generator that depends on these names only.

    >>> rng_for(7, "duck").random() == rng_for(7, "duck").random()
    True
    """
    digest = hashlib.blake2b(repr(names).encode(), digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(digest))


def random_groups(seed: int, share: float = 0.5, groups: int = 2) -> Groups:
    """Groups that the seed and the item's id decide.

    Of two groups the second has probability ``share``; more have equal probabilities.
    """
    if groups == 2:
        return lambda item: int(rng_for(seed, "group", item).random() < share)
    return lambda item: int(rng_for(seed, "group", item).integers(groups))


def digit_by_question(questions: Sequence[str], groups: int) -> dict[str, int]:
    """Give each question one binary digit of the group's number, in turn.

    Any two groups then differ on a question, if there are as many questions as digits.

    >>> digit_by_question(["swims", "flies", "sings"], groups=3)
    {'swims': 0, 'flies': 1, 'sings': 0}
    """
    digits = (groups - 1).bit_length()
    return {question: place % digits for place, question in enumerate(questions)}


def groups_from_file(path: Path) -> tuple[Groups, int]:
    """Read groups from a CSV file with the columns id and group; also return how many there are."""
    text = read_text(path, most=_LARGEST)
    rows = csv.DictReader(StringIO(text), delimiter=separator_of(text))
    if not {"id", "group"} <= set(rows.fieldnames or ()):
        raise InvalidInput(
            f"{path}: there must be columns id and group",
            ", ".join(rows.fieldnames or ()) or "none",
            "name them in the first line",
        )
    written = {row["id"]: row["group"] for row in rows}
    names = sorted(set(written.values()))
    if len(names) < 2:
        raise InvalidInput(f"{path}: there must be two groups", len(names), "fix the column")

    def group(item: str) -> int:
        if item not in written:
            raise InvalidInput(f"{path}: every item must have a group", repr(item), "add it")
        return names.index(written[item])

    return group, len(names)


@dataclass(frozen=True)
class SimulatedAnswerer:
    """An answerer that answers at random, right with the question's reliability.

    About an item of group 1 the answer is high with that probability, about one of group 0 low. A
    reliability of 0.5 says nothing. With more groups, a question tells one binary digit of the
    group's number. A high answer is yes; on a scale it is a mean at that share of the width; a
    number is above 0 with that probability. The seed, the cell and the slot decide the answer.
    """

    kind: AnswerKind
    groups: Groups
    reliability: float
    by_question: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    delay: float = 0.0
    digits: Mapping[str, int] = field(default_factory=dict)
    """The binary digit that each question tells; the lowest one for questions not listed."""

    async def __call__(self, plate: Sequence[Assignment]) -> list[Reply]:
        """Return one answer for each question."""
        if self.delay:
            await asyncio.sleep(self.delay)
        return [Answer(self._value(each)) for each in plate]

    def _value(self, asked: Assignment) -> float:
        right = self.by_question.get(asked.question.id, self.reliability)
        digit = self.digits.get(asked.question.id, 0)
        high = right if self.groups(asked.item.id) >> digit & 1 else 1 - right
        slot = slot_part(asked.id)  # the rest of the id is different for every lease
        rng = rng_for(self.seed, asked.item.id, asked.question.id, slot)
        return self.kind.draw(rng, high)


def read_reliabilities(written: Sequence[str]) -> tuple[float, dict[str, float]]:
    """Read a number for all questions, and QUESTION=NUMBER for some.

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
                "write for example 0.9, or colour=0.95",
            )
        if equals:
            by_question[question] = value
        else:
            usual = value
    return usual, by_question


def check_reliabilities(by_question: Mapping[str, float], known: Sequence[str]) -> None:
    """Raise InvalidInput for a question that the campaign does not have.

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
) -> list[ShiftReport]:
    """Let a crowd answer, one worker at each desk, until the campaign is over.

    A worker also stops after ``idle`` seconds without a question. ``groups`` is the group of each
    item and the number of groups; without it the seed decides.
    """
    about, rare = desks[0].describe(), dict(by_question or {})
    if about.question_ids is not None:
        check_reliabilities(rare, about.question_ids)
    planted, many = groups or (random_groups(seed, balance, about.groups), about.groups)
    # A question that says nothing gets no digit: otherwise two groups might differ on it alone.
    told = [each for each in about.question_ids or () if rare.get(each, reliability) != 0.5]
    digits = digit_by_question(told, many)
    crowd = SimulatedAnswerer(about.answers, planted, reliability, rare, seed, delay, digits)
    # A delay is for one answer, and one of several workers must not take all questions.
    plate = 1 if delay or len(desks) > 1 else _PLATE
    return run_shifts([Shift(desk, crowd, plate=plate, idle=idle) for desk in desks])
