"""Experiment 4, which the authors ran besides those of the paper: yes/no answers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial

from askfew.experiments.study import GrowthClaim, Point, Study, measure_by_repeating
from askfew.experiments.trials import try_bandit_clustering
from askfew.simulation import Instance, Trial, try_method

__all__ = ["Config", "study"]


@dataclass(frozen=True)
class Config:
    """30 items; .75 against .25 on the useful half of 2, 4, ... 32 questions, .5 elsewhere."""

    items: int = 30
    useful: tuple[int, ...] = tuple(2**i for i in range(5))
    gap: float = 0.5
    delta: float = 0.8
    budget: int = 400_000

    def instance(self, useful: int) -> Instance:
        """The instance with this many useful questions and as many useless ones."""
        return Instance(self.items, 2 * useful, useful, self.gap, noise="yes-no")


def study(config: Config = Config()) -> Study:  # noqa: B008 (frozen)
    """BanditClustering with sigma = 1/2, frugal, and an adaptive fixed-budget baseline."""
    trials: dict[str, Trial] = {
        f"BanditClustering({config.delta:g})": partial(try_bandit_clustering, delta=config.delta),
        f"frugal({config.delta:g})": partial(try_method, method="frugal", delta=config.delta),
        f"adaptive-kmeans, {config.budget:,} answers": partial(
            try_method, method="adaptive-kmeans", delta=config.delta, budget=config.budget
        ),
    }
    places = [
        Point(curve, 2 * useful, measure_by_repeating(config.instance(useful), trial))
        for curve, trial in trials.items()
        for useful in config.useful
    ]
    return Study(
        "exp4",
        "Experiment 4: 30 items, yes/no answers (.75 against .25 on half the questions)",
        "d",
        "d, the number of questions",
        asdict(config),
        places,
        claims=[
            GrowthClaim(
                curve,
                "by the paper's complexity only d / s counts, which stays 2 (exponent 0, up to"
                " logarithms)",
            )
            for curve in list(trials)[:2]
        ],
        compared=(f"frugal({config.delta:g})", f"BanditClustering({config.delta:g})"),
    )
