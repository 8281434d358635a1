"""How long a question is kept for a worker: as long as their own pace suggests.

A lease that is too long lets everybody wait for somebody who has left; one that is too short gives
a question to a second person while the first still thinks. So it is a multiple of how long this
worker has taken for an answer so far, as far as this process has heard, and the campaign's
``lease_seconds`` at most. Nothing here sees what was answered.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median

__all__ = ["SHORTEST", "Paces"]

SHORTEST = 30.0
"""Seconds: somebody may well look away for as long as that."""
_PATIENCE = 6.0
"""Paces of a lease. Times of answers vary by a factor of two or three; beyond six, people have
mostly gone (benchmarks/waiting.md shows what their leases cost the others)."""
_NEWCOMER = 2.0
"""How many times as long as others somebody may take whose pace is not known yet."""
_WEIGHT = 0.25
"""Of the newest answer in a worker's pace: it forgets a coffee break within a few answers."""


@dataclass
class Paces:
    """Of the workers of one campaign. ``longest`` is the campaign's ``lease_seconds``."""

    longest: float
    _handed: dict[str, tuple[float, int]] = field(default_factory=dict)
    """When each worker last got questions, and how many at once."""
    _pace: dict[str, float] = field(default_factory=dict)

    def handed(self, worker: str, now: float, questions: int) -> None:
        """The worker has got so many."""
        self._handed[worker] = now, questions

    def told(self, worker: str, now: float, seconds: float | None) -> None:
        """The worker has answered, in so many seconds if they say so."""
        if seconds is None:
            # Who answers many at once may tell them all at the end.
            since, questions = self._handed.get(worker, (now, 1))
            seconds = max(now - since, 0.0) / questions
        took = min(seconds, self.longest)
        before = self._pace.get(worker, took)
        self._pace[worker] = before + _WEIGHT * (took - before)

    def of(self, worker: str) -> float | None:
        """Seconds that the worker takes for an answer; None if that is not known."""
        return self._pace.get(worker)

    def typical(self) -> float | None:
        """Seconds that half of the workers need no more than; None if nothing is known."""
        known = list(self._pace.values())
        return median(known) if known else None

    def lease(self, worker: str, questions: int = 1) -> float:
        """Seconds for which so many questions are kept for the worker."""
        pace = self.of(worker)
        if pace is None:
            typical = self.typical()
            if typical is None:
                return self.longest
            pace = _NEWCOMER * typical
            return min(self.longest, max(_NEWCOMER * SHORTEST, _PATIENCE * pace * questions))
        return min(self.longest, max(SHORTEST, _PATIENCE * pace * questions))
