"""Forecasts for pages: simulated in a process of their own, while the page shows how far they are.

A forecast belongs to what it was asked for, not to a form or a session. So any of several servers
can answer for it, and two pages that ask for the same share one.
"""

from __future__ import annotations

import pickle
import sys
from collections import OrderedDict
from dataclasses import dataclass
from subprocess import DEVNULL, PIPE, Popen
from threading import Lock, Thread, Timer

from askfew.campaigns.forecast import CrowdForecast
from askfew.campaigns.settings import Settings
from askfew.planning.defaults import default_unknown
from askfew.planning.theory_params import least_mean
from askfew.records import Problem
from askfew.web.pages.simulating import Wish

__all__ = ["Forecasts", "Job", "least_answers"]

_PATIENCE = 120.0
_REMEMBERED = 100
_COMMAND = (sys.executable, "-m", "askfew.web.pages.simulating")


@dataclass
class Job:
    """A forecast that is being made, or was: ``sentence`` says why it failed."""

    done: int = 0
    forecast: CrowdForecast | None = None
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

    def made(self, wish: Wish) -> CrowdForecast | None:
        """The forecast, if there is one already."""
        job = self._jobs.get(wish)
        return None if job is None else job.forecast

    def _work(self, wish: Wish, job: Job) -> None:
        with self._turn:
            try:
                _in_own_process(wish, job)
            except (OSError, EOFError, pickle.UnpicklingError):  # it was ended, or never began
                job.sentence = "There is no forecast: it takes too long for this size."


def _in_own_process(wish: Wish, job: Job) -> None:
    process = Popen(_COMMAND, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
    assert process.stdin is not None
    assert process.stdout is not None
    limit = Timer(_PATIENCE, process.kill)
    limit.start()
    try:
        with process.stdout as out:  # closed also when the process ends before it is told
            with process.stdin as into:
                pickle.dump((wish.settings, wish.sizes, wish.expected), into)
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
    """What no method that certifies two groups can do without, on average, in what is usual."""
    usual = default_unknown(
        settings.answers, problem.items, problem.questions, method=settings.method
    )
    return least_mean(usual.middle(), settings.delta)
