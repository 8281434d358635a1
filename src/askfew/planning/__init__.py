"""Forecasts of answers and money before the first answer: the method is simulated many times."""

from askfew.planning.forecast import Forecast, Simulation, forecast, forecast_curves, plan
from askfew.planning.owner_knowledge import OwnerKnowledge
from askfew.planning.ranges import Range, Unknown

__all__ = [
    "Forecast",
    "OwnerKnowledge",
    "Range",
    "Simulation",
    "Unknown",
    "forecast",
    "forecast_curves",
    "plan",
]
