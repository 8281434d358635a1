import hashlib
from typing import Any

import numpy as np
import pytest

from askfew.answers import Number, Scale, YesNo
from askfew.errors import InvalidInput
from askfew.records import Batch, Floats
from askfew.simulation import Instance, World
from askfew.simulation.instances import CustomWorlds


def draw(seed: int = 0, **settings: Any) -> World:
    defaults: dict[str, Any] = {"items": 10, "questions": 8, "useful": 3, "gap": 0.6}
    return Instance(**{**defaults, **settings}).draw(np.random.SeedSequence(seed))


def true_means(world: World) -> Floats:
    assert world.means is not None
    return world.means(np.arange(world.oracle.problem.questions))


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
    assert world.oracle.problem.kind == kind
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
    "one group": {"groups": 1},
    "groups float": {"groups": 3.0},
    "more groups than items": {"groups": 11},
    "groups that cannot all differ": {"groups": 5, "useful": 2},
    "groups and balance": {"groups": 3, "balance": 0.2},
    "spread negative": {"spread": -0.1},
    "spread NaN": {"spread": float("nan")},
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_bad_instances_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        draw(**bad)


def test_it_says_what_it_is() -> None:
    instance = Instance(20, 1000, 53, 2.0, decay=0.5)
    assert str(instance).startswith("20 items, 1000 questions, 53 useful, gap 2 / j^0.5")
    assert instance.to_dict()["useful"] == 53
    assert str(Instance(20, 9, 4, 2.0, groups=3, spread=0.1)).endswith("3 groups, spread 0.1")


def test_worlds_of_two_groups_of_equals_are_those_that_benchmarks_were_measured_on() -> None:
    """A digest of labels and answers, written down before there were more groups and a spread."""
    seen = hashlib.sha256()
    for noise, gap in (("gaussian", 2.0), ("yes-no", 0.7), ("scale", 0.5)):
        instance = Instance(30, 12, 5, gap, noise, 1.3, 0.2, 0.5)
        world = instance.draw(np.random.SeedSequence(3))
        rng = np.random.default_rng(3)
        batch = Batch(rng.integers(0, 30, 50), rng.integers(0, 12, 50), rng.integers(1, 9, 50))
        tally = world.oracle(batch)
        for array in (world.labels, tally.sums.round(9)):
            seen.update(array.tobytes())
    assert seen.hexdigest()[:16] == "a333dc5ef50c75b2"


@pytest.mark.parametrize(("groups", "useful"), [(3, 2), (3, 12), (5, 3), (8, 3), (16, 4), (5, 16)])
def test_every_useful_question_splits_the_groups_and_every_two_differ_somewhere(
    groups: int, useful: int
) -> None:
    for seed in range(4):
        instance = Instance(48, 20, useful, 0.6, "yes-no", groups=groups)
        world = instance.draw(np.random.SeedSequence(seed))
        assert sorted(set(world.labels.tolist())) == list(range(groups))
        assert np.ptp(np.bincount(world.labels)) <= 1
        means = true_means(world)
        levels = np.array([means[world.labels == g][0] for g in range(groups)])
        assert (means == levels[world.labels]).all()
        differs = np.ptp(levels, axis=0) > 0
        assert differs.sum() == useful
        np.testing.assert_allclose(np.unique(levels[:, differs]), [0.2, 0.8])
        assert len(np.unique(levels, axis=0)) == groups


def test_groups_are_called_in_the_order_of_their_first_items() -> None:
    labels = draw(groups=4, items=40).labels
    first = [int(np.argmax(labels == group)) for group in range(4)]
    assert first == sorted(first)
    assert first[0] == 0


@pytest.mark.parametrize(("noise", "width"), [("gaussian", 1.0), ("yes-no", 1.0), ("scale", 4.0)])
def test_items_of_a_group_spread_on_useful_questions_alone(noise: str, width: float) -> None:
    world = draw(items=4000, noise=noise, spread=0.1)
    plain = draw(items=4000, noise=noise)
    means, levels = true_means(world), true_means(plain)
    differs = np.ptp(levels, axis=0) > 0
    assert (means[:, ~differs] == levels[:, ~differs]).all()
    away = (means - levels)[:, differs] / width
    assert np.abs(away.mean(axis=0)).max() < 0.005
    np.testing.assert_allclose(away.std(axis=0), 0.1 * 0.6, rtol=0.05)


def test_means_are_clipped_to_the_scale() -> None:
    means = true_means(draw(items=500, noise="yes-no", gap=0.9, spread=0.5))
    assert (means.min(), means.max()) == (0.0, 1.0)


def test_answers_come_from_the_means_that_the_referee_sees() -> None:
    world = draw(noise="yes-no", spread=0.3, groups=3)
    rows, columns = (each.ravel() for each in np.indices((10, 8)))
    many = np.full(80, 10**8)
    asked = world.oracle(Batch(rows, columns, many)).sums / many
    np.testing.assert_allclose(asked, true_means(world).ravel(), atol=1e-3)


@pytest.mark.parametrize("name", ["time:time", "operator:add"])
def test_worlds_come_from_a_function_of_one_argument(name: str) -> None:
    with pytest.raises(InvalidInput, match="one argument, the random generator"):
        CustomWorlds.named(name)
