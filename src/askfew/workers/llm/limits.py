"""Limits on requests and tokens per minute: a call waits until the desk has room for it.

A store counts the calls of all workers on any machine, also of those who come through a server with
the owner's token. An invited worker has limits of its own, which count its calls only.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from askfew.campaigns.db.queries.calls import CallLimits
from askfew.errors import StoreUnreachable

__all__ = ["Limits", "Ticket"]

_MINUTE = 60.0
"""Seconds for which a call counts."""
_PAUSE = 1.0
"""Seconds between two tries if the desk cannot be reached. A plain choice."""
_TRIES = 300
"""Tries if the desk cannot be reached: five minutes, as long as ``workers.desk.Retry`` waits."""

Admit = Callable[[str, int, CallLimits], float]
"""Admits a call with this id and this many tokens, and returns 0; else the seconds to wait."""


@dataclass(frozen=True)
class Ticket:
    """A call that was admitted, and when."""

    id: str
    since: float


@dataclass
class Limits:
    """Admits calls in the order they came, as soon as ``admit_call`` has room for them."""

    most: CallLimits
    admit_call: Admit
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def admit(self, tokens: int) -> Ticket:
        """Wait until there is room for a call of at most this many tokens."""
        call = secrets.token_hex(4)
        # Without limits no call needs the store.
        if self.most == CallLimits():
            return Ticket(call, time.monotonic())
        if self.most.tokens is not None:
            tokens = min(tokens, self.most.tokens)  # a larger call would wait for ever
        # One at a time: a small call must not overtake a large one for ever.
        async with self._turn:
            while (wait := await self._try(call, tokens)) > 0:
                await asyncio.sleep(wait)
        return Ticket(call, time.monotonic())

    async def correct(self, ticket: Ticket, tokens: int) -> None:
        """Correct a reservation to the tokens that were really used, while the call counts.

        If the desk cannot be reached, the larger reservation stays.
        """
        if self.most.tokens is not None and time.monotonic() - ticket.since < _MINUTE:
            with suppress(StoreUnreachable):
                await asyncio.to_thread(self.admit_call, ticket.id, tokens, self.most)

    async def _try(self, call: str, tokens: int) -> float:
        for _ in range(_TRIES):
            with suppress(StoreUnreachable):
                return await asyncio.to_thread(self.admit_call, call, tokens, self.most)
            await asyncio.sleep(_PAUSE)
        return await asyncio.to_thread(self.admit_call, call, tokens, self.most)
