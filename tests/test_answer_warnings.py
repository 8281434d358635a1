"""Warnings are data; their words are made in one place."""

import json
from dataclasses import asdict

import pytest

from askfew.answer_warnings import ALONE, REPEATS, AnswerWarning, read_warning, sentence

REPEATING = AnswerWarning(
    REPEATS, {"worker": "ann", "repeats": 1200, "differ": 0.003, "usual": 0.23}
)


@pytest.mark.parametrize(
    "warning", [REPEATING, AnswerWarning(ALONE, {"worker": "x", "repeats": 40, "differ": 0.0})]
)
def test_a_warning_survives_json(warning: AnswerWarning) -> None:
    assert read_warning(json.loads(json.dumps(asdict(warning)))) == warning
    assert not sentence(warning).startswith("warning ")


def test_the_sentence_has_the_numbers() -> None:
    said = sentence(REPEATING)
    assert "they differ in 0.3% (1,200 repeats), about two items of one group in 23%" in said


def test_what_repeats_do_depends_on_what_is_promised() -> None:
    by_rule = AnswerWarning(REPEATS, {**REPEATING.fields, "promise": "rule"})
    groups = AnswerWarning(REPEATS, {**REPEATING.fields, "promise": "groups"})
    assert sentence(groups) == sentence(REPEATING)  # of an older server
    assert sentence(groups).endswith("what is promised does not hold for them")
    assert "promised" not in sentence(by_rule)
    assert "they differ in 0.3% (1,200 repeats), about two items of one group in 23%" in sentence(
        by_rule
    )
    assert "this worker's opinion weighs more than others'" in sentence(by_rule)


@pytest.mark.parametrize("sent", ["a sentence of an older server", None, 3, [], {}, {"kind": 1}])
def test_what_is_no_warning_is_none(sent: object) -> None:
    assert read_warning(sent) is None


@pytest.mark.parametrize(
    "fields",
    [{}, {"worker": "ann"}, {"worker": "ann", "repeats": "x", "differ": [], "usual": 1}],
)
def test_a_warning_that_is_not_understood_is_still_shown(fields: dict[str, object]) -> None:
    assert sentence(AnswerWarning(REPEATS, fields)).startswith("warning repeats (")


def test_it_concerns_its_worker_or_everybody() -> None:
    assert REPEATING.concerns("ann")
    assert not REPEATING.concerns("bob")
    assert AnswerWarning("general", {}).concerns("bob")
