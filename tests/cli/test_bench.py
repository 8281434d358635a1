"""``askfew bench`` on a small suite."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from askfew.experiments import bench
from askfew.experiments.bench import METHODS, Case
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
    with (tmp_path / "a.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["method"] for row in rows[:5]] == list(METHODS)
    assert float(rows[0]["mean_answers"]) > float(rows[-1]["mean_answers"])
    assert rows[-1]["method"] == "bound: untold"
    assert sum("bound: labels" in line for line in lines) == 2
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


def test_the_suite_real_on_a_folder_of_one_s_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    classes = np.arange(30) % 2
    means = np.where(classes[:, np.newaxis] == 1, 1.0, 0.0) * np.ones(5)
    np.savez(tmp_path / "plain.npz", means=means, y=classes)
    run = command(tmp_path, monkeypatch, capfd, columns=80)
    given = ("bench", "--suite", "real", "--data", tmp_path, "--seeds", 2, "--jobs", 1)
    code, out, err = run(*given, "--csv", "a.csv", "--figure", "a.png")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert "plain: 30 items, 5 questions, 2 classes" in out
    assert "suite real, delta 0.05, seed 0, 2 seeds" in err
    assert (tmp_path / "a.png").stat().st_size > 10_000
    with (tmp_path / "a.csv").open() as file:
        rows = {row["setting"]: row for row in csv.DictReader(file)}
    assert float(rows["3 anchors: rule"]["accuracy_decided"]) > 0.9
    (tmp_path / "plain.npz").unlink()
    code, _, err = run(*given)
    assert (code, "must be a folder of tables" in err) == (2, True)


@pytest.mark.parametrize(
    "wrong", [("--suite", "huge"), ("--methods", "frugal,magic"), ("--methods", "rule")]
)
def test_unknown_names_are_answered_with_the_known_ones(
    wrong: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    code, out, err = command(tmp_path, monkeypatch, capfd)("bench", *wrong)
    assert (code, out) == (2, "")
    assert "must be one of" in err
