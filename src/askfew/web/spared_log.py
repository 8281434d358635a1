"""A log that nobody can flood: of many lines alike only the first are written."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

__all__ = ["Sparing", "spare_the_log"]

_MOST = 10
_WITHIN = 60.0
_KINDS = 1000
"""Kinds of lines that are remembered."""


class Sparing(logging.Filter):
    """Lets ten lines of a kind pass in a minute; the next one after that says how many did not.

    Lines are of a kind if they come from the same place in the code, with the same exception.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._seen: dict[object, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write this one."""
        kind, now = _kind(record), self._clock()
        began, count = self._seen.get(kind, (now, 0))
        if now - began >= _WITHIN:
            if count > _MOST:
                record.msg = f"{record.getMessage()} (and {count - _MOST:,} more like it before)"
                record.args = None
            began, count = now, 0
        if kind not in self._seen and len(self._seen) >= _KINDS:
            self._seen.clear()
        self._seen[kind] = (began, count + 1)
        return count < _MOST


def spare_the_log() -> None:
    """Of uvicorn, and of all that has no handler of its own (asyncio)."""
    sparing = Sparing()
    for handler in (*logging.getLogger("uvicorn").handlers, logging.lastResort):
        if handler is not None and not any(isinstance(each, Sparing) for each in handler.filters):
            handler.addFilter(sparing)


def _kind(record: logging.LogRecord) -> object:
    error = record.exc_info[0] if record.exc_info else None
    return record.name, record.pathname, record.lineno, error
