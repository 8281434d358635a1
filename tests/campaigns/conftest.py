"""Stores on both databases, and a clock that tests can set."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from askfew.campaigns.store import Store
from campaign_tools import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of either kind."""
    if request.param == "postgresql":
        return str(request.getfixturevalue("fresh_database"))
    return f"sqlite:///{tmp_path / 'store.db'}"


@pytest.fixture
def store(store_url: str, clock: Clock) -> Iterator[Store]:
    """A store of either kind, with the tests' own clock."""
    opened = Store(store_url, clock=clock)
    yield opened
    opened.close()
