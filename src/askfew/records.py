"""The records that askfew passes around: a Problem, the Batch that is asked, the Tally of answers.

A procedure is a generator that yields Batches, is sent Tallies and returns its result. An oracle
answers a Batch with a Tally. Batches and Tallies are checked once, where they enter the driver. A
procedure may also yield a Guess; it is then sent a Plan (see ``askfew.plans``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askfew.answers import LARGEST, AnswerKind, YesNo
from askfew.errors import InvalidBatch, InvalidInput, InvalidTally
from askfew.plans import Guess, Plan
from askfew.rule import Rule

__all__ = [
    "Audited",
    "Batch",
    "Certificate",
    "Finding",
    "Floats",
    "Ints",
    "Oracle",
    "Problem",
    "Procedure",
    "Snapshot",
    "Status",
    "Tally",
    "WhyUndecided",
    "checked_batch",
    "checked_tally",
    "planned",
    "renumbered",
]

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
_NUMBERS = range(sys.maxsize)
"""Names for items and questions that have none: their numbers."""
Status = Literal["done", "undecided", "budget", "stalled", "exhausted", "no-consensus", "closed"]
"""How a run ended. done: every item is certified. undecided: all items that can be are certified.
budget: the cap on answers was reached. stalled: nobody answered. exhausted: a recorded table has no
more answers. no-consensus: no split is carried by several questions. closed: the owner ended it."""
WhyUndecided = Literal["between", "few-answers", "misfit", "not-told-apart"]
"""Why an item has no label: it lies between the groups, too few answers came, it fits no group, or
its groups cannot be told apart."""


@dataclass(frozen=True)
class Problem:
    """How many items and questions there are, and what an answer is.

    This is all that an algorithm is told about the world. Items and questions are numbers from 0.
    """

    items: int
    questions: int
    kind: AnswerKind = field(default_factory=YesNo)

    def __post_init__(self) -> None:
        for name, least in (("items", 2), ("questions", 1)):
            size = getattr(self, name)
            # In Python True is a whole number.
            if not isinstance(size, int) or isinstance(size, bool) or size < least:
                raise InvalidInput(
                    f"{name} must be a whole number, at least {least}",
                    repr(size),
                    f"pass how many {name} there are",
                )
        if not isinstance(self.kind, AnswerKind):
            raise InvalidInput(
                "the kind of answer must be YesNo(), Scale(low, high) or Number(sigma)",
                repr(self.kind),
                "say what kind of answer comes back",
            )


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """What a procedure knows when it asks: for people to see, not for replay.

    ``labels`` has -1 where an item is undecided. ``evidence`` is in nats, one number per item, to
    be compared with ``threshold``. ``expected`` is how many more answers the procedure expects to
    need.
    """

    phase: str
    labels: Ints
    evidence: Floats | None = None
    threshold: float | None = None
    question: int | None = None
    expected: float | None = None

    def __repr__(self) -> str:
        decided = int((self.labels >= 0).sum())
        return f"Snapshot({self.phase!r}, {decided} of {len(self.labels)} labels)"


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Rows to be answered: ask ``items[r]`` the question ``questions[r]``, ``repeats[r]`` times.

    ``why`` is a sentence for people; ``known`` is what the procedure knows when it asks.
    Rows may name the same cell (item, question) twice.

    >>> Batch(np.array([0, 3]), np.array([5, 5]), np.array([2, 2]), why="first look")
    Batch(2 rows, 4 answers: first look)
    """

    items: Ints
    questions: Ints
    repeats: Ints
    why: str = ""
    known: Snapshot | None = None

    def __len__(self) -> int:
        return len(self.items)

    @property
    def answers(self) -> int:
        """How many answers it asks for."""
        return int(self.repeats.sum())

    def asks_the_same_as(self, other: Batch) -> bool:
        """Whether both ask the same rows in the same order (``why`` and ``known`` may differ)."""
        return (
            np.array_equal(self.items, other.items)
            and np.array_equal(self.questions, other.questions)
            and np.array_equal(self.repeats, other.repeats)
        )

    def __repr__(self) -> str:
        return f"Batch({len(self)} rows, {self.answers} answers: {self.why})"


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """What came back, row by row and in the user's units: how many answers, and their sum.

    ``squares`` is the sum of squared answers where it is known; nothing certified rests on it.

    >>> Tally(np.array([2, 1]), np.array([2.0, 0.0]))
    Tally(2 rows, 3 answers)
    """

    counts: Ints
    sums: Floats
    squares: Floats | None = None

    @property
    def answers(self) -> int:
        """How many answers came."""
        return int(self.counts.sum())

    def __repr__(self) -> str:
        return f"Tally({len(self.counts)} rows, {self.answers} answers)"


