"""Every exception askfew raises on purpose, and the sentence it says.

A sentence has three parts: what was expected, what came, and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from askfew.log import Log
    from askfew.records import Batch, Status, Tally

__all__ = [
    "AnswerFailed",
    "AskfewError",
    "BudgetReached",
    "CellExhausted",
    "Closed",
    "EndOfAnswers",
    "InvalidAnswer",
    "InvalidBatch",
    "InvalidInput",
    "InvalidPlan",
    "InvalidTally",
    "MissingExtra",
    "NotAdmitted",
    "OutOfTurn",
    "ReplayMismatch",
    "Stalled",
    "StoreFull",
    "StoreOutdated",
    "StoreUnreachable",
    "WorkerStopped",
    "located",
    "nearest",
    "shown",
]

_LONGEST = 60
"""Characters of a value in a sentence, so that the sentence stays readable. A round number."""


class AskfewError(Exception):
    """The base of all errors: what was ``expected``, what was ``got``, and what to ``do``.

    An error that is raised while answers are collected carries the ``log`` of all answers before
    it, so that nothing paid for is lost: pass it on as ``log=error.log``.
    """

    log: Log | None = None
    partial: Tally | None = None
    """Answers already given to the Batch that failed, if its oracle had some."""

    def __init__(self, expected: str, got: object, do: str) -> None:
        super().__init__(expected, got, do)

    def __str__(self) -> str:
        expected, got, do = self.args
        return f"{expected}, got {got}: {do}"


class InvalidInput(AskfewError, ValueError):
    """A setting cannot be used: delta, sizes, a method's name, an option, a table."""


class NotAdmitted(InvalidInput):
    """A worker asks for more questions although the owner of the campaign has revoked it."""


class StoreUnreachable(InvalidInput):
    """A campaign's database does not answer. All that was acknowledged is safe: try again later."""

    retry_after: float | None = None
    """Seconds after which to try again, if the server said so."""


class StoreOutdated(InvalidInput):
    """A campaign's database has the tables of an older askfew: ``version``, not ``latest``."""

    version: str = ""
    latest: str = ""


class StoreFull(StoreUnreachable):
    """A campaign's database has no room left. All that was acknowledged is safe: make room."""


class InvalidBatch(AskfewError, TypeError):
    """An algorithm yielded something that is not a usable Batch."""


class InvalidPlan(AskfewError, ValueError):
    """A guess decided something that the claim cannot act on."""


class InvalidTally(AskfewError, ValueError):
    """What was told does not answer the Batch that was asked."""


class InvalidAnswer(AskfewError, ValueError):
    """One answer lies outside what its kind allows. It is refused, never clipped."""


class OutOfTurn(AskfewError, RuntimeError):
    """A session was told something it had not asked."""


class MissingExtra(AskfewError, ImportError):
    """An optional dependency is not installed."""


class AnswerFailed(AskfewError, RuntimeError):
    """The user's own function raised; its exception is the ``__cause__``."""


class WorkerStopped(AskfewError, RuntimeError):
    """A worker cannot go on: its source of answers keeps failing. Its leases were returned."""


class ReplayMismatch(AskfewError, RuntimeError):
    """A log does not belong to the run it is replayed into.

    ``step`` is the first step that differs, ``asked`` the Batch in the log and ``would_ask``
    the one the procedure yields now (None where there is none).
    """

    def __init__(
        self,
        expected: str,
        got: object,
        do: str,
        *,
        step: int = 0,
        asked: Batch | None = None,
        would_ask: Batch | None = None,
    ) -> None:
        super().__init__(expected, got, do)
        self.step = step
        self.asked = asked
        self.would_ask = would_ask


class EndOfAnswers(AskfewError):
    """No more answers can be had; the run ends with this ``status`` and what is known."""

    status: Status


class BudgetReached(EndOfAnswers):
    """The next Batch would cross the cap on answers."""

    status = "budget"


class CellExhausted(EndOfAnswers):
    """A recorded cell has no unused answer left."""

    status = "exhausted"


class Closed(EndOfAnswers):
    """The owner ended the run."""

    status = "closed"


class Stalled(EndOfAnswers):
    """Nobody has answered for several Batches in a row."""

    status = "stalled"


@contextmanager
def located(place: str) -> Iterator[None]:
    """Put the place of the input before the sentence of InvalidInput.

    >>> with located("birds/items.csv line 7"):
    ...     raise InvalidInput("an id must not be empty", "none", "name the item")
    Traceback (most recent call last):
    askfew.errors.InvalidInput: birds/items.csv line 7: an id must not be empty, got none: ...
    """
    try:
        yield
    except InvalidInput as error:
        expected, got, do = error.args
        raise InvalidInput(f"{place}: {expected}", got, do) from error


def shown(value: object) -> str:
    """A value on one line, cut if it is long.

    >>> shown("a" * 1000)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa..."
    """
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an int of thousands of digits, or deeply nested lists
        text = f"an oversized {type(value).__name__}"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def nearest(word: str, known: Iterable[str]) -> str:
    """Advice about an unknown word: the closest known one, or all of them.

    >>> nearest("prise", ["name", "price"])
    'did you mean price?'
    """
    known = list(known)
    close = get_close_matches(word[:_LONGEST].strip().lower(), known, n=1)
    return f"did you mean {close[0]}?" if close else f"use {', '.join(known)}"
