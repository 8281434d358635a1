"""Experiment 1: 20 items and 1000 questions, of which one to all are useful, with equal norm."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from askfew.experiments.study import GrowthClaim, Line, Point, Study, measure_by_repeating
from askfew.experiments.trials import measure_by_budget, trials_at
from askfew.planning.theory_params import divergence_of
from askfew.simulation import Instance, try_method
from askfew.theory import labelling_mean, theorem_4_1

__all__ = ["Config", "study"]


@dataclass(frozen=True)
class Config:
    """The paper's setting: s = floor((d-1)(gamma-1)/19) + 1 useful questions for gamma = 1..20."""

    items: int = 20
    questions: int = 1000
    norm: float = 15.0
    delta: float = 0.8
    careful_delta: float = 0.05
    kmeans_budgets: tuple[int, ...] = tuple(170_000 + i * 130_000 // 9 for i in range(10))
    fair_budgets: tuple[int, ...] = (5_000, 10_000, 20_000, 40_000, 80_000, 160_000)
    target_error: float = 0.01

    @property
    def sparsities(self) -> list[int]:
        """The twenty values of s."""
        return [(self.questions - 1) * (gamma - 1) // 19 + 1 for gamma in range(1, 21)]

    def instance(self, s: int) -> Instance:
        """An instance whose groups differ by norm / sqrt(s) on s questions."""
        return Instance(self.items, self.questions, s, self.norm / math.sqrt(s))


def study(config: Config = Config()) -> Study:  # noqa: B008 (frozen)
    """The curves of the paper's Figure 1, and those of frugal."""
    half = config.delta / 2
    trials = trials_at(config.delta)
    trials[f"frugal({config.careful_delta:g})"] = partial(
        try_method, method="frugal", delta=config.careful_delta
    )
    fixed = {
        "kmeans": config.kmeans_budgets,
        "kmeans10": config.fair_budgets,
        "spectral": config.fair_budgets,
    }
    places = [
        Point(curve, s, measure_by_repeating(config.instance(s), trial))
        for curve, trial in trials.items()
        for s in config.sparsities
    ] + [
        Point(
            f"{method}, error <= {config.target_error:.0%}",
            s,
            measure_by_budget(config.instance(s), method, budgets, config.target_error),
        )
        for method, budgets in fixed.items()
        for s in config.sparsities
    ]
    return Study(
        "exp1",
        "Experiment 1: 20 items, 1000 questions, ever weaker and denser gaps",
        "s",
        "s, the number of useful questions (each with gap 15 / sqrt(s))",
        asdict(config),
        places,
        lines=_lower_bounds(config),
        claims=[
            GrowthClaim(f"CR({half:g})", "CR hardly depends on s (exponent 0), for s >= 53", 53),
            GrowthClaim(f"CBC({half:g})", "CBC grows linearly in s (exponent 1)", 53),
        ],
        compared=(f"frugal({config.delta:g})", f"BanditClustering({config.delta:g})"),
        published=_published,
    )


def _lower_bounds(config: Config) -> list[Line]:
    """The lower bounds at the careful delta, because Theorem 4.1 is void at the paper's delta."""
    delta, s = config.careful_delta, config.sparsities
    instances = [config.instance(each) for each in s]
    labelling = [labelling_mean(config.items, divergence_of(each), delta) for each in instances]
    theorem = [theorem_4_1(each.ordered_gaps, config.items, 0.5, delta) for each in instances]
    return [
        Line(f"labelling bound({delta:g})", s, [bound.value for bound in labelling]),
        Line(f"Theorem 4.1({delta:g})", s, [bound.value for bound in theorem]),
    ]


def _published(results: Mapping[str, Any]) -> list[Line]:
    rows = results["experiment_1"]["rows"]
    names = {
        "cr_mean": "CR(0.4)",
        "cbc_mean": "CBC(0.4)",
        "bandit_clustering_mean": "BanditClustering(0.8)",
    }
    s = [row["s"] for row in rows]
    return [
        Line(f"{name}, published", s, [row[key] for row in rows], points=True)
        for key, name in names.items()
    ]
