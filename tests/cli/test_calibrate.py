"""``askfew calibrate``: the observed error beside the promise."""

import json
from pathlib import Path

import pytest

from askfew.cli.calibrate import _verdict
from askfew.simulation import Run, RunSummary
from commands import Command, printed_by

SMALL = ["--items", "20", "--questions", "6", "--runs", "20", "--jobs", "1"]
RULE = ["--items", "40", "--questions", "12", "--runs", "4", "--jobs", "1", "--method", "rule"]


def test_calibrate_holds_the_share_of_wrong_labels_against_the_promise() -> None:
    more = ["--useful", "6", "--gap", "0.8", "--spread", "0.1", "--error", "share"]
    printed = " ".join(printed_by("calibrate", *RULE, *more).split())
    assert "0 of 4 had a wrong label; the mean share of wrong labels is 0.000%" in printed
    assert "of the items got a label" in printed
    report = json.loads(printed_by("calibrate", *RULE, *more, "--json"))
    assert (report["method"], report["wrong_share"]) == ("rule", 0)


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [
        ([0.0] * 1000, "The promise is kept, with room to spare."),
        ([0.0] * 10, "Consistent with the promise"),
        ([0.0, 0.1] * 500, "Consistent with the promise"),
        ([0.0, 0.4] * 500, "The promise is broken."),
    ],
)
def test_the_verdict_on_a_share(shares: list[float], verdict: str) -> None:
    runs = [Run("done", share == 0, 1, 1, wrong_share=share) for share in shares]
    assert verdict in _verdict(RunSummary.of(runs), 0.05, len(runs), shares)


def test_calibrate_takes_the_options_of_the_method() -> None:
    report = json.loads(printed_by("calibrate", *SMALL, "--audit", "40", "--json"))
    plain = json.loads(printed_by("calibrate", *SMALL, "--json"))
    assert report["mean_answers"] > plain["mean_answers"]
    assert report["errors"] == plain["errors"]


def test_calibrate_is_for_methods_that_promise(wide: Command) -> None:
    code, out, err = wide("calibrate", *SMALL, "--method", "spectral")
    assert (code, out) == (2, "")
    assert "'spectral', which spends a budget and promises nothing: use simulate" in err


def test_calibrate_compares_the_observed_error_with_the_promise(tmp_path: Path) -> None:
    figure = tmp_path / "histogram.png"
    printed = " ".join(printed_by("calibrate", *SMALL, "--figure", str(figure)).split())
    assert "promised: at most 5.00%" in printed
    assert "█" in printed
    assert figure.stat().st_size > 5_000


def test_calibrate_as_json_has_a_histogram_of_all_runs() -> None:
    report = json.loads(printed_by("calibrate", *SMALL, "--json"))
    assert sum(report["histogram"]["counts"]) == 20
    assert report["error_interval"][0] <= report["error_rate"] <= report["error_interval"][1]
