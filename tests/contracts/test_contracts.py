"""Every method and every oracle we ship passes the checks we ship."""

from typing import Any

import numpy as np
import pytest

from askfew import METHODS, Number, Problem, Scale, YesNo, oracles
from askfew.algorithms import takes_budget
from askfew.testing import ForgetfulOracle, check_method, check_oracle, two_groups

PROBLEMS = {
    "yes/no": Problem(5, 3, YesNo()),
    "scale": Problem(6, 4, Scale(1, 5)),
    "number": Problem(7, 2, Number(2.0)),
    "smallest": Problem(2, 1, Number(1.0)),
    "one question": Problem(4, 1, YesNo()),
}


CAPS = {"paper": 20_000, "frugal": 2_000, "rule": 2_000}
"""Enough to end by themselves; the yardsticks ask in so small steps that they are stopped."""


def options(method: str, problem: Problem) -> dict[str, Any]:
    """What a method must be told to begin with."""
    kind = problem.kind
    low, high = (0.0, 1.0) if isinstance(kind, Number) else (kind.low, kind.high)
    chances = np.where(np.arange(problem.questions) % 2 == 0, [[0.1], [0.9]], 0.5)
    needed: dict[str, dict[str, Any]] = {
        "told-gap": {"gap": 1.6 * kind.sigma},
        "told-levels": {"levels": low + (high - low) * chances},
        "naive-bayes": {"anchors": {0: 0, 1: 1}},
    }
    return needed.get(method, {})


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
@pytest.mark.parametrize("method", METHODS)
def test_every_method_keeps_the_contract(method: str, problem: Problem) -> None:
    budget = 20 * problem.items * problem.questions if takes_budget(method) else None
    cap = CAPS.get(method, 500)
    check_method(method, problem, budget=budget, max_answers=cap, options=options(method, problem))


CHANCES = [[0.1, 0.5, 0.5], [0.9, 0.5, 0.5]]
RECORDED: list[list[list[object]]] = [
    [[1, 0, 1, 1], [0], [0, 1]],
    [[1, 1], [0, 0, 0], [1] * 9],
]


def coin(seed: int) -> oracles.FunctionOracle:
    rng = np.random.default_rng(seed)
    return oracles.function(
        lambda item, question: None if rng.random() < 0.3 else int(rng.random() < 0.5),
        Problem(4, 3),
    )


ORACLES: dict[str, Any] = {
    "gaussian": lambda seed: oracles.gaussian(CHANCES, sigma=2.0, rng=seed),
    "bernoulli": lambda seed: oracles.bernoulli(CHANCES, labels=[0, 1, 1], rng=seed),
    "scale": lambda seed: oracles.scale(CHANCES, 0, 1, rng=seed),
    "table": lambda seed: oracles.table(RECORDED, rng=seed),
    "function": coin,
    "forgetful": lambda seed: ForgetfulOracle(
        two_groups(Problem(4, 2), seed), lambda step, repeats: repeats // 2
    ),
}


@pytest.mark.parametrize("make", ORACLES.values(), ids=ORACLES.keys())
def test_every_oracle_keeps_the_contract(make: Any) -> None:
    check_oracle(make)
