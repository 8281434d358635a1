"""Requests and tokens a minute, as endpoints count them: never more in any sixty seconds.

Processes of one store share them, on any machine. Those that work for a server share a file, on
theirs: who looks for room holds a lock on it.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from askfew.campaigns.db.queries.calls import Call

__all__ = ["Limits", "calls_in_file"]

_MINUTE = 60.0


@dataclass
class Limits:
    """Lets calls in, in the order they came, as soon as the last minute has room for them.

    ``shared`` gives the calls of all processes that share the limits, to be changed; ``clock`` must
    then be one that they share, too.
    """

    requests: int | None = None
    tokens: int | None = None
    clock: Callable[[], float] = time.time
    shared: Callable[[], AbstractContextManager[list[Call]]] | None = None
    _own: list[Call] = field(default_factory=list)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def admit(self, tokens: int) -> Call:
        """Wait for room for a call of so many tokens, at most."""
        if self.tokens is not None:
            tokens = min(tokens, self.tokens)  # else it would wait for ever
        ticket = Call(self.clock(), tokens, secrets.token_hex(4))
        if self.requests is None and self.tokens is None:
            return ticket
        async with self._turn:
            while (wait := self._try(ticket)) > 0:
                await asyncio.sleep(wait)
        return ticket

    def correct(self, ticket: Call, tokens: int) -> None:
        """Correct a reservation to the tokens that were really used."""
        ticket.tokens = tokens
        if self.tokens is not None:
            with self._admitted() as admitted:
                for each in admitted:
                    if each.id == ticket.id:
                        each.tokens = tokens

    def _try(self, ticket: Call) -> float:
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

    def _admitted(self) -> AbstractContextManager[list[Call]]:
        """The calls of the last minute, to be changed."""
        return nullcontext(self._own) if self.shared is None else self.shared()


@contextmanager
def calls_in_file(path: Path) -> Iterator[list[Call]]:
    """The calls of all processes of this machine that name the file, to be changed."""
    import fcntl  # not on every system, and only who shares limits by a file needs it

    with path.open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # given back when the file is closed
        file.seek(0)
        try:
            calls = [Call(*each) for each in json.loads(file.read() or "[]")]
        except (ValueError, TypeError):  # cut short by a crash: at worst a minute's calls
            calls = []
        yield calls
        file.seek(0)
        file.truncate()
        file.write(json.dumps([(each.time, each.tokens, each.id) for each in calls]))
