"""Forecasts for pages: simulated in a process of their own, while the page shows how far they are.

A forecast belongs to what it was asked for, not to a form or a session. So any of several servers
can answer for it, and two pages that ask for the same share one.
"""

from __future__ import annotations

import multiprocessing
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from threading import Lock, Thread

from askfew.answers import AnswerKind, Number, Scale, YesNo
from askfew.planning import Forecast, Range, Unknown, forecast
from askfew.planning.letters import divergence_of
from askfew.simulation import Run
from askfew.theory import labelling_mean

__all__ = ["RUNS", "Forecasts", "Job", "Wish", "least_answers", "usual_unknown"]

RUNS = 60
"""Simulated campaigns: enough for a first idea, and seconds of work."""
_PATIENCE = 120.0
_REMEMBERED = 100
_SPAWN = multiprocessing.get_context("spawn")


@dataclass(frozen=True)
class Wish:
    """What a forecast is wanted for."""

    unknown: Unknown
    delta: float
    price: float
    cap: int


@dataclass
class Job:
    """A forecast that is being made, or was: ``sentence`` says why it failed."""

    done: int = 0
    forecast: Forecast | None = None
    sentence: str = ""


class Forecasts:
    """One is computed at a time; the others wait their turn."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[Wish, Job] = OrderedDict()
        self._turn, self._guard = Lock(), Lock()

    def get(self, wish: Wish) -> Job:
        """The job for this wish, started if it is new."""
        with self._guard:
            job = self._jobs.get(wish)
            if job is None:
                job = self._jobs[wish] = Job()
                while len(self._jobs) > _REMEMBERED:
                    self._jobs.popitem(last=False)
                Thread(target=self._work, args=(wish, job), daemon=True).start()
            return job

    def _work(self, wish: Wish, job: Job) -> None:
        with self._turn:
            try:
                _in_own_process(wish, job)
            except (OSError, EOFError):
                job.sentence = "The forecast stopped halfway. Try again."


def _in_own_process(wish: Wish, job: Job) -> None:
    here, there = _SPAWN.Pipe(duplex=False)
    process = _SPAWN.Process(target=_simulate, args=(wish, there), daemon=True)
    process.start()
    there.close()
    until = time.monotonic() + _PATIENCE
    try:
        while job.forecast is None:
            if not here.poll(max(0.0, until - time.monotonic())):
                job.sentence = "The forecast takes too long for a campaign of this size."
                return
            came = here.recv()
            if isinstance(came, Forecast):
                job.forecast = came
            else:
                job.done = came
    finally:
        here.close()
        process.terminate()
        process.join()


def _simulate(wish: Wish, pipe: Connection) -> None:
    """In the other process. If the server has gone, sending fails, and so this ends, too."""

    def watch(runs: Iterator[Run]) -> Iterator[Run]:
        for done, run in enumerate(runs, start=1):
            pipe.send(done)
            yield run

    pipe.send(
        forecast(
            wish.unknown,
            delta=wish.delta,
            price=wish.price,
            cap=wish.cap,
            runs=RUNS,
            jobs=1,
            watch=watch,
        )
    )


def usual_unknown(
    kind: AnswerKind,
    items: int,
    questions: int,
    gap: Range | None = None,
    share: Range | None = None,
    useful: Range | None = None,
) -> Unknown:
    """What to expect of a campaign, where nobody says otherwise.

    ``gap`` is in the answers' own units, as people think of it.
    """
    width = kind.high - kind.low if isinstance(kind, Scale) else 1.0
    if gap is None:
        gap = Range(1.5 * kind.sigma, 3 * kind.sigma)
        if not isinstance(kind, Number):
            gap = Range(0.5 * width, 0.8 * width)
    return Unknown(
        items,
        questions,
        Range(gap.low / width, gap.high / width),
        share or Range(0.1, 0.5),
        useful or Range(1, max(1, round(0.3 * questions))),
        noise={YesNo: "yes-no", Scale: "scale", Number: "gaussian"}[type(kind)],
        sigma=kind.sigma,
    )


def least_answers(unknown: Unknown, delta: float) -> float:
    """What no method can do without, on average, in the middle of the ranges."""
    return labelling_mean(unknown.items, divergence_of(unknown.middle()), delta).value
