"""Processes and servers killed at any moment: no acknowledged answer is lost or counted twice."""

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import func, select

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.schema import slots
from askfew.campaigns.doctor.examine import examine_store
from askfew.campaigns.slots.states import SlotState
from askfew.campaigns.store import Store
from campaign_tools import answer_all, answers_of, frugal, log_of
from campaign_workers import PATIENCE, Crew
from postgres import PrivatePostgres

KILLS = 20
"""Of each kind here; ``benchmarks/kills.py`` kills hundreds."""
LEASE_SECONDS = 0.5


def new_campaign(store: Store, name: str) -> Campaign:
    return frugal(store, name=name, lease_seconds=LEASE_SECONDS)


def wait_for_the_end(campaigns: list[Campaign]) -> None:
    until = time.monotonic() + PATIENCE
    while any(campaign.state == "running" for campaign in campaigns):
        assert time.monotonic() < until, [campaign.state for campaign in campaigns]
        time.sleep(0.05)


def check(store: Store, crew: Crew, campaigns: list[Campaign]) -> None:
    """As if nothing had happened: the very log of one who was never interrupted."""
    alone = frugal(store, name="alone")
    answer_all(alone)
    kept = [row.id for campaign in campaigns for row in answers_of(campaign)]
    acknowledged = crew.acknowledged()
    assert len(acknowledged) > len(kept) / 2
    assert set(acknowledged) <= set(kept)
    for campaign in campaigns:
        assert log_of(campaign) == log_of(alone)
        assert campaign.outcome() == alone.outcome()
        counted = Counter((row.step, row.slot) for row in answers_of(campaign))
        assert set(counted.values()) == {1}
    assert examine_store(store.database).sound
    assert crew.errors() == []


def disturb(store: Store, crew: Crew, kill: Callable[[], None]) -> None:
    """Let the crew answer one campaign after another, until enough has been killed; then finish."""
    campaigns: list[Campaign] = []
    for number in range(KILLS):
        if not campaigns or campaigns[-1].state != "running":
            campaigns.append(new_campaign(store, f"campaign {number}"))
        crew.wait_for_answers(6, campaigns[-1])
        kill()
    wait_for_the_end(campaigns)
    crew.dismiss()
    check(store, crew, campaigns)


def test_killed_workers_leave_no_trace(store_url: str, tmp_path: Path) -> None:
    store = Store(store_url)
    crew = Crew(store_url, tmp_path, dawdle=0.004)
    crew.start(4)

    def kill() -> None:
        crew.kill_one()
        crew.start(1)

    disturb(store, crew, kill)
    store.close()


def test_server_crashes_leave_no_trace(
    postgres: PrivatePostgres, fresh_database: str, tmp_path: Path
) -> None:
    store = Store(fresh_database)
    crew = Crew(fresh_database, tmp_path, dawdle=0.004)
    crew.start(4)

    def kill() -> None:
        postgres.kill()
        postgres.start()

    disturb(store, crew, kill)
    store.close()


def test_twenty_processes_on_one_sqlite_file_five_killed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    store = Store(url)
    campaign = new_campaign(store, "twenty")
    crew = Crew(url, tmp_path, dawdle=0.001)
    crew.start(20)
    for _ in range(5):
        crew.wait_for_answers(20, campaign)
        crew.kill_one()
    wait_for_the_end([campaign])
    crew.dismiss()
    check(store, crew, [campaign])
    with store.database.read() as connection:
        leased = connection.execute(
            select(func.count()).where(slots.c.state == SlotState.LEASED.value)
        ).scalar_one()
    assert leased == 0
    store.close()
