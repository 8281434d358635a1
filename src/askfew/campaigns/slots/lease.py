"""A lease: its id, and how long it lasts.

An id has four parts: the numbers of campaign, step and slot, and a mark. Only this file knows how
it is written. The mark of a lease is random, so that nobody can guess the id of another's lease.
Answers that were never handed out have other marks: ``reused``, or the key of the row of a file
that they came from.

A lease that is too long makes everybody wait for somebody who has left. One that is too short gives
a question to a second person while the first still thinks. So a lease is a multiple of the time
that this worker has taken for an answer so far, and at most the campaign's ``lease_seconds``.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from statistics import median

__all__ = [
    "REUSED",
    "REUSED_ENDING",
    "SHORTEST",
    "LeaseId",
    "Paces",
    "add_campaign",
    "slot_part",
    "strip_campaign",
]

REUSED = "reused"
"""The mark of an answer from a reused campaign. Random marks are hexadecimal, so none equals it."""
REUSED_ENDING = f"-{REUSED}"
"""How the id of such an answer ends, for queries."""
_NUMBER = r"(0|[1-9]\d{0,8})"
_ID = re.compile(rf"{_NUMBER}-{_NUMBER}-{_NUMBER}-(\w{{1,32}})", re.ASCII)


@dataclass(frozen=True, slots=True)
class LeaseId:
    """The slot that a lease is for, and its mark.

    >>> lease = LeaseId.parse("7-0-12-6f1e")
    >>> lease.campaign, lease.step, lease.slot, str(lease)
    (7, 0, 12, '7-0-12-6f1e')
    >>> LeaseId.parse("seven") is None
    True
    """

    campaign: int
    step: int
    slot: int
    mark: str

    @classmethod
    def parse(cls, text: object) -> LeaseId | None:
        """Read an id; None if the text is not one."""
        found = _ID.fullmatch(text) if isinstance(text, str) else None
        return None if found is None else cls(int(found[1]), int(found[2]), int(found[3]), found[4])

    @classmethod
    def new(cls, campaign: int, step: int, slot: int) -> LeaseId:
        """A fresh id for a slot that is about to be lent."""
        return cls(campaign, step, slot, secrets.token_hex(8))

    @staticmethod
    def around(campaign: int, step: int) -> tuple[str, str]:
        """The text before and after the slot's number, for statements that pick the slot."""
        return f"{campaign}-{step}-", f"-{secrets.token_hex(8)}"

    @property
    def is_reused(self) -> bool:
        """Whether its answer comes from a reused campaign."""
        return self.mark == REUSED

    def is_of(self, campaign: int, step: int, slot: int) -> bool:
        """Whether it is a lease for this slot."""
        return (self.campaign, self.step, self.slot) == (campaign, step, slot)

    def __str__(self) -> str:
        return f"{self.campaign}-{self.step}-{self.slot}-{self.mark}"


def slot_part(lease: str) -> str:
    """An id without its mark: the same for all leases of a slot."""
    return lease.rpartition("-")[0]


def strip_campaign(lease: str) -> str:
    """An id without the campaign's number, which differs in another store."""
    return lease.partition("-")[2]


def add_campaign(campaign: int, rest: str) -> str:
    """The inverse of ``strip_campaign``."""
    return f"{campaign}-{rest}"


SHORTEST = 30.0
"""Seconds of the shortest lease: even a fast worker may look away for that long."""
_PATIENCE = 6.0
"""How many times the worker's pace a lease lasts. Times of answers vary by a factor of two or
three; beyond six, people have mostly gone (benchmarks/waiting.md shows what their leases cost the
others)."""
_NEWCOMER = 2.0
"""How many times the typical pace is assumed for a worker whose own is not known yet. A plain
choice; it holds only until their first answer."""
_WEIGHT = 0.25
"""Weight of the newest answer in a worker's pace: a coffee break is forgotten within a few
answers."""


@dataclass
class Paces:
    """The paces of one campaign's workers. ``longest`` is the campaign's ``lease_seconds``.

    They are kept in the memory of this process only: a new one starts without them, and then leases
    are merely longer. With several server processes each learns from the requests it gets; that
    costs about a point of idle time (benchmarks/waiting.md), so they are not in the store. Nothing
    here sees what was answered.
    """

    longest: float
    _handed: dict[str, tuple[float, int]] = field(default_factory=dict)
    """When each worker last got questions, and how many at once."""
    _pace: dict[str, float] = field(default_factory=dict)

    def handed(self, worker: str, now: float, questions: int) -> None:
        """Note that the worker has been handed this many questions."""
        self._handed[worker] = now, questions

    def told(self, worker: str, now: float, seconds: float | None) -> None:
        """Note that the worker has answered, in ``seconds`` if they say so."""
        if seconds is None:
            # A worker with many questions may tell all answers at the end: divide by their number.
            since, questions = self._handed.get(worker, (now, 1))
            seconds = max(now - since, 0.0) / questions
        took = min(seconds, self.longest)  # a worker may report any number of seconds
        before = self._pace.get(worker, took)
        self._pace[worker] = before + _WEIGHT * (took - before)

    def of(self, worker: str) -> float | None:
        """Seconds that the worker takes for an answer; None if not known."""
        return self._pace.get(worker)

    def typical(self) -> float | None:
        """The median of the workers' paces, in seconds; None if none is known."""
        known = list(self._pace.values())
        return median(known) if known else None

    def lease(self, worker: str, questions: int = 1) -> float:
        """Seconds that a lease lasts for a worker who holds this many questions."""
        pace = self.of(worker)
        if pace is None:
            typical = self.typical()
            if typical is None:
                return self.longest
            pace = _NEWCOMER * typical
            return min(self.longest, max(_NEWCOMER * SHORTEST, _PATIENCE * pace * questions))
        return min(self.longest, max(SHORTEST, _PATIENCE * pace * questions))
