"""The methods: each is a generator of Batches that returns a Finding.

A new method is one file and one line in METHODS. A method of another package is named by an entry
point of the group ``askfew.methods``, or as module:function. A method takes a Problem, an rng, its
own keyword options, and either ``delta`` (it stops by itself, with a certificate) or ``budget`` (it
spends it).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Generator

import numpy as np

from askfew.algorithms.baselines import (
    adaptive_kmeans,
    dawid_skene,
    kmeans,
    kmeans10,
    latent_classes,
    majority_vote,
    naive_bayes,
    spectral,
    told_gap,
    told_levels,
)
from askfew.algorithms.frugal import frugal as frugal_method
from askfew.algorithms.frugal.claim import VERSION as FRUGAL_CLAIM
from askfew.algorithms.paper import bandit_clustering
from askfew.algorithms.peers import acb, ariu, boc, same_cluster
from askfew.algorithms.rule import rule as rule_method
from askfew.algorithms.rule.claim import VERSION as RULE_CLAIM
from askfew.errors import InvalidInput
from askfew.extensions import find, installed
from askfew.records import Finding, Problem, Procedure

__all__ = [
    "CLAIM_VERSIONS",
    "METHODS",
    "Method",
    "check_delta",
    "find_method",
    "methods_with",
    "start",
    "takes_budget",
    "takes_option",
]

Method = Callable[..., Procedure[Finding]]

METHODS: dict[str, Method] = {
    "frugal": frugal_method,
    "rule": rule_method,
    "paper": bandit_clustering,
    "kmeans": kmeans,
    "kmeans10": kmeans10,
    "spectral": spectral,
    "adaptive-kmeans": adaptive_kmeans,
    "majority-vote": majority_vote,
    "dawid-skene": dawid_skene,
    "latent-classes": latent_classes,
    "naive-bayes": naive_bayes,
    "ariu": ariu,
    "boc": boc,
    "acb": acb,
    "same-cluster": same_cluster,
    "told-gap": told_gap,
    "told-levels": told_levels,
}


CLAIM_VERSIONS: dict[str, int] = {
    "frugal": FRUGAL_CLAIM,
    "rule": RULE_CLAIM,
    "told-gap": FRUGAL_CLAIM,
}
"""The version of the claim of each method that records plans. The other methods have none: a replay
compares them Batch by Batch."""


def find_method(method: str | Method) -> Method:
    """The method of this name; a function is returned as it is.

    >>> find_method("papper")
    Traceback (most recent call last):
    askfew.errors.InvalidInput: method must be one of frugal, ..., got 'papper': choose one
    """
    if callable(method):
        return method
    if method in METHODS:
        return METHODS[method]
    found: Method | None = find("askfew.methods", method) if isinstance(method, str) else None
    if found is None:
        known = ", ".join([*METHODS, *installed("askfew.methods")])
        raise InvalidInput(
            f"method must be one of {known}, or module:function", repr(method), "choose one"
        )
    return found


def start(
    method: str | Method,
    problem: Problem,
    rng: np.random.Generator,
    *,
    delta: float,
    budget: int | None = None,
    **options: object,
) -> Procedure[Finding]:
    """The method's procedure, ready to be driven."""
    check_delta(delta)
    function, parameters = find_method(method), _parameters(method)
    method = method if isinstance(method, str) else getattr(method, "__name__", repr(method))
    # A method is asked for what its signature names, so a new one needs no entry anywhere else.
    if "budget" in parameters:
        if not isinstance(budget, int) or isinstance(budget, bool) or budget < 1:
            raise InvalidInput(
                f"{method} needs a budget, a whole number of answers to spend",
                repr(budget),
                "pass budget",
            )
        options["budget"] = budget
    else:
        if budget is not None:
            raise InvalidInput(
                f"{method} stops by itself", f"budget {budget}", "pass max_answers as a cap"
            )
        options["delta"] = delta
    unknown = sorted(options.keys() - parameters.keys())
    if unknown:
        known = sorted(parameters.keys() - {"problem", "rng", "delta", "budget"})
        raise InvalidInput(
            f"{method} takes the options {', '.join(known) or '(none)'}",
            ", ".join(unknown),
            "leave it out",
        )
    for name, parameter in parameters.items():
        if parameter.default is parameter.empty and name not in {"problem", "rng", *options}:
            raise InvalidInput(f"{method} needs the option {name}", "none", f"pass {name}")
    procedure = function(problem, rng=rng, **options)
    if not isinstance(procedure, Generator):
        raise InvalidInput(
            f"{method} must be a generator, which yields Batches",
            type(procedure).__name__,
            "write 'tally = yield Batch(...)'",
        )
    return _checked(method, procedure, problem)


def _checked(method: str, procedure: Procedure[Finding], problem: Problem) -> Procedure[Finding]:
    """The same procedure; what it returns must be usable, for it may be somebody's own."""
    found = yield from procedure
    if not isinstance(found, Finding):
        raise InvalidInput(
            f"{method} must return a Finding",
            type(found).__name__,
            "return askfew.records.Finding(labels)",
        )
    labels = found.labels
    whole = isinstance(labels, np.ndarray) and labels.dtype.kind == "i"
    if not whole or labels.shape != (problem.items,):
        raise InvalidInput(
            f"the labels of {method} must be an array of {problem.items} whole numbers",
            repr(labels)[:100],
            "give every item a group, or -1",
        )
    return found


def takes_budget(method: str | Method) -> bool:
    """Whether the method spends a fixed budget rather than stop by itself."""
    return "budget" in _parameters(method)


def takes_option(method: str | Method, name: str) -> bool:
    """Whether the method has this option."""
    return name in _parameters(method)


def methods_with(option: str) -> list[str]:
    """The methods that have this option.

    >>> methods_with("anchors")
    ['rule', 'dawid-skene', 'latent-classes', 'naive-bayes']
    """
    return [method for method in METHODS if takes_option(method, option)]


def check_delta(delta: float) -> None:
    """Refuse a delta that is no probability of error."""
    if not (isinstance(delta, int | float) and math.isfinite(delta) and 0 < delta < 1):
        raise InvalidInput(
            "delta, the allowed probability of any wrong label, must lie strictly between 0 and 1",
            repr(delta),
            "pass for example 0.05",
        )


def _parameters(method: str | Method) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(find_method(method)).parameters)
