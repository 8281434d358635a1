"""Connections that are kept at hand, shared by threads; and the clock of a store."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from sqlalchemy import PoolProxiedConnection, literal, select

from askfew.campaigns.db.database import Database
from askfew.campaigns.store import Store
from campaign_tools import sweep

ONE = select(literal(1))


class Contended(list[PoolProxiedConnection]):
    """As it looks to a thread while another takes the last one."""

    def __bool__(self) -> bool:
        return True


def test_connections_are_given_back_though_other_threads_take_them(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'store.db'}")
    assert database.fetch_one(ONE, {}) == (1,)
    database.raw._kept = Contended(database.raw._kept)
    database.close()
    assert len(database.raw._kept) == 0
    assert database.fetch_one(ONE, {}) == (1,)
    database.close()


_ASK_FROM_ELSEWHERE = """
import sys, time
real, ahead = time.time, float(sys.argv[2])
time.time = lambda: real() + ahead
from askfew.campaigns.store import Store
store = Store(sys.argv[1])
print(len(store.campaign("sweep").ask("elsewhere", 100)))
"""


@pytest.mark.parametrize("ahead", [3600, -3600])
def test_a_machine_whose_clock_is_wrong_holds_its_leases_as_long_as_others(
    fresh_database: str, ahead: float
) -> None:
    later = 0.0
    database = Database(fresh_database)
    store = Store(fresh_database, clock=lambda: database.now() + later)
    campaign = sweep(store, lease_seconds=600)
    command = [sys.executable, "-c", _ASK_FROM_ELSEWHERE, fresh_database, str(ahead)]
    asked = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert asked.stdout == "6\n"
    assert campaign.ask("here", 100) == []
    later = 500.0  # still not before they run out ...
    assert campaign.ask("here", 100) == []
    later = 600.0  # ... and then at once
    assert len(campaign.ask("here", 100)) == 6
    store.close()
    database.close()


def test_the_store_s_clock_is_the_server_s(fresh_database: str, tmp_path: Path) -> None:
    for url in (fresh_database, f"sqlite:///{tmp_path / 'store.db'}"):
        database = Database(url)
        assert abs(database.now() - time.time()) < 5  # the same machine
        earlier = database.now()
        assert database.now() >= earlier
        database.close()
