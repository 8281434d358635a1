import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from askfew.cli import app

SMALL = ["--items", "20", "--questions", "6", "--runs", "20", "--jobs", "1"]


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_plan_prints_a_bill_and_draws_it(tmp_path: Path) -> None:
    figure = tmp_path / "plan.png"
    printed = run(
        "plan",
        *SMALL,
        "--gap",
        "0.9",
        "--useful",
        "3",
        "--share",
        "0.5",
        "--cap",
        "900",
        "--figure",
        str(figure),
    )
    assert "90 % stay under" in printed
    assert "hardest corner" in printed
    assert "Chance to stay under 900 answers" in printed
    assert figure.stat().st_size > 10_000


def test_plan_as_json_has_answers_and_money() -> None:
    bill = json.loads(run("plan", *SMALL, "--gap", "0.8", "--price", "0.5", "--json"))
    assert bill["q90_money"] == pytest.approx(0.5 * bill["q90"])
    assert bill["by_phase"].keys() >= {"search", "label"}


def test_calibrate_compares_the_observed_error_with_the_promise(tmp_path: Path) -> None:
    figure = tmp_path / "histogram.png"
    printed = run("calibrate", *SMALL, "--figure", str(figure))
    assert "promised: at most 5.00%" in printed
    assert "█" in printed
    assert figure.stat().st_size > 5_000


def test_calibrate_as_json_has_a_histogram_of_all_runs() -> None:
    report = json.loads(run("calibrate", *SMALL, "--json"))
    assert sum(report["histogram"]["counts"]) == 20
    assert report["error_interval"][0] <= report["error_rate"] <= report["error_interval"][1]
