"""Forecasts for pages: simulated in a process of their own, while the page shows the progress.

A forecast is found by its request, not by a form or a session, so two pages with the same request
share one. It has its own process because simulating would keep the server from answering. The
process is started by the name of this module; multiprocessing would run the server's script again.
Request and result are pickled, which is safe because both ends are this module.
"""

from __future__ import annotations

import json
import pickle
import sys
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from subprocess import DEVNULL, PIPE, Popen
from threading import Lock, Thread, Timer
from typing import TypeVar

from askfew.campaigns import forecast
from askfew.campaigns.forecast import CrowdForecast, Sizes
from askfew.campaigns.settings import Settings
from askfew.planning import Range
from askfew.planning.defaults import default_unknown
from askfew.planning.theory_params import least_mean
from askfew.records import Problem

__all__ = ["RUNS", "ForecastRequest", "Forecasts", "Job", "least_answers"]

T = TypeVar("T")

RUNS = 40
"""Simulated campaigns: enough for a first idea, and seconds of work."""
_SECONDS = 10.0
"""CPU seconds of the process after which no more runs begin. A plain choice: people wait for it."""
_PATIENCE = 120.0
"""Seconds after which the process is killed: on a busy machine it may need ten times as long."""
_REMEMBERED = 100
"""Forecasts that are kept. A round number."""
_COMMAND = (sys.executable, "-m", "askfew.web.pages.forecasts")


@dataclass(frozen=True)
class ForecastRequest:
    """What a forecast is wanted for: settings as JSON, sizes, and what the owner expects."""

    settings: str
    sizes: Sizes
    expected: tuple[tuple[str, Range], ...] = ()


def _main() -> None:
    """Write the number of runs after each run, then the forecast. Ends if nobody reads any more."""

    def tell(figure: object) -> None:
        pickle.dump(figure, sys.stdout.buffer)
        sys.stdout.buffer.flush()

    def watch(runs: Iterator[T]) -> Iterator[T]:
        for done, run in enumerate(runs, start=1):
            tell(done)
            yield run

    settings, sizes, expected = pickle.load(sys.stdin.buffer)
    # In this process only. It works in the background, so it may simulate more than a command.
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


@dataclass
class Job:
    """A forecast that is being made, or was: ``sentence`` says why it failed."""

    done: int = 0
    forecast: CrowdForecast | None = None
    sentence: str = ""


class Forecasts:
    """One is computed at a time; the others wait their turn."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[ForecastRequest, Job] = OrderedDict()
        self._turn, self._guard = Lock(), Lock()

    def get(self, request: ForecastRequest) -> Job:
        """The job for this request, started if it is new."""
        with self._guard:
            job = self._jobs.get(request)
            if job is None:
                job = self._jobs[request] = Job()
                while len(self._jobs) > _REMEMBERED:
                    self._jobs.popitem(last=False)
                # A daemon, so that a forecast does not keep a server from ending.
                Thread(target=self._work, args=(request, job), daemon=True).start()
            return job

    def made(self, request: ForecastRequest) -> CrowdForecast | None:
        """The forecast, if there is one already."""
        job = self._jobs.get(request)
        return None if job is None else job.forecast

    def _work(self, request: ForecastRequest, job: Job) -> None:
        # Simulating takes a whole core. Several at once would slow down answering for everybody.
        with self._turn:
            try:
                _in_own_process(request, job)
            except (OSError, EOFError, pickle.UnpicklingError):  # it was ended, or never began
                job.sentence = "There is no forecast: it takes too long for this size."


def _in_own_process(request: ForecastRequest, job: Job) -> None:
    process = Popen(_COMMAND, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
    assert process.stdin is not None
    assert process.stdout is not None
    # A read of the pipe has no time limit of its own.
    limit = Timer(_PATIENCE, process.kill)
    limit.start()
    try:
        with process.stdout as out:  # closed also when the process ends before it is told
            with process.stdin as into:
                pickle.dump((request.settings, request.sizes, request.expected), into)
            while job.forecast is None:
                came = pickle.load(out)
                if isinstance(came, CrowdForecast):
                    job.forecast = came
                else:
                    job.done = came
    finally:
        limit.cancel()
        process.kill()
        process.wait()


def least_answers(settings: Settings, problem: Problem) -> float:
    """The lower bound on the mean number of answers for two groups, under the usual assumptions.

    Two items in two groups leave nothing to ask, so there it is 0.
    """
    if problem.items < 3:
        return 0.0
    usual = default_unknown(
        settings.answers, problem.items, problem.questions, method=settings.method
    )
    return least_mean(usual.middle(), settings.delta)


if __name__ == "__main__":
    _main()
