"""The benchmark: all methods beside one another, from one seed."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from askfew.experiments import bench
from askfew.experiments.bench import METHODS, Case, Cell, pairs, run_bench, write_csv
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


def test_the_table_has_a_row_a_cell(tmp_path: Path) -> None:
    cells = measure(methods=("frugal", "told-gap"))
    write_csv(list(cells.values()), tmp_path / "bench.csv")
    with (tmp_path / "bench.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["method"] for row in rows] == ["frugal", "told-gap"]
    assert float(rows[0]["mean_answers"]) == mean(cells["frugal"])
    assert float(rows[0]["error_high"]) == cells["frugal"].summary.error_interval[1]
