"""The benchmark: all methods beside one another, from one seed."""

from __future__ import annotations

import numpy as np
import pytest

from askfew.experiments import bench
from askfew.experiments.bench import (
    METHODS,
    Case,
    Cell,
    SameGroupQueries,
    default_methods,
    floors,
    pairs,
    run_bench,
)
from askfew.simulation import Instance

SMALL = Case("small", Instance(8, 4, 2, 4.0))
WIDE = Case("wide", Instance(3000, 1000, 100, 4.0))


@pytest.fixture(autouse=True)
def _suites(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(bench.SUITES, "small", (SMALL,))
    monkeypatch.setitem(bench.SUITES, "wide", (WIDE,))


def measure(jobs: int = 1, methods: tuple[str, ...] = METHODS) -> dict[str, Cell]:
    cells = run_bench("small", delta=0.05, runs=5, seed=3, jobs=jobs, methods=methods)
    return {cell.method: cell for cell in cells}


def mean(cell: Cell) -> float:
    assert cell.summary.mean_answers is not None
    return cell.summary.mean_answers


def test_every_method_is_held_against_the_paper_s_and_the_one_told_the_gap() -> None:
    cells = measure()
    assert set(cells) == set(METHODS)
    for cell in cells.values():
        assert cell.to_paper == pytest.approx(mean(cell) / mean(cells["paper"]))
        assert cell.to_told_gap == pytest.approx(mean(cell) / mean(cells["told-gap"]))
    assert mean(cells["frugal"]) < mean(cells["paper"])


def test_without_a_yardstick_there_is_no_ratio() -> None:
    cell = measure(methods=("frugal",))["frugal"]
    assert (cell.to_paper, cell.to_told_gap) == (None, None)


def test_the_number_of_jobs_changes_nothing() -> None:
    one, two = measure(1, ("frugal", "kmeans10")), measure(2, ("frugal", "kmeans10"))
    assert {m: c.summary for m, c in one.items()} == {m: c.summary for m, c in two.items()}


def test_methods_that_ask_everything_are_left_out_where_that_is_too_much() -> None:
    assert [method for _, method in pairs("wide", METHODS)] == ["frugal", "told-gap", "paper"]
    assert [method for _, method in pairs("small", METHODS)] == list(METHODS)


THREE = Case("three", Instance(9, 8, 8, 0.9, noise="yes-no", groups=3))


def test_the_peers_run_beside_askfew_on_two_groups_and_on_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(bench.SUITES, "peers", (SMALL, THREE))
    methods = default_methods("peers")
    cells = run_bench("peers", delta=0.1, runs=2, seed=3, jobs=1, methods=methods)
    found = {(cell.case, cell.method): cell for cell in cells}
    assert {method for case, method in found if case == "small"} == set(methods)
    assert {method for case, method in found if case == "three"} == {*methods} - {"told-gap"}
    for cell in cells:
        assert mean(cell) > 0
    for case in (SMALL, THREE):  # whoever is told everything is cheapest, but for the floor
        told = mean(found[case.name, "told-levels"])
        assert all(told <= mean(cell) for cell in cells if cell.case == case.name)
        assert all(floor.answers > 0 for floor in floors(case, 0.1))


def test_the_suites_quick_and_full_compare_what_they_did() -> None:
    assert default_methods("quick") == default_methods("full") == METHODS


def test_a_same_group_query_is_as_reliable_as_an_answer_to_the_best_question() -> None:
    queries = SameGroupQueries(Instance(8, 40, 2, 0.7, noise="yes-no"))
    assert queries.right == pytest.approx(0.85)
    assert SameGroupQueries(Instance(8, 40, 2, 2.0)).right == pytest.approx(0.841, abs=1e-3)
    world = queries.draw(np.random.SeedSequence(1))
    assert (world.oracle.problem.items, world.oracle.problem.questions) == (8, 8)
