"""How long a lease lasts, from the worker's own pace.

A lease that is too long makes everybody wait for somebody who has left. One that is too short gives
a question to a second person while the first still thinks. So a lease is a multiple of the time
that this worker has taken for an answer so far, and at most the campaign's ``lease_seconds``.

Paces are kept in the memory of this process only: a new one starts without them, and then leases
are merely longer. Nothing here sees what was answered.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median

__all__ = ["SHORTEST", "Paces"]

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
    """The paces of one campaign's workers. ``longest`` is the campaign's ``lease_seconds``."""

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
