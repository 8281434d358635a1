"""Sort items into groups from as few noisy, paid answers as possible, with a certificate."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from askfew import oracles
    from askfew.algorithms import METHODS
    from askfew.answers import Number, Scale, YesNo
    from askfew.clustering import certify, cluster
    from askfew.log import Log
    from askfew.outcome import Outcome
    from askfew.planning.forecast import plan
    from askfew.records import Batch, Problem, Tally
    from askfew.rule import Rule
    from askfew.sessions import Session, session

__version__ = "0.2.0.dev0"

__all__ = [
    "METHODS",
    "Batch",
    "Log",
    "Number",
    "Outcome",
    "Problem",
    "Rule",
    "Scale",
    "Session",
    "Tally",
    "YesNo",
    "certify",
    "cluster",
    "oracles",
    "plan",
    "session",
]

# A name is fetched from its room when it is first used: every command imports this file, and few
# need the arrays, solvers and simulations that stand behind all the names together.
_ROOMS = {
    "METHODS": "algorithms",
    "Batch": "records",
    "Log": "log",
    "Number": "answers",
    "Outcome": "outcome",
    "Problem": "records",
    "Rule": "rule",
    "Scale": "answers",
    "Session": "sessions",
    "Tally": "records",
    "YesNo": "answers",
    "certify": "clustering",
    "cluster": "clustering",
    "plan": "planning.forecast",
    "session": "sessions",
}

if not TYPE_CHECKING:  # else every name would seem to exist

    def __getattr__(name: str) -> Any:
        if name == "oracles":
            return import_module("askfew.oracles")
        if name not in _ROOMS:
            raise AttributeError(f"module 'askfew' has no attribute {name!r}")
        return getattr(import_module(f"askfew.{_ROOMS[name]}"), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
