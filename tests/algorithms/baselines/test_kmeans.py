import warnings

import numpy as np
import pytest

import askfew
from askfew.algorithms.baselines.k_means import k_means
from askfew.records import Floats, Ints
from askfew.simulation import Instance, RunSummary, simulate_runs

EASY = Instance(items=12, questions=6, useful=3, gap=4.0)


@pytest.mark.parametrize("method", ["kmeans", "kmeans10"])
def test_an_easy_problem_is_solved_within_the_budget(method: str) -> None:
    runs = simulate_runs(EASY, method, delta=0.1, runs=20, seed=1, budget=500)
    assert {run.answers for run in runs} == ({432} if method == "kmeans" else {492 + 6 - 6})
    assert RunSummary.of(runs).errors <= (2 if method == "kmeans" else 0)


def test_ten_starts_are_better_than_one() -> None:
    """The authors' one start often ends in a local optimum, far from noise."""
    instance = Instance(items=20, questions=1000, useful=53, gap=15 / 53**0.5)
    errors = {
        method: RunSummary.of(
            simulate_runs(instance, method, delta=0.1, runs=40, seed=1, budget=20_000)
        ).errors
        for method in ("kmeans", "kmeans10")
    }
    assert errors["kmeans10"] < errors["kmeans"]


@pytest.mark.parametrize("starts", [1, 10])
def test_it_splits_as_well_as_scikit_learn(starts: int) -> None:
    """Over many noisy tables neither is better: as often the one as the other."""
    from sklearn.cluster import KMeans

    rng, better, worse = np.random.default_rng(0), 0, 0
    for seed in range(100):
        points = rng.normal(size=(30, 10))
        points[::2, :3] += 1.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = KMeans(2, n_init=starts, random_state=seed).fit_predict(points)
        ours = k_means(points, 2, starts=starts, rng=np.random.default_rng(seed))
        left, right = _spread(points, ours), _spread(points, theirs)
        better, worse = better + (left < right - 1e-9), worse + (left > right + 1e-9)
    assert abs(better - worse) <= 2.6 * (better + worse) ** 0.5  # a fair coin: 99 % of the time


def test_the_groups_of_every_start_are_centred_where_they_are() -> None:
    """Lloyd's fixed point: every item is nearest to the mean of its own group."""
    points = np.random.default_rng(5).normal(size=(40, 3))
    labels = k_means(points, 2, starts=3, rng=np.random.default_rng(6))
    centres = np.stack([points[labels == group].mean(axis=0) for group in (0, 1)])
    away = ((points[:, None] - centres) ** 2).sum(axis=2)
    assert labels.tolist() == away.argmin(axis=1).tolist()


def test_items_nobody_told_apart_are_one_group() -> None:
    outcome = askfew.cluster(lambda item, question: None, 4, 2, method="kmeans", budget=8, rng=1)
    assert outcome.labels.tolist() == [0, 0, 0, 0]
    assert outcome.answers == 0


def _spread(points: Floats, labels: Ints) -> float:
    groups = [points[labels == group] for group in (0, 1)]
    return float(sum(((group - group.mean(axis=0)) ** 2).sum() for group in groups))
