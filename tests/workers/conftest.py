"""Commands in an empty folder; a store there."""

from collections.abc import Iterator

import pytest

from askfew.campaigns.store import Store
from commands import Command

URL = "sqlite:///askfew.db"


@pytest.fixture
def store(askfew: Command) -> Iterator[Store]:
    opened = Store(URL)
    yield opened
    opened.close()
