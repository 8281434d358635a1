"""Requests and tokens a minute, as endpoints count them: never more in any sixty seconds."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

__all__ = ["Limits", "Ticket"]

_MINUTE = 60.0


@dataclass
class Ticket:
    """One admitted call, and how many tokens are counted for it."""

    time: float
    tokens: int


@dataclass
class Limits:
    """Lets calls in, in the order they came, as soon as the last minute has room for them."""

    requests: int | None = None
    tokens: int | None = None
    clock: Callable[[], float] = time.monotonic
    _admitted: deque[Ticket] = field(default_factory=deque)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def admit(self, tokens: int) -> Ticket:
        """Wait for room for a call of so many tokens, at most."""
        if self.tokens is not None:
            tokens = min(tokens, self.tokens)  # else it would wait for ever
        async with self._turn:
            while (wait := self._wait(tokens)) > 0:
                await asyncio.sleep(wait)
            ticket = Ticket(self.clock(), tokens)
            if self.requests is not None or self.tokens is not None:
                self._admitted.append(ticket)
        return ticket

    def correct(self, ticket: Ticket, tokens: int) -> None:
        """So many tokens it really were."""
        ticket.tokens = tokens

    def _wait(self, tokens: int) -> float:
        """Seconds until the oldest call leaves the minute; 0 if there is room now."""
        now = self.clock()
        while self._admitted and self._admitted[0].time <= now - _MINUTE:
            self._admitted.popleft()
        full = self.requests is not None and len(self._admitted) >= self.requests
        if self.tokens is not None:
            full |= sum(each.tokens for each in self._admitted) + tokens > self.tokens
        if not full or not self._admitted:
            return 0.0
        # Not much longer than a moment: a correction may make room before.
        return min(self._admitted[0].time + _MINUTE - now, 0.25) + 1e-3
