"""Whoever sends wrong tokens is told to slow down."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from askfew.web.problems import Refused

__all__ = ["TokenThrottle"]

_MOST = 20
_WITHIN = 60.0
_REMEMBERED = 10_000
"""Addresses: enough for every worker, and no way to fill memory."""


class TokenThrottle:
    """Counts wrong tokens by the address they come from, after they were looked up.

    A right token is let in whatever else came from its address: many people share one (an office,
    a proxy), and whoever guesses there must not lock the others out. Nothing is lost by looking:
    tokens are 256 random bits, and nobody guesses one. This only tells a program that keeps sending
    an old token to slow down. So counts are kept in this process alone: they are lost when it is
    started again, and of several servers of a store each counts for itself. A wrong token that
    comes again (a page that was left open) is one guess.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._wrong: OrderedDict[str, OrderedDict[str, float]] = OrderedDict()
        self._turn = Lock()

    def wrong(self, address: str, digest: str) -> None:
        """That was none of ours, by its hash; Refused if there were too many of late."""
        with self._turn:
            guesses, now = self._wrong.setdefault(address, OrderedDict()), self._clock()
            self._wrong.move_to_end(address)
            if len(self._wrong) > _REMEMBERED:
                self._wrong.popitem(last=False)
            while guesses and next(iter(guesses.values())) <= now - _WITHIN:
                guesses.popitem(last=False)
            if digest in guesses:
                return
            if len(guesses) >= _MOST:
                wait = math.ceil(next(iter(guesses.values())) + _WITHIN - now)
                raise Refused(
                    429, f"too many wrong tokens: wait {wait} seconds", {"Retry-After": str(wait)}
                )
            guesses[digest] = now
