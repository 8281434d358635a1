"""Experiment 3 (the authors ran it beside the paper): ever rarer second groups."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial

from askfew.experiments.study import GrowthClaim, Place, Study, repeated
from askfew.experiments.trials import (
    sufficient,
    try_bandit_clustering,
    try_candidate_row,
    try_cluster_by_candidates,
)
from askfew.simulation import Instance, Trial, try_method

__all__ = ["Config", "study"]


@dataclass(frozen=True)
class Config:
    """1000 items and questions, 100 useful with gap 1.5, second groups of 1, 2, 4, ... items."""

    items: int = 1000
    questions: int = 1000
    useful: int = 100
    gap: float = 1.5
    small_groups: tuple[int, ...] = tuple(2**i for i in range(9))
    delta: float = 0.8
    kmeans_budgets: tuple[int, ...] = (1_000_000, 2_000_000, 4_000_000)
    target_error: float = 0.01

    def instance(self, small: int) -> Instance:
        """The instance whose second group has so many items."""
        balance = small / self.items
        return Instance(self.items, self.questions, self.useful, self.gap, balance=balance)


def study(config: Config = Config()) -> Study:  # noqa: B008 (frozen)
    """The paper's procedures, k-means and frugal against the share of the small group."""
    half = config.delta / 2
    trials: dict[str, Trial] = {
        f"CR({half:g})": partial(try_candidate_row, delta=half),
        f"CBC({half:g})": partial(try_cluster_by_candidates, delta=half),
        f"BanditClustering({config.delta:g})": partial(try_bandit_clustering, delta=config.delta),
        f"frugal({config.delta:g})": partial(try_method, method="frugal", delta=config.delta),
    }
    places = [
        Place(curve, small / config.items, repeated(config.instance(small), trial))
        for curve, trial in trials.items()
        for small in config.small_groups
    ] + [
        Place(
            f"kmeans, error <= {config.target_error:.0%} or the largest budget",
            small / config.items,
            sufficient(
                config.instance(small), "kmeans", config.kmeans_budgets, config.target_error
            ),
        )
        for small in config.small_groups
    ]
    return Study(
        "exp3",
        "Experiment 3: 1000 items, ever rarer second groups",
        "share",
        "share of the small group",
        asdict(config),
        places,
        claims=[
            GrowthClaim(f"CR({half:g})", "CR grows like 1 / share (exponent -1)"),
            GrowthClaim(f"CBC({half:g})", "CBC does not depend on the share (exponent 0)"),
            GrowthClaim(
                f"BanditClustering({config.delta:g})",
                "the sum of both: flat where labelling dominates (exponent 0)",
            ),
        ],
    )
