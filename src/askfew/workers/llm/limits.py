"""Requests and tokens a minute, as endpoints count them: never more in any sixty seconds.

Processes that share a file share the limits: each admitted call is a line in it, and who looks for
room holds a lock on it.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Limits", "Ticket"]

_MINUTE = 60.0


@dataclass
class Ticket:
    """One admitted call, and how many tokens are counted for it."""

    time: float
    tokens: int
    id: str = ""


@dataclass
class Limits:
    """Lets calls in, in the order they came, as soon as the last minute has room for them.

    With a ``path`` the calls of all processes that name it count; ``clock`` must then be one that
    they share.
    """

    requests: int | None = None
    tokens: int | None = None
    clock: Callable[[], float] = time.time
    path: Path | None = None
    _own: list[Ticket] = field(default_factory=list)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def admit(self, tokens: int) -> Ticket:
        """Wait for room for a call of so many tokens, at most."""
        if self.tokens is not None:
            tokens = min(tokens, self.tokens)  # else it would wait for ever
        ticket = Ticket(self.clock(), tokens, secrets.token_hex(4))
        if self.requests is None and self.tokens is None:
            return ticket
        async with self._turn:
            while (wait := self._try(ticket)) > 0:
                await asyncio.sleep(wait)
        return ticket

    def correct(self, ticket: Ticket, tokens: int) -> None:
        """Correct a reservation to the tokens that were really used."""
        ticket.tokens = tokens
        if self.tokens is not None:
            with self._admitted() as admitted:
                for each in admitted:
                    if each.id == ticket.id:
                        each.tokens = tokens

    def _try(self, ticket: Ticket) -> float:
        """Admit the call if there is room, and return 0; else the seconds to wait."""
        with self._admitted() as admitted:
            now = self.clock()
            # A clock that was set back must not keep anybody waiting for more than a minute.
            admitted[:] = [each for each in admitted if abs(now - each.time) < _MINUTE]
            full = self.requests is not None and len(admitted) >= self.requests
            if self.tokens is not None:
                full |= sum(each.tokens for each in admitted) + ticket.tokens > self.tokens
            if not full or not admitted:
                ticket.time = now
                admitted.append(ticket)
                return 0.0
            # Not much longer than a moment: a correction may make room before.
            oldest = min(each.time for each in admitted)
            return min(max(oldest + _MINUTE - now, 0.0), 0.25) + 1e-3

    @contextmanager
    def _admitted(self) -> Iterator[list[Ticket]]:
        """The calls of the last minute, to be changed: our own, or those of the shared file."""
        if self.path is None:
            yield self._own
            return
        import fcntl  # not on every system, and only who shares limits needs it

        with self.path.open("a+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # given back when the file is closed
            file.seek(0)
            try:
                admitted = [Ticket(*each) for each in json.loads(file.read() or "[]")]
            except (ValueError, TypeError):  # cut short by a crash: at worst a minute's calls
                admitted = []
            yield admitted
            file.seek(0)
            file.truncate()
            file.write(json.dumps([(each.time, each.tokens, each.id) for each in admitted]))
