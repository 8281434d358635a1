"""Simulated problems whose truth is known, many runs of a method on them, and how often it errs."""

from askfew.simulation.engines import Engine, dask, local
from askfew.simulation.instances import NOISES, CustomWorlds, Instance, World
from askfew.simulation.referee import LabelCounts, judge
from askfew.simulation.runs import (
    Family,
    Run,
    RunSummary,
    Trial,
    draw_anchors,
    error_interval,
    repeat,
    simulate_runs,
    try_method,
)

__all__ = [
    "NOISES",
    "CustomWorlds",
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
