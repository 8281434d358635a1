"""Who answers a Batch: a simulator, a table of recorded answers, or a Python function."""

from askfew.oracles.frame import from_frame
from askfew.oracles.function import FunctionOracle, function
from askfew.oracles.simulated import (
    BernoulliOracle,
    GaussianOracle,
    ScaleOracle,
    bernoulli,
    gaussian,
    scale,
)
from askfew.oracles.table import TableOracle, table

__all__ = [
    "BernoulliOracle",
    "FunctionOracle",
    "GaussianOracle",
    "ScaleOracle",
    "TableOracle",
    "bernoulli",
    "from_frame",
    "function",
    "gaussian",
    "scale",
    "table",
]
