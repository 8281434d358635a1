"""``askfew plan``: the bill, its figure, and one sentence for what cannot be planned."""

import json
from pathlib import Path

import pytest

from askfew.rule import Rule
from commands import Command, printed_by

SMALL = ["--items", "20", "--questions", "6", "--runs", "20", "--jobs", "1"]


@pytest.fixture
def quick_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few campaigns for each point: these tests look at the file, not at the curves."""
    monkeypatch.setattr("askfew.cli.plan.CURVE_RUNS", 3)


@pytest.mark.usefixtures("quick_figure")
def test_plan_prints_a_bill_and_draws_it(tmp_path: Path) -> None:
    figure = tmp_path / "plan.png"
    printed = printed_by(
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
    bill = json.loads(printed_by("plan", *SMALL, "--gap", "0.8", "--price", "0.5", "--json"))
    assert bill["q90_money"] == pytest.approx(0.5 * bill["q90"])
    assert bill["by_phase"].keys() >= {"search", "label"}
    of_tokens = ("--tokens", "400:10", "--token-price", "0.15:0.60", "--questions-per-call", "3")
    bill = json.loads(printed_by("plan", *SMALL, "--gap", "0.8", *of_tokens, "--json"))
    assert bill["price"] == pytest.approx((400 * 0.15 + 10 * 0.6) / 3e6)


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ("--useful 50", "useful questions must be whole numbers from 1 to all 5, got 50: "),
        ("--useful 2:8", "useful questions must be whole numbers from 1 to all 5, got 2 to 8: "),
        ("--useful 0", "useful must be a positive number, or two with the lower first, got 0.0: "),
        ("--useful few", "useful must be a number, or two with a colon, got 'few': "),
        ("--share 0", "share must be a positive number"),
        ("--share 0.7", "the small group's share must be at most 0.5, got 0.7: "),
        ("--share 0.5:0.1", "share must be a positive number, or two with the lower first, got"),
        ("--gap 0.8:0.5", "gap must be a positive number, or two with the lower first, got 0.8"),
        ("--gap 1:2:3", "gap must be a number, or two with a colon, got '1:2:3': "),
        ("--gap 0.5:1.5", "a yes-no gap must lie between 0 and 1, got 1.5: "),
        ("--gap 2 --noise scale", "a gap of answers on a scale from 0 to 1 must be at most 1, got"),
        ("--tokens 400:10", "--tokens and --token-price must both be two numbers, of what goes"),
        ("--tokens 9 --token-price 1:2", "--tokens and --token-price must both be two numbers"),
        ("--noise gaussian --sigma 0", "sigma must be a positive number, from"),
        ("--items 2", "a plan needs at least 3 items, got 2: "),
        ("--questions 0", "questions must be a whole number, at least 1, got 0: "),
        ("--price -1", "price, per answer, must be at least 0, got -1.0: "),
        ("--price nan", "price, per answer, must be at least 0, got nan: "),
        ("--cap 0", "cap must be at least 1 answer, got 0: "),
        ("--delta 0", "delta, the allowed probability of any wrong label, must lie"),
        ("--repeats 0", "repeats must be at least 1, got 0: "),
        ("--runs 0", "runs must be at least 1, got 0: "),
        ("--anchors 2", "--anchors 2 needs a method that can (rule"),
        ("--method rule --groups 3 --share 0.3", "--share is for two groups; more have equal"),
        ("--method papper", "method must be one of frugal, rule, "),
    ],
)
def test_a_plan_that_cannot_be_is_one_sentence(bad: str, sentence: str, wide: Command) -> None:
    code, out, err = wide("plan", "--questions", "5", *bad.split())
    assert (code, out) == (2, "")
    assert err.startswith(f"askfew: {sentence}")
    assert err.count("\n") == 1


def test_fewer_questions_than_are_usually_useful_are_said(wide: Command) -> None:
    few = ["--items", "8", "--questions", "5", "--runs", "3", "--jobs", "1"]
    code, out, err = wide("plan", *few)
    assert code == 0
    assert "useful questions 2 to 5;" in out
    assert err.startswith("There are few questions: 2 to 5 of them, not 2 to 8, are taken to")
    code, out, err = wide("plan", *few, "--useful", "5")
    assert err == ""
    assert "90 %" not in out
    assert "3 simulated campaigns (too few to say" in " ".join(out.split())


RULE = ["--items", "40", "--questions", "12", "--runs", "4", "--jobs", "1", "--method", "rule"]


def test_plan_knows_the_rule() -> None:
    bill = json.loads(printed_by("plan", *RULE, "--gap", "0.8", "--error", "share", "--json"))
    assert bill["method"] == "rule"
    assert bill["unknown"]["spread"] == 0.14
    assert bill["unknown"]["useful"] == {"low": 4, "high": 8}
    assert bill["by_phase"].keys() <= {"learn", "certify"}
    assert bill["least"] is bill["least_money"] is None
    assert 0 <= bill["decided"] <= 1


@pytest.mark.usefixtures("quick_figure")
def test_plan_says_what_a_rule_leaves_open(tmp_path: Path) -> None:
    figure = tmp_path / "plan.png"
    more = ["--groups", "3", "--useful", "9", "--anchors", "3", "--gap", "0.8"]
    printed = " ".join(printed_by("plan", *RULE, *more, "--figure", str(figure)).split())
    assert "gap 0.8, 3 groups, useful questions 9, spread 0.14, 3 + 3 + 3 anchors;" in printed
    assert "of the items get a label" in printed
    assert "no method can do with less" not in printed
    assert figure.stat().st_size > 10_000


def test_plan_takes_a_rule_that_was_saved(tmp_path: Path) -> None:
    Rule.cut("wings", 0.5).save(tmp_path / "rule.json")
    asked = ("plan", *RULE, "--rule", str(tmp_path / "rule.json"), "--gap", "0.8", "--json")
    bill = json.loads(printed_by(*asked))
    assert bill["by_phase"].keys() == {"certify"}
    assert bill["told"]["rule"]["questions"] == ["wings"]
    assert bill["unknown"]["useful"] == {"low": 1, "high": 1}


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--defining", "13"], "must be from 0 to all 12, got 13"),
        (["--items", "0"], "items must be a whole number, at least 2, got 0"),
        (["--anchors", "20"], "anchors must leave some of the 40 items to be sorted, got 40"),
        (["--rule", "missing.json"], "a rule's file must be JSON, got missing.json"),
        (["--method", "frugal", "--defining", "1"], "--defining 1 needs a method that can (rule)"),
    ],
)
def test_what_cannot_be_told_is_one_sentence(wide: Command, more: list[str], sentence: str) -> None:
    code, out, err = wide("plan", *RULE, *more)
    assert (code, out) == (2, "")
    assert sentence in " ".join(err.split())
