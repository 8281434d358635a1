"""Experiment 3, which the authors ran besides those of the paper: rarer and rarer second groups."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from askfew.experiments.study import GrowthClaim, Point, Study, measure_by_repeating
from askfew.experiments.trials import measure_by_budget, trials_at
from askfew.simulation import Instance

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
        """The instance whose second group has this many items."""
        balance = small / self.items
        return Instance(self.items, self.questions, self.useful, self.gap, balance=balance)


def study(config: Config = Config()) -> Study:  # noqa: B008 (frozen)
    """Answers of the paper's procedures, k-means and frugal against the small group's share."""
    half = config.delta / 2
    places = [
        Point(curve, small / config.items, measure_by_repeating(config.instance(small), trial))
        for curve, trial in trials_at(config.delta).items()
        for small in config.small_groups
    ] + [
        Point(
            f"kmeans, error <= {config.target_error:.0%} or the largest budget",
            small / config.items,
            measure_by_budget(
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
        compared=(f"frugal({config.delta:g})", f"BanditClustering({config.delta:g})"),
    )
