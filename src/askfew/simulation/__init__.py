"""Simulated problems whose truth is known, many runs of a method on them, and how often it errs."""

from askfew.simulation.engines import Engine, dask, local
from askfew.simulation.instances import NOISES, Instance, World
from askfew.simulation.runs import Family, Run, Trial, repeat, simulate_runs, try_method
from askfew.simulation.summary import Summary, error_interval

__all__ = [
    "NOISES",
    "Engine",
    "Family",
    "Instance",
    "Run",
    "Summary",
    "Trial",
    "World",
    "dask",
    "error_interval",
    "local",
    "repeat",
    "simulate_runs",
    "try_method",
]
