from typing import Any

import pytest

from askfew.campaigns import forecast as module
from askfew.campaigns.forecast import CrowdForecast, crowd_forecast
from askfew.campaigns.settings import Settings


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RUNS", 4)


def test_fewer_workers_are_needed_if_they_may_answer_again() -> None:
    once = crowd_forecast(Settings("once", method="frugal"), 10, 5)
    often = crowd_forecast(Settings("often", answers_per_worker_and_cell=5, method="frugal"), 10, 5)
    assert 1 <= once.typical_workers <= once.most_workers <= once.most_answers
    assert once.typical_answers == often.typical_answers
    assert often.typical_workers == -(-once.typical_workers // 5)
    assert "4 simulated campaigns, gap 0.6, 1 of 5 questions useful" in once.assumed


@pytest.mark.parametrize("answers", [{"scale": [1, 5]}, {"number": {"sigma": 2.0}}])
def test_every_kind_of_answer_is_simulated(answers: dict[str, object]) -> None:
    settings = Settings.from_dict(
        {"name": "x", "answers": answers, "max_answers": 500, "method": "frugal"}
    )
    assert crowd_forecast(settings, 6, 3).most_answers <= 500


def test_it_does_not_make_anybody_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SECONDS", 0.0)
    assert crowd_forecast(Settings("x", method="frugal"), 10, 5).assumed.startswith("1 simulated")


RULE_OPTIONS: list[dict[str, Any]] = [
    {},
    {"error": "share", "per_cell": 10},
    {"groups": "auto"},
    {"groups": [2, 3]},
    {"groups": 3, "anchors": {0: "a", 1: "b", 2: "c", 7: "a"}},
    {"anchors": {"p01": 0, "p07": 1}, "defining": [70]},
]


@pytest.mark.parametrize("options", RULE_OPTIONS, ids=str)
def test_a_rule_is_forecast_with_its_options(options: dict[str, Any]) -> None:
    """Options that name items or questions mean nothing in a simulated world."""
    settings = Settings("x", method="rule", max_answers=3000)
    object.__setattr__(settings, "options", options)  # names are not known before there are items
    made = crowd_forecast(settings, 24, 12)
    assert 0 < made.typical_answers <= made.most_answers <= 3000
    if "per_cell" in options:
        assert made.most_workers <= 10
    assert ("3 groups" in made.assumed) == (options.get("groups") == 3)


def test_campaigns_that_found_no_split_are_told() -> None:
    """Two questions, of which one is useful, cannot carry a rule."""
    made = crowd_forecast(Settings("x", method="rule"), 10, 2)
    assert made.assumed.endswith(" of them found no split")


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
    made = crowd_forecast(Settings("x", method="frugal"), 10, 5)
    assert len(made.runs) == 4
    assert all(0 < before < total for before, total in made.runs)
    assert CrowdForecast.from_json(made.to_json()) == made
    assert "runs" not in made.to_dict()
