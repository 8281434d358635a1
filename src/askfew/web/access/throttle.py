"""Whoever sends wrong tokens is told to slow down."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

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
    an old token to slow down. So counts are kept in memory: the processes of one ``askfew serve``
    share them, they are lost when it is started again, and servers on several machines count each
    for itself. A wrong token that comes again (a page that was left open) is one guess.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._wrong: OrderedDict[str, OrderedDict[str, float]] = OrderedDict()
        self._turn = Lock()

    def wrong(self, address: str, digest: str) -> int:
        """Note a wrong token by its hash. The seconds to wait if there were too many, else 0."""
        with self._turn:
            guesses, now = self._wrong.setdefault(address, OrderedDict()), self._clock()
            self._wrong.move_to_end(address)
            if len(self._wrong) > _REMEMBERED:
                self._wrong.popitem(last=False)
            while guesses and next(iter(guesses.values())) <= now - _WITHIN:
                guesses.popitem(last=False)
            if digest in guesses:
                return 0
            if len(guesses) >= _MOST:
                return max(math.ceil(next(iter(guesses.values())) + _WITHIN - now), 1)
            guesses[digest] = now
            return 0
