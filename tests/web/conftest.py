"""A site over a store on either database, with a clock that tests can set."""

import pytest

from askfew.campaigns import forecast
from askfew.campaigns.store import Store
from web_site import Site


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new campaign is forecast by few runs; ``tests/campaigns`` looks at what forecasts say."""
    monkeypatch.setattr(forecast, "RUNS", 2)


@pytest.fixture
def site(store: Store) -> Site:
    return Site(store)
