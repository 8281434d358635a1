"""Sort items into groups from as few noisy, paid answers as possible, with a certificate."""

from askfew import oracles
from askfew.algorithms import METHODS
from askfew.answers import Number, Scale, YesNo
from askfew.clustering import Session, cluster, session
from askfew.log import Log
from askfew.outcome import Outcome
from askfew.planning import plan
from askfew.records import Batch, Problem, Tally

__version__ = "0.1.0"

__all__ = [
    "METHODS",
    "Batch",
    "Log",
    "Number",
    "Outcome",
    "Problem",
    "Scale",
    "Session",
    "Tally",
    "YesNo",
    "cluster",
    "oracles",
    "plan",
    "session",
]
