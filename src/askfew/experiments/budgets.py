"""How much a fixed-budget method needs: the first budget at which it errs rarely enough."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from askfew.experiments.study import Measure
from askfew.simulation import Engine, Instance, Run, Summary, repeat, try_method

__all__ = ["first_sufficient_budget", "sufficient"]


def first_sufficient_budget(
    instance: Instance,
    method: str,
    budgets: Sequence[int],
    error_rate: float,
    runs: int,
    seed: int,
    engine: Engine,
) -> list[Run]:
    """Runs at the first budget whose observed error is at most ``error_rate``, else at the last."""
    results: list[Run] = []
    for budget in budgets:
        trial = partial(try_method, method=method, delta=0.5, budget=budget)
        results = repeat(instance, trial, runs=runs, seed=seed, engine=engine)
        if Summary.of(results).error_rate <= error_rate:
            break
    return results


def sufficient(
    instance: Instance, method: str, budgets: Sequence[int], error_rate: float
) -> Measure:
    """Measure by raising the budget until the method errs rarely enough."""

    def measure(runs: int, seed: int, engine: Engine) -> list[Run]:
        return first_sufficient_budget(instance, method, budgets, error_rate, runs, seed, engine)

    return measure
