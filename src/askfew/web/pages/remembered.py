"""Values that take long to make, kept for a while: many look at the same campaign at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import Generic, TypeVar

from askfew.errors import StoreUnreachable

__all__ = ["Remembered"]

T = TypeVar("T")

_LEAST_SECONDS = 1.0
_TIMES = 15.0
"""A value that took a second to make is kept for so many: looking never takes much of a server."""


@dataclass
class _Kept(Generic[T]):
    turn: Lock = field(default_factory=Lock)
    values: list[T] = field(default_factory=list)
    until: float = 0.0


class Remembered(Generic[T]):
    """One value a key. While one caller makes it anew, the others get the one before."""

    def __init__(self, *, least_seconds: float = _LEAST_SECONDS) -> None:
        self._least = least_seconds
        self._kept: dict[str, _Kept[T]] = {}

    def get(self, key: str, make: Callable[[], T]) -> T:
        """The value of this key, made if there is none or if it is too old."""
        kept = self._kept.setdefault(key, _Kept())
        values = kept.values
        if values and time.monotonic() < kept.until:
            return values[0]
        if not kept.turn.acquire(blocking=not values):
            return values[0]
        try:
            if kept.values and time.monotonic() < kept.until:
                return kept.values[0]
            began = time.monotonic()
            kept.values = [make()]
            took = time.monotonic() - began
            kept.until = time.monotonic() + max(self._least, _TIMES * took)
            return kept.values[0]
        finally:
            kept.turn.release()

    def lately(self, key: str, make: Callable[[], T]) -> T:
        """Like ``get`` for those in a hurry: an old value will do, and is made anew aside."""
        kept = self._kept.get(key)
        if kept is None or not kept.values:
            return self.get(key, make)
        if time.monotonic() >= kept.until and not kept.turn.locked():
            Thread(target=self._again, args=(key, make), daemon=True).start()
        return kept.values[0]

    def _again(self, key: str, make: Callable[[], T]) -> None:
        with suppress(StoreUnreachable):  # the old value stays; whoever asks again tries again
            self.get(key, make)

    def forget(self, key: str) -> None:
        """Make it anew the next time: something has just been changed."""
        if key in self._kept:
            self._kept[key] = _Kept()
