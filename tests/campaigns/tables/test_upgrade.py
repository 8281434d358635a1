"""A store of the first version is brought to the newest; nothing is lost."""

import hashlib

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import select, text, update

from askfew.campaigns.doctor.examine import examine_store
from askfew.campaigns.store import Store
from askfew.campaigns.tables import migrations
from askfew.campaigns.tables.database import Database
from askfew.campaigns.tables.schema import campaigns, steps
from askfew.errors import InvalidInput
from campaign_tools import answer_all, fixed_answer, frugal, log_of, sweep


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


def age(store: Store, *, broken: bool) -> None:
    """Make a store what version 0003 would have written: seals begin with nothing."""
    with store.database.write() as connection:
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
        assert '"claim": null, ' in recipe
        older = recipe.replace('"claim": null, ', "").rpartition(', "texts"')[0] + "}"
        connection.execute(update(campaigns).values(recipe=older))
        for table, column in (
            ("steps", "plans"),
            ("campaigns", "closing"),
            ("campaigns", "imported"),
            ("items", '"group"'),
            ("questions", "defines"),
        ):
            connection.execute(text(f"ALTER TABLE {table} DROP COLUMN {column}"))
        connection.execute(text("UPDATE alembic_version SET version_num = '0003'"))


@pytest.mark.parametrize("broken", [False, True])
def test_seals_of_an_older_store_are_written_anew(
    store: Store, store_url: str, broken: bool
) -> None:
    """Those that hold: what somebody changed by hand is still found afterwards."""
    alone = frugal(store, answers={"scale": [1, 5]})
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
