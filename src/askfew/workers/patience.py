"""Try again while a store or a server is away: an outage of minutes must not end a worker."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event
from typing import TypeVar

from askfew.errors import StoreUnreachable

__all__ = ["Patience"]

T = TypeVar("T")

_logger = logging.getLogger("askfew.workers")


@dataclass
class Patience:
    """Repeats calls that fail with StoreUnreachable, ever more slowly, for ``seconds`` in all.

    >>> Patience().insist(lambda: "there")
    'there'
    """

    seconds: float = 300.0
    first: float = 0.1
    longest: float = 10.0
    _hurry: Event = field(default_factory=Event)

    def insist(self, call: Callable[[], T]) -> T:
        """What the call returns in the end, or its last failure."""
        pause, waited = self.first, 0.0
        while True:
            try:
                return call()
            except StoreUnreachable as error:
                wait = max(pause, error.retry_after or 0.0)
                if not waited:
                    _logger.warning("waiting: %s", error)
                if waited + wait > self.seconds or self._hurry.wait(wait):
                    raise
            waited += wait
            pause = min(2 * pause, self.longest)

    def hurry(self) -> None:
        """From now on give up at the first failure, also where a call waits at the moment."""
        self._hurry.set()
