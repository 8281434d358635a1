"""The bill before the first answer: forecasts from simulating the method, beside the theory."""

from askfew.planning.forecast import Forecast, forecast, forecast_curves
from askfew.planning.plan import plan
from askfew.planning.ranges import Range, Unknown
from askfew.planning.told import Told

__all__ = ["Forecast", "Range", "Told", "Unknown", "forecast", "forecast_curves", "plan"]
