"""Repeat a call to a store or a server that cannot be reached, until it answers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event
from typing import TypeVar

from askfew.errors import StoreUnreachable

__all__ = ["Retry"]

T = TypeVar("T")

logger = logging.getLogger(__name__)


@dataclass
class Retry:
    """Repeats calls that fail with StoreUnreachable, more slowly each time, for ``seconds`` in all.

    The pauses double from ``first`` to ``longest``. Plain choices: a server that restarts is back
    within seconds, and after five minutes its owner should hear of it. A worker that gives up hands
    back what it holds, so nothing is lost.

    >>> Retry().call(lambda: "there")
    'there'
    """

    seconds: float = 300.0
    first: float = 0.1
    longest: float = 10.0
    _stopped: Event = field(default_factory=Event)

    def call(self, function: Callable[[], T]) -> T:
        """Return what the function returns in the end, or raise its last failure."""
        pause, waited = self.first, 0.0
        while True:
            try:
                return function()
            except StoreUnreachable as error:
                wait = max(pause, error.retry_after or 0.0)
                if not waited:
                    logger.warning("waiting: %s", error)
                if waited + wait > self.seconds or self._stopped.wait(wait):
                    raise
            waited += wait
            pause = min(2 * pause, self.longest)

    def stop_waiting(self) -> None:
        """Give up at the first failure from now on, also in calls that are waiting already."""
        self._stopped.set()
