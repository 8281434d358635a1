"""A site over a store on either database, with a clock that tests can set."""

import pytest

from askfew.campaigns.store import Store
from web_site import Site


@pytest.fixture
def site(store: Store) -> Site:
    return Site(store)
