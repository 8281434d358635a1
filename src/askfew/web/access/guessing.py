"""Whoever sends wrong tokens must slow down."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import TypeVar

from askfew.web.problems import Refused

__all__ = ["Guesses"]

T = TypeVar("T")

_MOST = 20
_WITHIN = 60.0
_REMEMBERED = 10_000
"""Addresses, and tokens that were right: enough for every worker, and no way to fill memory."""


class Guesses:
    """Counts wrong tokens by the address they come from, in this process: of several servers of a
    store, each counts for itself. (Tokens are 256 random bits; this only keeps the noise down.)

    After too many, no new token is looked at for a while. One that has been right before still is,
    so that nobody behind the same address can lock the others out; and a wrong one that comes again
    (a page that was left open) is one guess.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._wrong: OrderedDict[str, OrderedDict[str, float]] = OrderedDict()
        self._right: OrderedDict[str, None] = OrderedDict()
        self._turn = Lock()

    def check(self, address: str, digest: str) -> None:
        """Refuse to look at this token just now, if its sender has guessed too often."""
        with self._turn:
            guesses = self._wrong.get(address)
            if guesses is None or digest in self._right or digest in guesses:
                return
            now = self._clock()
            while guesses and next(iter(guesses.values())) <= now - _WITHIN:
                guesses.popitem(last=False)
            if len(guesses) >= _MOST:
                wait = math.ceil(next(iter(guesses.values())) + _WITHIN - now)
                raise Refused(
                    429, f"too many wrong tokens: wait {wait} seconds", {"Retry-After": str(wait)}
                )

    def wrong(self, address: str, digest: str) -> None:
        """That was none of ours, by its hash."""
        with self._turn:
            self._right.pop(digest, None)
            guesses = self._wrong.setdefault(address, OrderedDict())
            guesses.setdefault(digest, self._clock())
            _forget(self._wrong, address)

    def right(self, digest: str) -> None:
        """That was one of ours."""
        with self._turn:
            self._right[digest] = None
            _forget(self._right, digest)


def _forget(known: OrderedDict[str, T], latest: str) -> None:
    known.move_to_end(latest)
    if len(known) > _REMEMBERED:
        known.popitem(last=False)
