import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from commands import Command, Said, command

SIMULATE = [
    *(
        "simulate",
        "--jobs",
        "1",
        "--method",
        "paper",
        "--items",
        "6",
        "--questions",
        "5",
        "--useful",
        "2",
    ),
    *("--gap", "5", "--runs", "6", "--seed", "3"),
]

KEYS = {
    "method",
    "instance",
    "delta",
    "runs",
    "seed",
    "mean_answers",
    "mean_answers_all",
    "median_answers",
    "q05_answers",
    "q95_answers",
    "max_answers_seen",
    "errors",
    "error_rate",
    "error_interval",
    "unfinished",
    "mean_batches",
    "seconds",
}


@pytest.fixture
def askfew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    """The command as a terminal would run it: exit code, standard output and error."""
    return command(tmp_path, monkeypatch, capfd)


def process(*arguments: str) -> Said:
    """The same in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "from askfew.cli import main; main()", *arguments],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def document(said: Said) -> dict[str, Any]:
    code, out, err = said
    assert (code, err) == (0, "")
    read: dict[str, Any] = json.loads(out)
    return read


def test_the_document_has_exactly_the_promised_keys(askfew: Command) -> None:
    found = document(askfew(*SIMULATE, "--json"))
    assert found.keys() == KEYS
    assert found["method"] == "paper"
    assert (found["runs"], found["seed"], found["delta"]) == (6, 3, 0.05)
    instance = {"items": 6, "questions": 5, "useful": 2, "gap": 5.0, "noise": "gaussian"}
    assert instance.items() <= found["instance"].items()
    assert found["errors"] == found["unfinished"] == 0
    low, high = found["error_interval"]
    assert 0 == low < high < 1
    assert found["q05_answers"] <= found["median_answers"] <= found["q95_answers"]


def test_same_seed_same_document_in_any_process_and_for_any_number_of_jobs(askfew: Command) -> None:
    here = document(askfew(*SIMULATE, "--json"))
    there = document(process(*SIMULATE, "--json", "--jobs", "2"))
    assert here.pop("seconds") > 0
    assert there.pop("seconds") > 0
    assert here == there


def test_capped_runs_are_unfinished_and_errors(askfew: Command) -> None:
    found = document(askfew(*SIMULATE, "--json", "--max-answers", "50"))
    assert found["unfinished"] == found["errors"] == 6
    assert found["error_rate"] == 1.0
    assert found["mean_answers"] is None
    assert 0 < found["mean_answers_all"] <= 50


@pytest.mark.parametrize("method", ["kmeans", "spectral"])
def test_budget_methods(askfew: Command, method: str) -> None:
    found = document(askfew(*SIMULATE, "--json", "--method", method, "--budget", "90"))
    assert found["mean_answers"] == 90
    assert found["errors"] <= 2


@pytest.mark.parametrize("noise", ["yes-no", "scale"])
def test_bounded_answers(askfew: Command, noise: str) -> None:
    found = document(askfew(*SIMULATE, "--json", "--noise", noise, "--gap", "0.9"))
    assert found["instance"]["noise"] == noise
    assert found["errors"] == 0


def test_without_json_there_is_a_table(askfew: Command) -> None:
    code, out, err = askfew(*SIMULATE)
    assert (code, err) == (0, "")
    assert "mean answers" in out
    assert "95 % interval" in out


BAD = [
    "--delta 0",
    "--delta 1",
    "--delta -1",
    "--delta nan",
    "--delta x",
    "--items 1",
    "--items 2.5",
    "--items -4",
    "--questions 0",
    "--useful 0",
    "--useful 9",
    "--gap nan",
    "--gap -1",
    "--gap 3 --noise yes-no",
    "--noise purple",
    "--sigma 0",
    "--balance 1",
    "--method papper",
    "--method kmeans",
    "--method kmeans --budget 5",
    "--budget 100",
    "--runs 0",
    "--runs x",
    "--jobs 0",
    "--seed -1",
    "--max-answers -1",
    "--flavour 3",
]


@pytest.mark.parametrize("bad", BAD)
def test_bad_usage_is_one_sentence_and_exit_code_2(askfew: Command, bad: str) -> None:
    code, out, err = askfew(*SIMULATE, "--json", *bad.split())
    assert (code, out) == (2, "")
    assert err.startswith("askfew: ")
    assert err.count("\n") == 1


def test_bad_usage_found_by_another_process_says_the_same() -> None:
    code, out, err = process(*SIMULATE, "--method", "kmeans", "--budget", "5", "--jobs", "2")
    assert (code, out) == (2, "")
    assert err.startswith("askfew: budget must be at least 30")
    assert err.count("\n") == 1
