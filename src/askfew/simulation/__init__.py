"""Simulated problems whose truth is known, many runs of a method on them, and how often it errs."""

from askfew.simulation.drawn import Drawn
from askfew.simulation.engines import Engine, dask, local
from askfew.simulation.instances import NOISES, Instance, World
from askfew.simulation.referee import LabelCounts, judge
from askfew.simulation.runs import (
    Family,
    Run,
    Trial,
    draw_anchors,
    repeat,
    simulate_runs,
    try_method,
)
from askfew.simulation.summary import RunSummary, error_interval

__all__ = [
    "NOISES",
    "Drawn",
    "Engine",
    "Family",
    "Instance",
    "LabelCounts",
    "Run",
    "RunSummary",
    "Trial",
    "World",
    "dask",
    "draw_anchors",
    "error_interval",
    "judge",
    "local",
    "repeat",
    "simulate_runs",
    "try_method",
]
