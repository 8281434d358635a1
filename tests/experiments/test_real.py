"""The suite real: worlds, what is measured, and who gets how many answers."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from askfew.errors import InvalidInput
from askfew.experiments import real
from askfew.experiments.real import ALTERNATIVES, SETTINGS, RealRow, run_real, settings_for
from askfew.experiments.real_worlds import RealWorld, packaged_worlds, worlds_in
from askfew.simulation import local

CLASSES = np.arange(40) % 2
MEANS = np.where(CLASSES[:, np.newaxis] == 1, 0.9, 0.1) * np.ones(6)


@pytest.fixture(scope="module")
def rows() -> dict[str, RealRow]:
    world = RealWorld("plain", MEANS, CLASSES)
    found = run_real(world, delta=0.05, seeds=3, seed=1, engine=local(1))
    return {row.setting: row for row in found}


def test_every_setting_is_measured_and_finds_plain_classes(rows: dict[str, RealRow]) -> None:
    assert list(rows) == [each.name for each in (*SETTINGS, *ALTERNATIVES)]
    for row in rows.values():
        assert row.accuracy_all > 0.9
        assert row.certified_wrong == 0
        assert (row.certified > 0) == (row.like is None)
    assert rows["rule"].decided > 0.5
    assert rows["rule"].between_seeds == pytest.approx(1.0)


def test_whoever_stands_beside_askfew_has_no_more_answers(rows: dict[str, RealRow]) -> None:
    for row in rows.values():
        if row.like is not None:
            assert 0.5 * rows[row.like].answers < row.answers <= rows[row.like].answers
            assert row.busiest_cell <= rows[row.like].busiest_cell


def test_anchors_are_not_counted() -> None:
    """Where nothing can be told, only the anchors' groups are known."""
    world = RealWorld("flat", np.full((40, 4), 0.5), CLASSES)
    bayes = next(each for each in ALTERNATIVES if each.name == "10 anchors: naive Bayes")
    anchors = {item: int(CLASSES[item]) for item in range(20)}
    seeds = np.random.SeedSequence(1).spawn(2)
    tried = real._try(world, bayes, 0.05, anchors, 40 * 4 * 2, *seeds)
    assert tried.own.tolist() == [False] * 20 + [True] * 20
    assert (tried.labels == CLASSES)[~tried.own].all()
    assert real._row(world, bayes, [tried], [tried]).accuracy_all < 0.9


def test_votes_are_for_two_groups() -> None:
    three = RealWorld("three", np.full((30, 4), 0.5), np.arange(30) % 3)
    names = [each.name for each in settings_for(three)]
    assert "majority vote" not in names
    assert "3 anchors: Dawid-Skene" in names


def test_the_packaged_tables() -> None:
    found = {world.name: (*world.means.shape, world.groups) for world in packaged_worlds()}
    assert found == {
        "digits 0/1, 64 pixels": (360, 64, 2),
        "digits 0/1, 20 pixels": (360, 20, 2),
        "digits 0..9, 64 pixels": (300, 64, 10),
        "breast cancer, 30 measures": (569, 30, 2),
        "wine, 13 measures": (178, 13, 3),
    }
    for world in packaged_worlds():
        assert 0 <= world.means.min() < world.means.max() <= 1
        assert world.classes[0] == 0


def test_recorded_answers_are_two_worlds(tmp_path: Path) -> None:
    item, worker = (grid.ravel() for grid in np.meshgrid(np.arange(4), np.arange(3)))
    answer = ((item + worker) % 2).astype(float)
    question, y = np.zeros_like(item), np.array([1, 1, 0, 0])
    np.savez(
        tmp_path / "birds.npz", item=item, question=question, worker=worker, answer=answer, y=y
    )
    whole, person = worlds_in(tmp_path)
    assert (whole.name, whole.means.shape, whole.per_cell) == ("birds", (4, 1), 3)
    assert (person.name, person.means.shape) == ("birds, person by person", (4, 3))
    assert person.per_cell == 1
    np.testing.assert_allclose(whole.means[:, 0], person.means.mean(axis=1))
    assert whole.classes.tolist() == [0, 0, 1, 1]


def test_a_file_without_classes_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "odd.npz", means=MEANS)
    with pytest.raises(InvalidInput, match=r"odd\.npz must hold y and means"):
        list(worlds_in(tmp_path))


def test_an_item_on_its_own_side_may_be_nearer_to_the_other_group() -> None:
    """The first is what evidence excludes and is held against delta; the second is only shown."""
    means = np.array([[0.1], [0.1], [0.1], [0.9], [0.9], [0.4], [0.05]])
    world = RealWorld("two", means, np.array([0, 0, 0, 1, 1, 1, 1]))
    labels = np.array([0, 0, 0, 1, 1, 1, 1])

    def wrong(which: list[int]) -> tuple[int, int]:
        chosen = np.where(np.isin(np.arange(7), which), labels, -1)
        outcome = SimpleNamespace(labels=chosen, question=0, certificate=None)
        drawn = world.draw(np.random.SeedSequence(1))
        return real._wrong(None, outcome, drawn)  # type: ignore[arg-type]

    assert wrong([0, 1, 2, 3, 4]) == (0, 0)
    assert wrong([0, 1, 2, 3, 4, 5]) == (0, 1)
    assert wrong([0, 1, 2, 3, 4, 5, 6]) == (1, 1)
