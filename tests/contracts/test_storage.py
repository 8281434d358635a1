"""Both databases keep the storage contract, and storages that do not are caught."""

import pytest

from askfew.campaigns.db.database import Database
from askfew.campaigns.store import Store
from askfew.testing.storage import check_storage


def test_the_contract_is_kept(store_url: str) -> None:
    check_storage(lambda clock: Store(store_url, clock=clock))


def test_a_snapshot_that_moves_is_caught(
    fresh_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Database, "snapshot", Database.read)
    with pytest.raises(AssertionError, match="a snapshot must not move"):
        check_storage(lambda clock: Store(fresh_database, clock=clock))


def test_leases_that_last_for_ever_are_caught(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("askfew.campaigns.campaign.expire_leases", lambda *_: None)
    with pytest.raises(AssertionError, match="a lease that ran out must go to somebody else"):
        check_storage(lambda clock: Store(store_url, clock=clock))
