"""Experiment 1: 20 items, 1000 questions, from one useful question to all of them, same norm."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from askfew.experiments.study import GrowthClaim, Line, Place, Study, repeated
from askfew.experiments.trials import (
    sufficient,
    try_bandit_clustering,
    try_candidate_row,
    try_cluster_by_candidates,
)
from askfew.planning.theory_params import divergence_of
from askfew.simulation import Instance, Trial, try_method
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
        """The twenty s."""
        return [(self.questions - 1) * (gamma - 1) // 19 + 1 for gamma in range(1, 21)]

    def instance(self, s: int) -> Instance:
        """Groups that differ by norm / sqrt(s) on s questions."""
        return Instance(self.items, self.questions, s, self.norm / math.sqrt(s))


def study(config: Config = Config()) -> Study:  # noqa: B008 (frozen)
    """All curves of the paper's Figure 1, and ours."""
    half = config.delta / 2
    trials: dict[str, Trial] = {
        f"CR({half:g})": partial(try_candidate_row, delta=half),
        f"CBC({half:g})": partial(try_cluster_by_candidates, delta=half),
        f"BanditClustering({config.delta:g})": partial(try_bandit_clustering, delta=config.delta),
        f"frugal({config.delta:g})": partial(try_method, method="frugal", delta=config.delta),
        f"frugal({config.careful_delta:g})": partial(
            try_method, method="frugal", delta=config.careful_delta
        ),
    }
    fixed = {
        "kmeans": config.kmeans_budgets,
        "kmeans10": config.fair_budgets,
        "spectral": config.fair_budgets,
    }
    places = [
        Place(curve, s, repeated(config.instance(s), trial))
        for curve, trial in trials.items()
        for s in config.sparsities
    ] + [
        Place(
            f"{method}, error <= {config.target_error:.0%}",
            s,
            sufficient(config.instance(s), method, budgets, config.target_error),
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
    """At the careful delta: Theorem 4.1 is void at the paper's."""
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
