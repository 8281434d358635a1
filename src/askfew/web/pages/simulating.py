"""The process that simulates a forecast: a wish comes in, figures go out, pickled by our own kind.

A process of its own, as simulating would keep a server from answering; and started by its module,
so that it does not run a server's script again, as multiprocessing would.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from askfew.planning import Unknown, forecast
from askfew.simulation import Run

__all__ = ["RUNS", "Wish"]

RUNS = 60
"""Simulated campaigns: enough for a first idea, and seconds of work."""


@dataclass(frozen=True)
class Wish:
    """What a forecast is wanted for."""

    unknown: Unknown
    delta: float
    price: float
    cap: int


def _main() -> None:
    """How many runs are done, after each; then the forecast. Ends if nobody reads any more."""

    def tell(figure: object) -> None:
        pickle.dump(figure, sys.stdout.buffer)
        sys.stdout.buffer.flush()

    def watch(runs: Iterator[Run]) -> Iterator[Run]:
        for done, run in enumerate(runs, start=1):
            tell(done)
            yield run

    unknown, delta, price, cap = pickle.load(sys.stdin.buffer)
    options = {"delta": delta, "price": price, "cap": cap}
    tell(forecast(unknown, **options, runs=RUNS, jobs=1, watch=watch))


if __name__ == "__main__":
    _main()
