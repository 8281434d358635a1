from itertools import product

import numpy as np
import pytest

from askfew.algorithms.baselines.uniform import _best_cut
from askfew.simulation import Instance, RunSummary, simulate_runs


@pytest.mark.parametrize("seed", range(5))
def test_the_cut_is_the_best_of_all(seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=7)

    def spread_within(labels: np.ndarray) -> float:
        groups = [values[labels == group] for group in (0, 1)]
        return float(sum(((group - group.mean()) ** 2).sum() for group in groups))

    every = [np.array(each) for each in product([0, 1], repeat=7) if 0 < sum(each) < 7]
    least = min(map(spread_within, every))
    assert spread_within(_best_cut(values)) == pytest.approx(least)


def test_uniform_sampling_solves_experiment_1_with_one_sweep() -> None:
    instance = Instance(items=20, questions=1000, useful=53, gap=15 / 53**0.5)
    runs = simulate_runs(instance, "spectral", delta=0.1, runs=50, seed=1, budget=20_000)
    assert {run.answers for run in runs} == {20_000}
    assert RunSummary.of(runs).errors <= 1
