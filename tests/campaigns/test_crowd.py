import pytest

from askfew.campaigns import crowd
from askfew.campaigns.crowd import crowd_forecast
from askfew.campaigns.settings import Settings


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowd, "RUNS", 4)


def test_fewer_workers_are_needed_if_they_may_answer_again() -> None:
    once = crowd_forecast(Settings("once"), 10, 5)
    often = crowd_forecast(Settings("often", answers_per_worker_and_cell=5), 10, 5)
    assert 1 <= once.typical_workers <= once.most_workers <= once.most_answers
    assert once.typical_answers == often.typical_answers
    assert often.typical_workers == -(-once.typical_workers // 5)
    assert "4 simulated campaigns, gap 0.6, 1 of 5 questions useful" in once.assumed


@pytest.mark.parametrize("answers", [{"scale": [1, 5]}, {"number": {"sigma": 2.0}}])
def test_every_kind_of_answer_is_simulated(answers: dict[str, object]) -> None:
    settings = Settings.from_dict({"name": "x", "answers": answers, "max_answers": 500})
    assert crowd_forecast(settings, 6, 3).most_answers <= 500


def test_it_does_not_make_anybody_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowd, "_SECONDS", 0.0)
    assert crowd_forecast(Settings("x"), 10, 5).assumed.startswith("1 simulated")
