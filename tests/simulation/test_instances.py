from typing import Any

import numpy as np
import pytest

from askfew.answers import Number, Scale, YesNo
from askfew.errors import InvalidInput
from askfew.records import Batch, Floats
from askfew.simulation import Instance, World


def draw(seed: int = 0, **settings: Any) -> World:
    defaults: dict[str, Any] = {"items": 10, "questions": 8, "useful": 3, "gap": 0.6}
    return Instance(**{**defaults, **settings}).draw(np.random.SeedSequence(seed))


def measured_gaps(world: World) -> Floats:
    """By how much the groups differ on each question, from very many answers."""
    first, second = int(np.flatnonzero(world.labels == 0)[0]), int(np.flatnonzero(world.labels)[0])
    questions = np.arange(world.oracle.problem.questions)
    means = [
        world.oracle(
            Batch(np.full_like(questions, item), questions, np.full_like(questions, 10**8))
        ).sums
        / 10**8
        for item in (first, second)
    ]
    return np.asarray(np.abs(means[1] - means[0]))


@pytest.mark.parametrize(
    ("noise", "kind", "scale"),
    [("gaussian", Number(1.0), 1), ("yes-no", YesNo(), 1), ("scale", Scale(0, 4), 4)],
)
def test_groups_differ_by_the_gap_on_the_useful_questions(
    noise: str, kind: object, scale: int
) -> None:
    world = draw(noise=noise)
    assert world.oracle.problem.answers == kind
    gaps = np.sort(measured_gaps(world))
    np.testing.assert_allclose(gaps, scale * np.array([0] * 5 + [0.6] * 3), atol=2e-3)


def test_gaps_may_decay() -> None:
    gaps = np.sort(measured_gaps(draw(decay=1.0)))
    np.testing.assert_allclose(gaps[-3:], [0.2, 0.3, 0.6], atol=2e-3)


@pytest.mark.parametrize(("balance", "second"), [(0.5, 5), (0.2, 2), (0.01, 1), (0.99, 9)])
def test_balance_is_the_second_group_s_share(balance: float, second: int) -> None:
    for seed in range(5):
        labels = draw(seed, balance=balance).labels
        assert labels[0] == 0
        assert sorted([labels.sum(), 10 - labels.sum()]) == sorted([second, 10 - second])


def test_items_and_questions_are_shuffled_in_every_run() -> None:
    worlds = [draw(seed) for seed in range(8)]
    assert len({tuple(world.labels) for world in worlds}) > 1
    assert len({tuple(measured_gaps(world) > 0.3) for world in worlds}) > 1


def test_the_same_seed_is_the_same_world() -> None:
    batch = Batch(np.arange(10), np.zeros(10, dtype=np.int64), np.full(10, 3))
    one, same = draw(4), draw(4)
    assert one.labels.tolist() == same.labels.tolist()
    assert one.oracle(batch).sums.tolist() == same.oracle(batch).sums.tolist()


BAD: dict[str, dict[str, Any]] = {
    "one item": {"items": 1},
    "negative items": {"items": -3},
    "items float": {"items": 10.0},
    "no questions": {"questions": 0},
    "none useful": {"useful": 0},
    "too many useful": {"useful": 9},
    "noise unknown": {"noise": "purple"},
    "gap negative": {"gap": -1},
    "gap NaN": {"gap": float("nan")},
    "gap infinite": {"gap": float("inf")},
    "gap above 1": {"gap": 1.5, "noise": "yes-no"},
    "balance 0": {"balance": 0},
    "balance 1": {"balance": 1},
    "balance NaN": {"balance": float("nan")},
    "decay negative": {"decay": -1},
    "decay NaN": {"decay": float("nan")},
    "sigma 0": {"sigma": 0},
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_bad_instances_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        draw(**bad)


def test_it_says_what_it_is() -> None:
    instance = Instance(20, 1000, 53, 2.0, decay=0.5)
    assert str(instance).startswith("20 items, 1000 questions, 53 useful, gap 2 / j^0.5")
    assert instance.to_dict()["useful"] == 53
