"""A store of the first version is brought to the newest; nothing is lost."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import select, text, update

import commands
from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db import migrations
from askfew.campaigns.db.database import Database
from askfew.campaigns.db.queries.steps import unpack
from askfew.campaigns.db.schema import campaigns, steps
from askfew.campaigns.doctor.examine import examine_store
from askfew.campaigns.reading.status import status_of
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput, ReplayMismatch
from askfew.records import Snapshot
from askfew.web.access.tokens import hash_of
from campaign_tools import answer_all, answers_of, fixed_answer, frugal, log_of, sweep
from web_site import Site, document


def test_a_store_of_the_first_version_is_upgraded(store_url: str) -> None:
    database = Database(store_url)
    config = Config()
    config.set_main_option("script_location", str(migrations.__path__[0]))
    with database.write() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    database.close()
    with pytest.raises(InvalidInput, match="askfew store upgrade"):
        Store(store_url)
    assert Store.upgrade(store_url) == ("0001", migrations.latest_version())
    store = Store(store_url)
    assert answer_all(sweep(store)) == 6
    store.close()


def as_json(known: Snapshot) -> dict[str, Any]:
    arrays = {"labels": known.labels, "evidence": known.evidence}
    facts = {name: getattr(known, name) for name in ("phase", "threshold", "question", "expected")}
    return {**facts, **{key: a if a is None else a.tolist() for key, a in arrays.items()}}


def age(store: Store, *, broken: bool) -> None:
    """Make a store what version 0003 would have written: seals begin with nothing, and what was
    known is JSON.
    """
    with store.database.write() as connection:
        known = {
            step.number: json.dumps(as_json(unpack(step.known, step.phase)))
            for step in connection.execute(select(steps)).all()
            if step.known is not None
        }
        before = ""
        for step in connection.execute(select(steps).order_by(steps.c.number)).all():
            if step.closed is None:
                continue
            parts = (step.items, step.questions, step.repeats, step.counts, step.sums, step.squares)
            before = hashlib.sha256(before.encode() + b"".join(parts)).hexdigest()
            if broken and step.number == 1:
                before = "0" * 64
            here = update(steps).where(steps.c.number == step.number)
            connection.execute(here.values(seal=before))
        recipe = connection.execute(select(campaigns.c.recipe)).scalar_one()
        older, claims = re.subn('"claim": (null|[0-9]+), ', "", recipe)
        assert claims == 1
        older = older.rpartition(', "texts"')[0] + "}"
        connection.execute(update(campaigns).values(recipe=older))
        for table, column in (
            ("steps", "plans"),
            ("steps", "phase"),
            ("steps", "known"),
            ("campaigns", "closing"),
            ("campaigns", "imported"),
            ("items", '"group"'),
            ("questions", "defines"),
            ("campaigns", "names"),
        ):
            connection.execute(text(f"ALTER TABLE {table} DROP COLUMN {column}"))
        for table in ("links", "open_links", "flags", "gold", "invitations", "calls"):
            connection.execute(text(f"DROP TABLE {table}"))
        number, times = "INTEGER NOT NULL", "DOUBLE PRECISION"
        connection.execute(
            text(
                f"CREATE TABLE invitations (campaign {number} REFERENCES campaigns (id), worker"
                f" VARCHAR(200) NOT NULL, hash VARCHAR(64) NOT NULL UNIQUE, created {times},"
                f" expires {times}, revoked {times}, PRIMARY KEY (campaign, worker))"
            )
        )
        first = connection.execute(select(campaigns.c.id)).scalars().first()
        invited = {"campaign": first, "hash": hash_of("old"), "expires": 1e10}
        connection.execute(
            text("INSERT INTO invitations VALUES (:campaign, 'ann', :hash, 0, :expires, NULL)"),
            invited,
        )
        connection.execute(text("ALTER TABLE steps ADD COLUMN known TEXT"))
        for step_number, snapshot in known.items():
            connection.execute(
                text("UPDATE steps SET known = :known WHERE number = :number"),
                {"known": snapshot, "number": step_number},
            )
        connection.execute(text("UPDATE alembic_version SET version_num = '0003'"))


@pytest.mark.parametrize("broken", [False, True])
def test_seals_of_an_older_store_are_written_anew(
    store: Store, store_url: str, broken: bool
) -> None:
    """Those that hold: what somebody changed by hand is still found afterwards."""
    budget: dict[str, Any] = {"method": "adaptive-kmeans", "options": {"budget": 100}}
    alone = frugal(store, answers={"scale": [1, 5]}, **budget)
    for _ in range(3):
        for asked in alone.ask("ann", 1000):
            alone.tell(asked.id, 1 + 4 * fixed_answer(asked))
    sealed = [row[-1] for row in log_of(alone)]
    age(store, broken=broken)
    store.close()
    Store.upgrade(store_url)
    again = Store(store_url)
    campaign = again.campaign("frugal")
    (verdict,) = examine_store(again.database).campaigns
    assert verdict.sound != broken
    if broken:
        assert "step 1 of the log must be as it was recorded" in verdict.problems[0]
    else:
        assert [row[-1] for row in log_of(campaign)] != sealed  # the recipe was another one
        answer_all(campaign, answer=lambda asked: 1 + 4 * fixed_answer(asked))
        assert campaign.state == "ended"
    again.close()


@pytest.fixture
def begun_earlier(store: Store, store_url: str) -> Store:
    """A campaign of the method frugal as version 0.1 left it, without plans: half way, upgraded."""
    campaign = frugal(store)
    for _ in range(3):
        answer_open(campaign)
    before = known_of(store)
    assert before
    age(store, broken=False)
    store.close()
    Store.upgrade(store_url)
    upgraded = Store(store_url)
    assert known_of(upgraded) == before
    return upgraded


def known_of(store: Store) -> list[Any]:
    """What the method knew before every step."""
    with store.database.read() as connection:
        rows = connection.execute(select(steps.c.phase, steps.c.known).order_by(steps.c.number))
        return [as_json(unpack(row.known, row.phase)) for row in rows]


def answer_open(campaign: Campaign) -> None:
    for asked in campaign.ask("ann", 1000):
        campaign.tell(asked.id, fixed_answer(asked))


SENTENCE = (
    "step 4 must go on with the claim version it began with (none), got 1: run it with those"
    " versions, or begin a new campaign on the answers already paid for: 'askfew create DIR --reuse"
    " frugal'"
)


def test_a_campaign_of_an_earlier_method_says_what_to_do(begun_earlier: Store) -> None:
    campaign = begun_earlier.campaign("frugal")
    with pytest.raises(ReplayMismatch) as refused:
        answer_open(campaign)
    assert str(refused.value).startswith("campaign 'frugal', written with askfew ")
    assert str(refused.value).endswith(SENTENCE)
    assert status_of(campaign).answers == len(answers_of(campaign)) > 0  # they are kept
    (verdict,) = examine_store(begun_earlier.database).campaigns
    assert "claim version it began with (none)" in verdict.problems[0]
    again = frugal(begun_earlier, name="again", reuse="frugal")
    answer_all(again)
    assert again.state == "ended"
    begun_earlier.close()


def test_and_so_does_a_command(
    begun_earlier: Store,
    store_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    askfew = commands.command(tmp_path, monkeypatch, capfd, columns=2000)
    begun_earlier.close()
    code, _, err = askfew("work", "simulate", "frugal", "--store", store_url)
    assert code == 1
    assert err.strip().endswith(SENTENCE)
    code, out, _ = askfew("status", "frugal", "--store", store_url)
    assert code == 0
    assert "running" in out


def test_and_so_do_the_pages(begun_earlier: Store) -> None:
    site = Site(begun_earlier)
    campaign = begun_earlier.campaign("frugal")
    with pytest.raises(ReplayMismatch):
        answer_open(campaign)
    asked = site.worker(campaign, "eve").post("/api/v1/campaigns/frugal/ask", json={"n": 1})
    assert document(asked, 409)["detail"].endswith(SENTENCE)
    dashboard = site.owner.get("/campaigns/frugal")
    assert "does not go on with this one" in dashboard.text
    assert frugal(begun_earlier, name="new").state == "running"
    assert "does not go on" not in site.owner.get("/campaigns/new").text
    begun_earlier.close()
