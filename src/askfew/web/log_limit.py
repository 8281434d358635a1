"""Repeated log lines: only the first few of a kind are written, so that nobody floods the log."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

__all__ = ["RepeatedLines", "limit_repeated_lines"]

_MOST = 10
"""Lines of a kind that are written within a minute: enough to see a pattern."""
_WITHIN = 60.0
_KINDS = 1000
"""Kinds of lines that are remembered."""


class RepeatedLines(logging.Filter):
    """Lets ten lines of a kind pass per minute; the next line says how many were left out.

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


def limit_repeated_lines() -> None:
    """Filter what uvicorn logs, and what has no handler of its own (asyncio)."""
    lines = RepeatedLines()
    for handler in (*logging.getLogger("uvicorn").handlers, logging.lastResort):
        if handler is not None and not any(isinstance(f, RepeatedLines) for f in handler.filters):
            handler.addFilter(lines)


def _kind(record: logging.LogRecord) -> object:
    error = record.exc_info[0] if record.exc_info else None
    return record.name, record.pathname, record.lineno, error
