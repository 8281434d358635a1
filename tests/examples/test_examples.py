"""The examples run as they stand."""

import csv
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*arguments: str, cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_function_of_one_s_own(tmp_path: Path) -> None:
    printed = run(str(ROOT / "examples" / "own_function.py"), cwd=tmp_path)
    assert "['otter', 'heron', 'badger', 'newt', 'vole']" in printed


def test_ask_and_tell_goes_on_after_a_stop(tmp_path: Path) -> None:
    script = str(ROOT / "examples" / "ask_and_tell.py")
    first = run(script, cwd=tmp_path)
    assert "groups of 6 and 6 items" in first
    again = run(script, cwd=tmp_path)
    assert again == first


OWN = ["own_method", "own_oracle", "own_worker"]
ASKFEW = ["-W", "error", "-m", "askfew"]


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the examples in it, as a package that is installed with its entry points."""
    for name in OWN:
        shutil.copy(ROOT / "examples" / f"{name}.py", tmp_path)
    about = tmp_path / "stranger-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[askfew.methods]\nsweep = own_method:sweep\n"
        "[askfew.oracles]\ntired = own_oracle:tired_crowd\n"
        "[askfew.workers]\neven-or-odd = own_worker:answer\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", OWN)
def test_an_extension_takes_less_than_forty_lines(name: str) -> None:
    assert len((ROOT / "examples" / f"{name}.py").read_text().splitlines()) < 40


def test_methods_and_oracles_of_a_stranger_by_both_names_in_two_processes(stranger: Path) -> None:
    methods = "own_method:sweep,sweep,frugal"
    out = run(
        *(*ASKFEW, "simulate", "--method", methods, "--oracle", "tired", "--budget", "900"),
        *("--runs", "4", "--jobs", "2", "--csv", "runs.csv", "--json"),
        cwd=stranger,
    )
    found = json.loads(out)
    assert found["instance"] == {"oracle": "tired"}
    by_module, by_name, frugal = found["methods"]
    assert by_module["mean_answers"] == by_name["mean_answers"] == 900
    assert by_name["errors"] == frugal["errors"] == 0
    with (stranger / "runs.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["method"] for row in rows] == [m for m in methods.split(",") for _ in range(4)]
    of_frugal = [int(row["answers"]) for row in rows if row["method"] == "frugal"]
    assert sum(of_frugal) / 4 == frugal["mean_answers"]
    again = run(
        *(*ASKFEW, "simulate", "--oracle", "own_oracle:tired_crowd", "--runs", "4"),
        *("--jobs", "1", "--json"),
        cwd=stranger,
    )
    assert json.loads(again)["mean_answers"] == frugal["mean_answers"]


def test_a_worker_of_a_stranger_by_its_installed_name(stranger: Path) -> None:
    folder = stranger / "parity"
    folder.mkdir()
    (folder / "campaign.toml").write_text(
        '[campaign]\nname = "parity"\nmethod = "frugal"\nseed = 1\n'
        "answers_per_worker_and_cell = 1000\n"
    )
    items = "".join(f"item {number},\n" for number in range(8))
    (folder / "items.csv").write_text(f"id,text\n{items}")
    (folder / "questions.csv").write_text("id,text\neven,Is it even?\nred,Is it red?\n")
    run(*ASKFEW, "create", "parity", cwd=stranger)
    run(*ASKFEW, "work", "python", "parity", "even-or-odd", cwd=stranger)
    said = json.loads(run(*ASKFEW, "result", "parity", "--json", cwd=stranger))
    assert said["status"] == "done"
    assert [each["group"] for each in said["items"]] == [0, 1] * 4
