from dataclasses import replace
from typing import Any

import pytest

from askfew.campaigns import forecast as module
from askfew.campaigns.forecast import CrowdForecast, Remedy, Sizes, crowd_forecast
from askfew.campaigns.forecast_words import forecast_sentences, upper_words
from askfew.campaigns.settings import Settings
from askfew.planning import Range
from askfew.rule import Node, Rule


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RUNS", 4)


def test_fewer_workers_are_needed_if_they_may_answer_again() -> None:
    once = crowd_forecast(Settings("once", method="frugal"), Sizes(10, 5))
    often = crowd_forecast(
        Settings("often", answers_per_worker_and_cell=5, method="frugal"), Sizes(10, 5)
    )
    assert 1 <= once.typical_workers <= once.most_workers <= once.most_answers
    assert once.typical_answers == often.typical_answers
    assert often.typical_workers == -(-once.typical_workers // 5)
    assert once.simulated == 4
    assert once.assumed.startswith("gap 0.5 to 0.8, smaller group 0.1 to 0.5 of the items, 2 to 5")


@pytest.mark.parametrize("answers", [{"scale": [1, 5]}, {"number": {"sigma": 2.0}}])
def test_every_kind_of_answer_is_simulated(answers: dict[str, object]) -> None:
    settings = Settings.from_dict({"name": "x", "answers": answers, "method": "frugal"})
    assert crowd_forecast(settings, Sizes(6, 3)).finished == 4


def test_it_does_not_make_anybody_wait() -> None:
    assert crowd_forecast(Settings("x", method="frugal"), Sizes(10, 5), seconds=0.0).simulated == 1


RULE_SETTINGS: list[tuple[dict[str, Any], Sizes]] = [
    ({}, Sizes(24, 12)),
    ({"error": "share", "per_cell": 10}, Sizes(24, 12)),
    ({"groups": "auto"}, Sizes(24, 12)),
    ({"groups": [2, 3]}, Sizes(24, 12)),
    ({"groups": 3}, Sizes(24, 12, anchors=(2, 1, 1))),
    ({"groups": "auto"}, Sizes(24, 12, anchors=(5, 3))),
    ({}, Sizes(24, 12, anchors=(20, 1))),  # more than some worlds have
    ({}, Sizes(24, 12, defining=1)),
    ({}, Sizes(24, 12, anchors=(1, 1), defining=5)),
]


@pytest.mark.parametrize(("changed", "sizes"), RULE_SETTINGS, ids=str)
def test_a_rule_is_forecast_as_it_will_be_run(changed: dict[str, Any], sizes: Sizes) -> None:
    made = crowd_forecast(Settings("x", method="rule", **changed), sizes)
    assert 0 < made.typical_answers <= made.most_answers
    if "per_cell" in changed:
        assert made.most_workers <= 10
    assert ("3 groups" in made.assumed) == (changed.get("groups") == 3)
    assert ("anchors" in made.assumed) == bool(sizes.anchors)
    assert ("the split" in made.assumed) == bool(sizes.defining)


def test_what_is_told_makes_it_cheaper() -> None:
    settings = Settings("x", error="share")
    nothing, anchors, defining = (
        crowd_forecast(settings, sizes, SAID, seconds=9.0).typical_answers
        for sizes in (Sizes(60, 15), Sizes(60, 15, (4, 4)), Sizes(60, 15, (4, 4), 4))
    )
    assert defining < anchors < nothing


def test_a_rule_that_was_brought_needs_no_pilot() -> None:
    """And its own levels say how far the groups differ."""
    root = Node((0, 1), (1.0, -1.0), (0.5, 0.5), (0,), (1,), levels=(-0.4, 0.4))
    settings = Settings("x", rule=Rule(("wings", "fur"), root), error="share")
    made = crowd_forecast(settings, Sizes(60, 15))
    assert made.assumed.startswith("gap 0.8, items of a group that differ by 0.14 of it")
    assert "2 of 15 questions useful, a given rule of 2 questions" in made.assumed
    assert 60 <= made.typical_answers < 60 * 15
    assert made.finished == made.simulated == 4
    told = crowd_forecast(settings, Sizes(60, 15), {"gap": Range(0.3, 0.3)})
    assert told.typical_answers > made.typical_answers


def test_a_rule_that_asks_one_question_twice_is_forecast_too() -> None:
    """Three groups by two cuts of a scale."""
    above = Node((0,), (1.0,), (5.0,), (1,), (2,))
    rule = Rule(("how much",), Node((0,), (1.0,), (3.0,), (0,), above), ("low", "middle", "high"))
    settings = Settings.from_dict({"name": "x", "answers": {"scale": [1, 7]}, "rule": rule})
    made = crowd_forecast(settings, Sizes(30, 1, anchors=(2,)), {"gap": Range(2, 2)})
    assert made.finished == made.simulated


def test_campaigns_that_found_no_split_are_told() -> None:
    """Two questions, of which one is useful, cannot carry a rule."""
    made = crowd_forecast(Settings("x", method="rule"), Sizes(10, 2))
    assert made.assumed.endswith("4 of 4 found no split")


SAID = {"gap": Range(0.84, 0.84), "share": Range(0.5, 0.5), "useful": Range(4, 4)}


def test_people_who_can_finish_are_told_how_much_falls_to_each() -> None:
    settings = Settings("x", people=12, error="share", max_answers=900, price=0.5)
    made = crowd_forecast(settings, Sizes(30, 10), SAID)
    verdict, cap, assumed = forecast_sentences(made, settings)
    assert made.enough_people
    assert made.most_workers <= 12
    each = -(-made.typical_answers // 12)
    assert f"12 people can finish this: about {made.typical_answers:,} answers" in verdict
    assert f"{each} each." in verdict
    assert "the most expensive of 4 simulated campaigns" in verdict  # four are too few for a tenth
    assert f"too low: {made.within_cap} of 4 simulated campaigns finished within it" in cap
    assert assumed.startswith("Simulated: 4 campaigns, gap 0.84")


@pytest.mark.parametrize(("within", "low"), [(0, "is"), (5, "may be"), (17, "may be"), (18, "")])
def test_a_cap_below_the_forecast_says_the_chance_to_finish(within: int, low: str) -> None:
    runs = ((1, 900),) * 20
    made = CrowdForecast(9, 9, 900, 1000, "", runs, finished=20, within_cap=within, people=9)
    said = " ".join(forecast_sentences(made, Settings("x", people=9, max_answers=700)))
    cap = f"The cap of 700 answers {low} too low: {within} of 20 simulated campaigns finished"
    assert (cap in said) == bool(low)
    assert ("too low" in said) == bool(low)


def test_gold_questions_come_on_top() -> None:
    made = CrowdForecast(12, 12, 900, 1000, "", ((1, 900),) * 20, finished=20, people=12)
    said = forecast_sentences(made, Settings("x", people=12, gold=0.1, price=0.5))
    assert said[-1].endswith("Gold questions come on top: about 100 answers (50.00).")


def test_too_few_people_are_told_what_would_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FEW_RUNS", 3)
    settings = Settings("x", people=4)
    made = crowd_forecast(settings, Sizes(30, 10), SAID)
    assert not made.enough_people
    kinds = {each.kind: each for each in made.remedies}
    assert kinds["people"].number in (6, 9, 14, 21)
    verdict, ways, _ = forecast_sentences(made, settings)
    assert verdict.startswith("4 people can")
    assert "finish this: 0 of 4 simulated" in verdict
    assert f"{kinds['people'].number} people (3 of 3 finished)" in ways
    assert CrowdForecast.from_json(made.to_json()) == made


def test_two_models_hear_that_their_repeats_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FEW_RUNS", 3)
    settings = Settings("x", people=2)
    said = {"gap": Range(0.8, 0.8), "share": Range(0.5, 0.5), "useful": Range(10, 10)}
    made = crowd_forecast(settings, Sizes(60, 12), said, seconds=0.2)
    assert [each for each in made.remedies if each.kind == "same"] == [Remedy("same", 0, 3, 3)]
    words = 'for language models, which repeat themselves, repeats = "same" (3 of 3 finished)'
    assert words in " ".join(forecast_sentences(made, settings))
    same = replace(settings, repeats="same")
    enough = crowd_forecast(same, Sizes(60, 12), said, seconds=0.2)
    assert enough.enough_people
    assert forecast_sentences(enough, same)[0].startswith("2 workers can finish this: ")


def test_who_marks_a_question_hears_how_many_more_to_mark() -> None:
    """Only questions that define the split are asked then. Eight of ten campaigns are enough."""
    settings = Settings("x", people=8, error="share")
    known = {"gap": SAID["gap"], "share": SAID["share"]}
    made = crowd_forecast(settings, Sizes(30, 10, defining=1), known)
    assert [each.kind for each in made.remedies] == ["defining", "people"]
    assert all(each.simulated == 10 and each.finished >= 8 for each in made.remedies)
    assert made.remedies[0] == Remedy("defining", 2, 8, 10)
    ways = forecast_sentences(made, settings)[1]
    assert ways.startswith(
        "What would be enough: 2 more questions that define the split (8 of 10 finish"
    )


@pytest.mark.parametrize(
    ("finished", "able"),
    [(0, "cannot"), (9, "can hardly"), (10, "may not"), (15, "may not"), (16, "can")],
)
def test_the_verdict_is_as_sure_as_the_simulated_campaigns(finished: int, able: str) -> None:
    made = CrowdForecast(9, 9, 900, 1000, "", ((1, 900),) * 20, finished=finished, people=9)
    assert forecast_sentences(made, Settings("x", people=9))[0].startswith(
        f"9 people {able} finish this: "
    )


def test_nothing_is_said_to_have_been_tried_where_nobody_said_how_many_people() -> None:
    made = CrowdForecast(2, 2, 900, 1000, "", ((1, 900),) * 20, finished=10)
    _, often, _ = forecast_sentences(made, Settings("x"))
    assert often.startswith("Only 10 of 20 certified at least 90 % of the items. More items")


def test_where_nothing_would_do_it_is_said() -> None:
    made = CrowdForecast(2, 2, 900, 1000, "", ((1, 900),) * 20, finished=0, people=2)
    _, none, _ = forecast_sentences(made, Settings("x", people=2))
    assert "More people or questions would not be enough" in none


def test_nine_in_ten_is_said_of_twenty_campaigns_only() -> None:
    assert "nine in ten" in upper_words(20)
    assert "nine in ten" not in upper_words(19)


def forecast(*runs: tuple[int, int]) -> CrowdForecast:
    return CrowdForecast(1, 1, 1, 1, "", runs)


def test_what_is_left_is_what_was_left_where_the_search_went_on_as_long() -> None:
    made = forecast((10, 100), (20, 120), (40, 400))
    assert made.left(0) == 120
    assert made.left(15) == (120 + 400) // 2 - 15
    assert made.left(30) == 370


def test_a_search_beyond_the_forecast_makes_the_rest_longer_too() -> None:
    made = forecast((10, 100), (20, 120))
    assert made.left(100) == 100 * (9 + 5) / 2
    assert made.left(200) == 2 * 700


def test_who_never_foresees_the_end_and_passes_the_forecast_is_not_guessed_about() -> None:
    assert forecast((50, 50), (60, 60)).left(55) == 5
    assert forecast((50, 50), (60, 60)).left(60) is None
    assert forecast().left(0) is None


def test_a_forecast_survives_being_kept() -> None:
    made = crowd_forecast(Settings("x", method="frugal"), Sizes(10, 5))
    assert len(made.runs) == 4
    assert all(0 < before < total for before, total in made.runs)
    assert CrowdForecast.from_json(made.to_json()) == made
    assert "runs" not in made.to_dict()
