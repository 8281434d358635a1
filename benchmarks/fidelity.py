"""Are the paper's procedures faithful? Mean answers beside the means their authors published.

    python benchmarks/fidelity.py [--runs 400] [--candidate-row-runs 4000] [--seed 0] [--jobs -1]

Published means: result files beside the authors' code (github.com/grafmaxi/bandit_two_clusters),
over error-free runs, as here. Their labelling loop charges only the items it labels 1, so a full
count lands a few per cent above. A referee outside the algorithms knows the truth and judges.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from functools import partial

import numpy as np
from rich.console import Console
from rich.table import Table

from askfew.experiments.trials import (
    try_bandit_clustering,
    try_candidate_row,
    try_cluster_by_candidates,
)
from askfew.simulation import Instance, Trial, error_interval, local, repeat


def experiment_1(s: int) -> Instance:
    """20 items, 1000 questions, s of them useful, the gap vector's norm is 15."""
    return Instance(20, 1000, s, 15 / math.sqrt(s))


def experiment_2(n: int) -> Instance:
    """Take n items, 10 n questions, a gap of 5 on ten of them."""
    return Instance(n, 10 * n, 10, 5.0)


@dataclass(frozen=True)
class Row:
    """One procedure on one instance, and what its authors measured."""

    name: str
    trial: Trial
    instance: Instance
    published: float
    band: tuple[float, float] = (-0.05, 0.15)


def bandit_clustering(name: str, instance: Instance, delta: float, published: float) -> Row:
    """A row of the whole method."""
    trial = partial(try_bandit_clustering, delta=delta)
    return Row(f"BanditClustering, {name}", trial, instance, published)


CBC = partial(try_cluster_by_candidates, delta=0.4)
CR = partial(try_candidate_row, delta=0.4)
ROWS = [
    bandit_clustering("s = 53", experiment_1(53), 0.8, 59540),
    bandit_clustering("s = 106", experiment_1(106), 0.8, 118260),
    bandit_clustering("s = 211", experiment_1(211), 0.8, 236733),
    bandit_clustering("s = 526", experiment_1(526), 0.8, 722851),
    bandit_clustering("s = 1000", experiment_1(1000), 0.8, 1524005),
    bandit_clustering("n = 100", experiment_2(100), 0.05, 123080),
    bandit_clustering("n = 200", experiment_2(200), 0.05, 290656),
    Row("CBC(0.4), s = 53", CBC, experiment_1(53), 56703),
    Row("CBC(0.4), s = 211", CBC, experiment_1(211), 232031),
    Row("CR(0.4), s = 53", CR, experiment_1(53), 2246, (-0.15, 0.15)),
    Row("CR(0.4), s = 211", CR, experiment_1(211), 1110, (-0.15, 0.15)),
]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--candidate-row-runs", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=-1)
    options = parser.parse_args()
    table = Table(
        "procedure",
        "runs",
        "mean answers",
        "published",
        "ratio",
        "band",
        "",
        "errors (95 % upper limit)",
    )
    for row in ROWS:
        runs = options.candidate_row_runs if row.trial is CR else options.runs
        engine = local(options.jobs)
        results = repeat(row.instance, row.trial, runs=runs, seed=options.seed, engine=engine)
        cost = float(np.mean([each.answers for each in results if each.correct]))
        errors = sum(not each.correct for each in results)
        excess = cost / row.published - 1
        low, high = row.band
        upper = error_interval(errors, runs)[1]
        table.add_row(
            row.name,
            f"{runs}",
            f"{cost:,.0f}",
            f"{row.published:,.0f}",
            f"{excess:+.1%}",
            f"{low:+.0%}..{high:+.0%}",
            "ok" if low <= excess <= high else "OUTSIDE",
            f"{errors / runs:.2%} ({upper:.2%})",
        )
    Console(width=130).print(table)


if __name__ == "__main__":
    main()
