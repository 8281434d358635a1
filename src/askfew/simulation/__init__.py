"""Simulated problems whose truth is known, many runs of a method on them, and how often it errs."""

from askfew.simulation.instances import NOISES, Instance, World
from askfew.simulation.runs import Run, simulate_runs
from askfew.simulation.summary import Summary, error_interval

__all__ = ["NOISES", "Instance", "Run", "Summary", "World", "error_interval", "simulate_runs"]
