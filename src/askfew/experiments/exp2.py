"""Experiment 2: n items, 10 n questions, ten of them useful; n from 100 to 5000."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from askfew.experiments.study import GrowthClaim, Line, Point, Study, measure_by_repeating
from askfew.experiments.trials import try_bandit_clustering
from askfew.simulation import Instance, Trial, try_method

__all__ = ["Config", "study"]


@dataclass(frozen=True)
class Config:
    """The paper's setting."""

    sizes: tuple[int, ...] = (100, 200, 500, 1000, 2000, 5000)
    questions_per_item: int = 10
    useful: int = 10
    gap: float = 5.0
    deltas: tuple[float, ...] = (0.8, 0.5, 0.2, 0.05)

    def instance(self, n: int) -> Instance:
        """The instance with n items."""
        return Instance(n, self.questions_per_item * n, self.useful, self.gap)


def study(config: Config = Config()) -> Study:  # noqa: B008 (frozen)
    """BanditClustering at four deltas, frugal at two of them, and the paper's n^2 line."""
    trials: dict[str, Trial] = {
        f"BanditClustering({delta:g})": partial(try_bandit_clustering, delta=delta)
        for delta in config.deltas
    }
    trials |= {
        f"frugal({delta:g})": partial(try_method, method="frugal", delta=delta)
        for delta in (config.deltas[0], config.deltas[-1])
    }
    places = [
        Point(curve, n, measure_by_repeating(config.instance(n), trial))
        for curve, trial in trials.items()
        for n in config.sizes
    ]
    return Study(
        "exp2",
        "Experiment 2: n items, 10 n questions, ten useful with gap 5",
        "n",
        "n, the number of items",
        asdict(config),
        places,
        lines=[Line("n^2 = nd / 10", config.sizes, [n**2 for n in config.sizes])],
        claims=[
            GrowthClaim(curve, "the answers grow linearly in n (exponent 1, up to logarithms)")
            for curve in trials
        ],
        compared=(f"frugal({config.deltas[-1]:g})", f"BanditClustering({config.deltas[-1]:g})"),
        published=_published,
    )


def _published(results: Mapping[str, Any]) -> list[Line]:
    rows = results["experiment_2"]["rows"]
    n = [row["n"] for row in rows]
    return [
        Line(
            f"BanditClustering({key.removeprefix('delta_').replace('_', '.')}), published",
            n,
            [row[key] for row in rows],
            points=True,
        )
        for key in ("delta_0_8", "delta_0_05")
    ]
