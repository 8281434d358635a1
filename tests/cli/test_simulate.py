import json
import subprocess
import sys
from typing import Any

import pytest

from askfew.algorithms import methods_with
from commands import Command, Said

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
    "decided",
    "wrong_share",
    "class_accuracy",
    "no_consensus",
    "unfinished",
    "mean_batches",
    "seconds",
}


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


def test_the_document_has_exactly_the_promised_keys(wide: Command) -> None:
    found = document(wide(*SIMULATE, "--json"))
    assert found.keys() == KEYS
    assert found["method"] == "paper"
    assert (found["runs"], found["seed"], found["delta"]) == (6, 3, 0.05)
    instance = {"items": 6, "questions": 5, "useful": 2, "gap": 5.0, "noise": "gaussian"}
    assert instance.items() <= found["instance"].items()
    assert found["errors"] == found["unfinished"] == found["no_consensus"] == 0
    assert found["decided"] == found["class_accuracy"] == 1
    assert found["wrong_share"] == 0
    low, high = found["error_interval"]
    assert 0 == low < high < 1
    assert found["q05_answers"] <= found["median_answers"] <= found["q95_answers"]


def test_same_seed_same_document_in_any_process_and_for_any_number_of_jobs(wide: Command) -> None:
    here = document(wide(*SIMULATE, "--json"))
    there = document(process(*SIMULATE, "--json", "--jobs", "2"))
    assert here.pop("seconds") > 0
    assert there.pop("seconds") > 0
    assert here == there


def test_capped_runs_are_unfinished_and_label_nothing(wide: Command) -> None:
    found = document(wide(*SIMULATE, "--json", "--max-answers", "50"))
    assert (found["unfinished"], found["errors"], found["decided"]) == (6, 0, 0)
    assert found["class_accuracy"] is None
    assert found["mean_answers"] is None
    assert 0 < found["mean_answers_all"] <= 50


@pytest.mark.parametrize("method", ["kmeans", "spectral"])
def test_budget_methods(wide: Command, method: str) -> None:
    found = document(wide(*SIMULATE, "--json", "--method", method, "--budget", "90"))
    assert found["mean_answers"] == 90
    assert found["errors"] <= 2


@pytest.mark.parametrize("noise", ["yes-no", "scale"])
def test_bounded_answers(wide: Command, noise: str) -> None:
    found = document(wide(*SIMULATE, "--json", "--noise", noise, "--gap", "0.9"))
    assert found["instance"]["noise"] == noise
    assert found["errors"] == 0


RULE = [
    *("simulate", "--jobs", "1", "--method", "rule", "--items", "40", "--questions", "12"),
    *("--useful", "6", "--gap", "0.8", "--noise", "yes-no", "--runs", "4", "--spread", "0.1"),
]


@pytest.mark.parametrize(
    "more",
    [
        "--error share --per-cell 12",
        "--anchors 3 --error share",
        "--groups 3 --useful 12 --anchors 4",
        "--look-for auto",
        "--look-for 2,3",
    ],
)
def test_a_rule_takes_its_options(wide: Command, more: str) -> None:
    found = document(wide(*RULE, "--json", *more.split()))
    assert found["instance"]["spread"] == 0.1
    assert found["errors"] == 0
    assert 0 <= found["decided"] <= 1
    assert found["unfinished"] == 0


def able(option: str) -> str:
    return ", ".join(methods_with(option)) or "none"


def test_the_options_reach_the_method(wide: Command) -> None:
    """A promise about every label costs more than one about a share of them."""
    any_, share = (
        document(wide(*RULE, "--json", "--error", error))["mean_answers"]
        for error in ("any", "share")
    )
    assert any_ > share


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ("--anchors 3", f"--anchors 3 needs a method that can ({able('anchors')}), got paper: "),
        ("--error share", f"--error share needs a method that can ({able('error')}), got paper: "),
        ("--per-cell 5", f"--per-cell 5 needs a method that can ({able('per_cell')}), got paper: "),
        (
            "--look-for auto",
            f"--look-for auto needs a method that can ({able('groups')}), got paper: ",
        ),
        ("--groups 3", f"--groups 3 needs a method that can ({able('groups')}), got paper: "),
        (
            "--tolerance 0.1",
            f"--tolerance 0.1 needs a method that can ({able('tolerance')}), got paper: ",
        ),
        ("--groups 5", "5 groups need at least 3 useful questions, so that every two"),
        ("--method rule --look-for few", "--look-for must be auto, or whole numbers with commas"),
        ("--method rule --look-for 1", "groups must be whole numbers from 2"),
        ("--method rule --anchors 4", "anchors of each group must be from 1 to the 3 items"),
        ("--method rule --per-cell 0", "per_cell, the most answers of any (item, question), must"),
        ("--method rule --error some", "error must be 'any' or 'share', got 'some'"),
        ("--groups 3 --balance 0.2", "balance is for two groups; more have equal sizes"),
        ("--spread -1", "spread, within a group, must be a number, at least 0"),
    ],
)
def test_options_that_cannot_be_are_one_sentence(wide: Command, bad: str, sentence: str) -> None:
    code, out, err = wide(*SIMULATE, "--json", *bad.split())
    assert (code, out) == (2, "")
    assert err.startswith(f"askfew: {sentence}")
    assert err.count("\n") == 1


def test_without_json_there_is_a_table(wide: Command) -> None:
    code, out, err = wide(*SIMULATE)
    assert (code, err) == (0, "")
    assert "answers, mean" in out
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
def test_bad_usage_is_one_sentence_and_exit_code_2(wide: Command, bad: str) -> None:
    code, out, err = wide(*SIMULATE, "--json", *bad.split())
    assert (code, out) == (2, "")
    assert err.startswith("askfew: ")
    assert err.count("\n") == 1


def test_bad_usage_found_by_another_process_says_the_same() -> None:
    code, out, err = process(*SIMULATE, "--method", "kmeans", "--budget", "5", "--jobs", "2")
    assert (code, out) == (2, "")
    assert err.startswith("askfew: budget must be at least 30")
    assert err.count("\n") == 1
