"""Where a campaign stands, while it searches and after."""

from pathlib import Path

import pytest

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.exchange.moving import export_campaign, import_campaign
from askfew.campaigns.forecast import CrowdForecast
from askfew.campaigns.reading.status import status_of
from askfew.campaigns.store import Store
from small_campaigns import ITEMS, QUESTIONS, answer, small_campaign, small_settings

pytestmark = pytest.mark.on_sqlite

FORECAST = CrowdForecast(7, 9, 120, 400, "three campaigns", ((30, 100), (40, 120), (50, 400)))


@pytest.fixture
def campaign(store: Store) -> Campaign:
    return store.create(small_settings(), ITEMS, QUESTIONS, forecast=FORECAST)


def until_labelling(campaign: Campaign) -> None:
    while status_of(campaign).phase != "label":
        answer(campaign, 1)


def test_while_it_searches_the_forecast_says_what_is_left(campaign: Campaign) -> None:
    status = status_of(campaign)
    assert (status.phase, status.expected, status.expected_by) == ("search", 120, "forecast")
    assert status.forecast is not None
    assert status.forecast.items() >= FORECAST.to_dict().items()
    assert status.forecast["text"][0].startswith("It will take about 120 answers (60.00)")
    answer(campaign, 5)
    assert status_of(campaign).expected == 115


def test_while_it_labels_the_method_itself_says_it(campaign: Campaign) -> None:
    until_labelling(campaign)
    before = status_of(campaign)
    assert before.expected_by == "method"
    assert before.expected is not None
    answer(campaign, 1)
    after = status_of(campaign)
    assert after.expected is not None
    if after.steps == before.steps:
        assert after.expected in (before.expected - 1, after.open + after.leased)
    answer(campaign, 10**6)
    ended = status_of(campaign)
    assert (ended.state, ended.expected, ended.expected_by) == ("ended", None, None)


def test_without_a_forecast_nothing_is_guessed(store: Store) -> None:
    status = status_of(small_campaign(store))
    assert (status.expected, status.expected_by, status.forecast) == (None, None, None)


def test_a_campaign_that_is_moved_takes_its_forecast_along(
    campaign: Campaign, tmp_path: Path
) -> None:
    export_campaign(campaign, tmp_path / "small.askfew")
    other = Store(f"sqlite:///{tmp_path}/other.db")
    moved = import_campaign(other, tmp_path / "small.askfew")
    kept = status_of(moved).forecast
    assert kept is not None
    assert kept.items() >= FORECAST.to_dict().items()
    other.close()


def test_reused_answers_are_named_with_their_campaign_and_workers(store: Store) -> None:
    old = small_campaign(store)
    answer(old, 20, workers=("ann", "bob"))
    new = store.create(small_settings("new"), ITEMS, QUESTIONS, reuse="small")
    new.ask("cleo")
    status = status_of(new)
    assert (status.reused, status.reused_answers) == ("small", status.answers)
    assert {worker.name: worker.reused > 0 for worker in status.workers} == {
        "ann": True,
        "bob": True,
        "cleo": False,
    }
    assert status_of(old).reused is None
