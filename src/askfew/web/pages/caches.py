"""Values that pages have read a moment ago, kept for a short time.

Many people look at the same campaign at once, and reading a large one takes long. Each server
process has its own, and a change by the owner makes those of all processes old (see ``Changes``).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import TYPE_CHECKING, Generic, TypeVar

from fastapi import Request

from askfew.campaigns.reading.status import CampaignStatus
from askfew.errors import StoreUnreachable
from askfew.web.pages.forecasts import Forecasts

if TYPE_CHECKING:
    from askfew.web.pages.dashboard.view import DashboardData, Details

__all__ = ["Changes", "PageCaches", "TimedCache", "caches_of"]

T = TypeVar("T")

_LEAST_SECONDS = 1.0
"""A value is kept at least this long. A plain choice: pages renew themselves every few seconds."""
_SECONDS_PER_SECOND = 15.0
"""A value is kept this many times as long as it took to make, so that pages that are left open take
at most a sixteenth of a server's time. A plain choice."""


class Changes:
    """Counts the owner's changes of each campaign. A value read before a change is outdated."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._guard = Lock()

    def count(self, campaign: str) -> int:
        """How often the campaign was changed."""
        return self._counts[campaign]

    def add(self, campaign: str) -> None:
        """Note a change."""
        with self._guard:
            self._counts[campaign] += 1


@dataclass
class _Entry(Generic[T]):
    version: tuple[int, bool]
    turn: Lock = field(default_factory=Lock)
    values: list[T] = field(default_factory=list)
    until: float = 0.0


class TimedCache(Generic[T]):
    """One value per key. While one caller computes a new value, the others get the previous one."""

    def __init__(
        self, changes: Changes | None = None, *, least_seconds: float = _LEAST_SECONDS
    ) -> None:
        self._least = least_seconds
        self._changes = changes or Changes()
        self._entries: dict[str, _Entry[T]] = {}

    def get(self, key: str, make: Callable[[], T], *, over: bool = False) -> T:
        """The value of this key, computed if there is none, if it is too old, or if the owner has
        changed something since somebody began to compute it. ``over`` says that the campaign has
        ended: a value from before that is not returned any more.
        """
        entry = self._entry(key, over)
        values = entry.values
        if values and time.monotonic() < entry.until:
            return values[0]
        # Only without any value is there something to wait for.
        if not entry.turn.acquire(blocking=not values):
            return values[0]
        try:
            # Somebody may have computed it while we waited for the lock.
            if entry.values and time.monotonic() < entry.until:
                return entry.values[0]
            began = time.monotonic()
            entry.values = [make()]
            took = time.monotonic() - began
            entry.until = time.monotonic() + max(self._least, _SECONDS_PER_SECOND * took)
            return entry.values[0]
        finally:
            entry.turn.release()

    def lately(self, key: str, make: Callable[[], T]) -> T:
        """Return at once: an old value will do, and a thread computes a new one."""
        entry = self._entries.get(key)
        if entry is None or not entry.values:
            return self.get(key, make)
        if time.monotonic() >= entry.until and not entry.turn.locked():
            Thread(target=self._again, args=(key, make), daemon=True).start()
        return entry.values[0]

    def _again(self, key: str, make: Callable[[], T]) -> None:
        with suppress(StoreUnreachable):  # the old value stays, and the next caller tries again
            self.get(key, make)

    def _entry(self, key: str, over: bool) -> _Entry[T]:
        version = (self._changes.count(key), over)
        entry = self._entries.get(key)
        if entry is None or entry.version != version:
            # A new entry instead of an emptied one: a computation that began before the change
            # still writes to the old one, where nobody reads it.
            entry = self._entries[key] = _Entry(version)
        return entry


@dataclass(frozen=True)
class PageCaches:
    """The caches of one server process."""

    changes: Changes
    forecasts: Forecasts
    statuses: TimedCache[CampaignStatus]
    standings: TimedCache[DashboardData]
    details: TimedCache[Details]

    @classmethod
    def over(cls, forecasts: Forecasts, changes: Changes) -> PageCaches:
        """Empty caches, with what all processes share."""
        return cls(
            changes,
            forecasts,
            TimedCache(),
            TimedCache(changes),
            TimedCache(changes, least_seconds=2.0),
        )


def caches_of(request: Request) -> PageCaches:
    """The caches of the app that serves this request."""
    caches: PageCaches = request.app.state.caches
    return caches
