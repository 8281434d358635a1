"""The process that simulates a forecast: a wish comes in, figures go out, pickled by our own kind.

A process of its own, as simulating would keep a server from answering; and started by its module,
so that it does not run a server's script again, as multiprocessing would.
"""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from askfew.campaigns import forecast
from askfew.campaigns.forecast import Sizes
from askfew.campaigns.settings import Settings
from askfew.planning import Range

__all__ = ["RUNS", "Wish"]

T = TypeVar("T")

RUNS = 40
"""Simulated campaigns: enough for a first idea, and seconds of work."""
_SECONDS = 10.0
"""Of the process's own work."""


@dataclass(frozen=True)
class Wish:
    """What a forecast is wanted for: settings as JSON, sizes, and what the owner expects."""

    settings: str
    sizes: Sizes
    expected: tuple[tuple[str, Range], ...] = ()


def _main() -> None:
    """How many runs are done, after each; then the forecast. Ends if nobody reads any more."""

    def tell(figure: object) -> None:
        pickle.dump(figure, sys.stdout.buffer)
        sys.stdout.buffer.flush()

    def watch(runs: Iterator[T]) -> Iterator[T]:
        for done, run in enumerate(runs, start=1):
            tell(done)
            yield run

    settings, sizes, expected = pickle.load(sys.stdin.buffer)
    forecast.RUNS = RUNS
    tell(
        forecast.crowd_forecast(
            Settings.from_dict(json.loads(settings)),
            sizes,
            dict(expected),
            seconds=_SECONDS,
            watch=watch,
        )
    )


if __name__ == "__main__":
    _main()