@dataclass(frozen=True)
class Certificate:
    """What is promised, and under which assumptions."""

    delta: float
    promise: str
    assumptions: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values; items and questions are numbers."""
        return {each.name: _as_lists(getattr(self, each.name)) for each in fields(self)}

    def names(
        self,
        items: Sequence[object],  # noqa: ARG002 (this one speaks of none)
        questions: Sequence[object],  # noqa: ARG002
    ) -> dict[str, Any]:
        """The items and questions it speaks of, by the names they have there."""
        return {}

    def text(
        self,
        items: Sequence[object],  # noqa: ARG002 (this one speaks of none)
        questions: Sequence[object],  # noqa: ARG002
    ) -> str:
        """All of it in sentences, with these names of items and questions."""
        return "\n".join(
            [self.promise, "This assumes:", *(f"- {each}" for each in self.assumptions)]
        )

    def __str__(self) -> str:
        return self.text(_NUMBERS, _NUMBERS)


@dataclass(frozen=True)
class Audited:
    """What an audit asked about items that had their labels already."""

    answers: int
    wanted: int
    """Answers that the audit might have asked for; it ends early if a question splits a group."""
    questions: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Finding:
    """What a method returns: the labels, the question that separates best, and its promise."""

    labels: Ints
    """Certified if there is a certificate; -1 where an item is undecided."""
    question: int | None = None
    certificate: Certificate | None = None
    status: Status = "done"
    evidence: Floats | None = None
    """The nats of evidence for each item's label."""
    rule: Rule | None = None
    """The rule that the labels are right about, if they follow one."""
    undecided: Mapping[int, WhyUndecided] = field(default_factory=dict)
    """Why items have no label, as far as the method can say."""
    groups: int = 2
    told: Ints | None = None
    """Groups that the user gave (anchors), -1 elsewhere: known, not certified."""
    reason: str = ""
    """Why the run ended, if the method can say."""
    audited: Audited | None = None
    """What was asked afterwards to check what the labels assume; no label depends on it."""


T = TypeVar("T")
Procedure: TypeAlias = Generator["Batch | Guess", Tally, T]


def renumbered(labels: Ints) -> Ints:
    """The same groups, numbered in the order of their first items; -1 (undecided) stays.

    >>> renumbered(np.array([2, -1, 0, 2, 1]))
    array([ 0, -1,  1,  0,  2])
    """
    ordered = np.full(len(labels), -1)
    decided = labels >= 0
    _, first, group = np.unique(labels[decided], return_index=True, return_inverse=True)
    ordered[decided] = np.argsort(np.argsort(first))[group]
    return ordered


def planned(make: Callable[[], Plan]) -> Procedure[Plan]:
    """The plan of a guess, made now or handed back from the log.

    ``plan = yield from planned(make)``
    """
    plan: object = yield Guess(make)
    assert isinstance(plan, Plan), "the driver answers a Guess with a Plan"
    return plan


class Oracle(Protocol):
    """The source of answers: it has a Problem and turns a Batch into a Tally."""

    @property
    def problem(self) -> Problem:
        """The sizes and the kind of answer."""

    def __call__(self, batch: Batch, /) -> Tally:
        """Answer the rows of the Batch; a row may come back short or empty."""


