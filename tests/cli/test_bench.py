"""``askfew bench`` on a small suite."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from askfew.experiments import bench
from askfew.experiments.bench import Case
from askfew.simulation import Instance
from commands import command


@pytest.fixture(autouse=True)
def _suite(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = (Case("numbers", Instance(8, 40, 2, 4.0)), Case("more", Instance(9, 4, 2, 4.0)))
    monkeypatch.setitem(bench.SUITES, "quick", cases)


def test_a_table_for_each_instance_fits_a_terminal_and_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    run = command(tmp_path, monkeypatch, capfd, columns=80)
    code, out, err = run("bench", "--runs", 3, "--csv", "a.csv", "--figure", "a.png", "--jobs", 1)
    assert code == 0
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "…" not in out
    assert [line.strip() for line in lines if line.strip() in ("numbers", "more")] == [
        "numbers",
        "more",
    ]
    assert sum(line.startswith("frugal") for line in lines) == 2
    assert "suite quick, delta 0.05, seed 0, 3 runs" in err
    assert (tmp_path / "a.csv").exists()
    assert (tmp_path / "a.png").stat().st_size > 10_000


def test_json_has_every_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    run = command(tmp_path, monkeypatch, capfd)
    code, out, _ = run("bench", "--runs", 2, "--methods", "frugal,paper", "--json", "--jobs", 1)
    assert code == 0
    cells = json.loads(out)["cells"]
    assert [(cell["case"], cell["method"]) for cell in cells] == [
        (case, method) for case in ("numbers", "more") for method in ("frugal", "paper")
    ]


@pytest.mark.parametrize("wrong", [("--suite", "huge"), ("--methods", "frugal,magic")])
def test_unknown_names_are_answered_with_the_known_ones(
    wrong: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    code, out, err = command(tmp_path, monkeypatch, capfd)("bench", *wrong)
    assert (code, out) == (2, "")
    assert "must be one of" in err
