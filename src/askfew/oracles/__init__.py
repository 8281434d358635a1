"""Oracles answer a Batch: simulators, tables of recorded answers, or Python functions."""

from askfew.oracles.function import FunctionOracle, function
from askfew.oracles.simulated import (
    BernoulliOracle,
    GaussianOracle,
    ScaleOracle,
    bernoulli,
    gaussian,
    scale,
)
from askfew.oracles.table import TableOracle, from_frame, table

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