def checked_batch(batch: object, problem: Problem) -> Batch:
    """The Batch as int64 arrays, or InvalidBatch saying what is wrong with it."""
    if not isinstance(batch, Batch):
        raise InvalidBatch(
            "a procedure must yield a Batch", type(batch).__name__, "was a 'yield from' forgotten?"
        )
    rows = len(batch.items) if np.iterable(batch.items) else 1
    items = _whole(batch.items, "items", rows, batch)
    questions = _whole(batch.questions, "questions", rows, batch)
    repeats = _whole(batch.repeats, "repeats", rows, batch)
    if rows == 0:
        raise InvalidBatch("a Batch must ask something", "no rows", "end the procedure instead")
    _within(items, problem.items, "items")
    _within(questions, problem.questions, "questions")
    if np.count_nonzero(repeats < 1):
        raise InvalidBatch("repeats must be at least 1", int(repeats.min()), "leave the row out")
    # The usual case: the Batch is right as it is, and nothing is copied.
    if items is batch.items and questions is batch.questions and repeats is batch.repeats:
        return batch
    return Batch(items, questions, repeats, batch.why, batch.known)


def checked_tally(
    batch: Batch,
    answers: AnswerKind,
    counts: ArrayLike,
    sums: ArrayLike,
    squares: ArrayLike | None = None,
) -> Tally:
    """The Tally of these columns, or InvalidTally saying what is wrong with them.

    The columns are copied: a source that changes its arrays later must not change the log.
    """
    count = _array(counts, copy=True)
    total = _numbers(sums, "sums", batch)
    if count.dtype.kind not in "iu" or count.shape != total.shape:
        raise InvalidTally(
            f"counts must be {len(batch)} whole numbers, one per row",
            f"shape {count.shape} of {count.dtype}",
            "count the answers of each row",
        )
    count = count.astype(np.int64, copy=False)
    wrong = (count < 0) | (count > batch.repeats)
    if np.count_nonzero(wrong):
        row = int(np.argmax(wrong))
        raise InvalidTally(
            f"row {row} asked for {batch.repeats[row]} answers, so its count must be 0 to that",
            int(count[row]),
            "count 0 where nobody answered",
        )
    if not answers.allows(count, total):
        raise InvalidTally(
            f"the sums must be possible for {answers}, none of them beyond {LARGEST:g}",
            f"sums from {total.min():g} to {total.max():g}",
            "add up the answers of each row, in the units of the answer kind",
        )
    squared = None if squares is None else _numbers(squares, "squares", batch)
    # Twice as much as possible: sums of squares are rounded.
    if squared is not None and np.count_nonzero(abs(squared) > 2 * LARGEST**2 * count):
        raise InvalidTally(
            f"the squares must be those of answers from {-LARGEST:g} to {LARGEST:g}",
            f"squares up to {abs(squared).max():g}",
            "add up the squared answers of each row, or leave them out",
        )
    return Tally(count, total, squared)


def _as_lists(value: Any) -> Any:
    """The value with lists instead of tuples, at any depth."""
    return [_as_lists(each) for each in value] if isinstance(value, tuple) else value


def _array(values: object, *, copy: bool | None = None) -> NDArray[Any]:
    try:
        return np.array(values, copy=copy)
    except ValueError:  # a list of lists of different lengths
        return np.array(None)


def _whole(values: object, name: str, rows: int, batch: Batch) -> Ints:
    array = _array(values)
    if array.dtype.kind not in "iu" or array.shape != (rows,):
        raise InvalidBatch(
            f"{name} must be {rows} whole numbers in one dimension",
            f"shape {array.shape} of {array.dtype}",
            f"fix the Batch {batch.why!r}",
        )
    return array.astype(np.int64, copy=False)


def _within(values: Ints, size: int, name: str) -> None:
    wrong = (values < 0) | (values >= size)
    if np.count_nonzero(wrong):
        first = int(values[np.argmax(wrong)])
        raise InvalidBatch(f"{name} must lie between 0 and {size - 1}", first, "they count from 0")


def _numbers(values: ArrayLike, name: str, batch: Batch) -> Floats:
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if array.shape != (len(batch),) or np.count_nonzero(np.isfinite(array)) < array.size:
        raise InvalidTally(
            f"{name} must be {len(batch)} finite numbers, one per row",
            f"shape {array.shape}, {int((~np.isfinite(array)).sum())} of them not finite",
            "leave out answers that are missing and lower the count",
        )
    return array
