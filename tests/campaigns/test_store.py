"""A store: its tables, its versions, campaigns by name. On both databases."""

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import func, select, text

from askfew.campaigns.db import migrations
from askfew.campaigns.db.database import Database
from askfew.campaigns.db.schema import campaigns, images, items, metadata
from askfew.campaigns.doctor.examine import examine_store
from askfew.campaigns.reading.report import report_html
from askfew.campaigns.reading.results import result_of
from askfew.campaigns.records import Item
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput, StoreUnreachable
from campaign_tools import answer_all, frugal, questions, sweep
from campaign_tools import items as some_items
from disks import patiently
from pictures import PIXEL
from processes import together


def set_version(database: Database, version: str) -> None:
    with database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :v"), {"v": version})


def test_the_migrations_add_up_to_the_schema(store: Store) -> None:
    with store.database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_partial_indexes_are_partial(store: Store) -> None:
    """compare_metadata does not look at their conditions."""
    table = "sqlite_master" if store.database.engine.dialect.name == "sqlite" else "pg_indexes"
    column, name = ("sql", "name") if table == "sqlite_master" else ("indexdef", "indexname")
    with store.database.read() as connection:
        rows = connection.execute(text(f"SELECT {name}, {column} FROM {table}")).all()
    found = {row[0]: row[1] for row in rows}
    for index, condition in (
        ("slots_open", "state = 0"),
        ("slots_leased", "state = 1"),
        ("slots_by_worker", "worker IS NOT NULL"),
    ):
        assert condition in found[index]


def test_an_empty_database_gets_its_tables_and_keeps_them(store_url: str) -> None:
    for _ in range(2):
        opened = Store(store_url)
        assert opened.names() == [] or opened.names() == ["sweep"]
        if not opened.names():
            sweep(opened)
        opened.close()


@pytest.mark.parametrize("version", ["0000", "9999"])
def test_another_version_is_refused_with_what_to_do(
    store: Store, store_url: str, version: str
) -> None:
    set_version(store.database, version)
    latest = migrations.latest_version()
    with pytest.raises(InvalidInput, match=rf"must be of version {latest}, got {version}: run"):
        Store(store_url)
    with pytest.raises(InvalidInput, match="use the askfew that wrote it"):
        Store.upgrade(store_url)
    set_version(store.database, latest)
    Store(store_url).close()


def test_upgrade_makes_the_tables_and_says_from_where_to_where(store_url: str) -> None:
    assert Store.upgrade(store_url) == (None, migrations.latest_version())
    assert Store.upgrade(store_url) == (migrations.latest_version(),) * 2


def test_many_processes_may_open_an_empty_database_at_once(store_url: str) -> None:
    migrations.latest_version()  # imports what it needs, before there are many

    def opened() -> list[str]:
        store = Store(store_url)
        names = store.names()
        store.close()
        return names

    names, _ = together(8, lambda _: opened)
    assert names == [[]] * 8


def test_campaigns_are_found_by_name(store: Store) -> None:
    sweep(store, name="one")
    sweep(store, name="two")
    assert store.names() == ["one", "two"]
    assert store.campaign("two").settings.name == "two"
    with pytest.raises(InvalidInput, match="must be one of: one, two, got 'three'"):
        store.campaign("three")


def test_a_name_is_given_once_and_nothing_is_half_created(store: Store) -> None:
    sweep(store)
    with pytest.raises(InvalidInput, match="must be new in its store, got 'sweep'"):
        frugal(store, name="sweep")
    with store.database.read() as connection:
        assert connection.execute(select(func.count()).select_from(campaigns)).scalar() == 1
        assert connection.execute(select(func.count()).select_from(items)).scalar() == 3


def test_ids_given_twice_are_refused(store: Store) -> None:
    settings = sweep(store).settings
    with pytest.raises(InvalidInput, match="the ids of items must differ, got 'a' twice"):
        store.create(settings, [Item("a"), Item("b"), Item("a")], questions(2))
    with pytest.raises(InvalidInput, match="the ids of questions must differ"):
        store.create(settings, some_items(3), questions(2) * 2)


def test_a_picture_is_kept_once(store: Store) -> None:
    settings = frugal(store, name="model").settings
    for name in ("one", "two"):
        pictured = [Item(f"i{number}", image=PIXEL) for number in range(4)]
        renamed = type(settings).from_dict({**settings.to_dict(), "name": name})
        shown = store.create(renamed, pictured, questions(2)).items
        assert len({each.image for each in shown}) == 1
    with store.database.read() as connection:
        assert connection.execute(select(images.c.content)).scalars().all() == [PIXEL]


def test_a_campaign_survives_its_store_being_closed(store_url: str) -> None:
    first = Store(store_url)
    (asked,) = sweep(first).ask("ann")
    first.close()
    second = Store(store_url)
    campaign = second.campaign("sweep")
    assert campaign.tell(asked.id, True).ok
    assert answer_all(campaign) == 5
    assert campaign.state == "ended"
    second.close()


@pytest.mark.parametrize("url", ["", "nonsense", "mysql://x/y", "sqlite://", "sqlite:///:memory:"])
def test_only_two_kinds_of_address_are_taken(url: str) -> None:
    with pytest.raises(InvalidInput, match="a store must be sqlite:///FILE or"):
        Store(url)


def test_a_folder_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    for open_store in (Store, Store.upgrade):
        with pytest.raises(StoreUnreachable, match="the store must be reachable"):
            open_store(f"sqlite:///{tmp_path}/nowhere/store.db")


def test_a_server_that_is_not_there_is_said_so() -> None:
    for open_store in (Store, Store.upgrade):
        with pytest.raises(StoreUnreachable, match="the store must be reachable") as caught:
            open_store("postgresql+psycopg://nobody@127.0.0.1:1/nothing")
        assert "\n" not in str(caught.value)


def test_a_file_that_is_no_database_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_text("These are my notes. " * 1000)
    with pytest.raises(InvalidInput):
        Store(f"sqlite:///{tmp_path}/store.db")


def test_sqlite_writes_are_durable(tmp_path: Path) -> None:
    with patiently():
        store = Store(f"sqlite:///{tmp_path}/store.db")
        with store.database.read() as connection:
            found = [
                connection.exec_driver_sql(f"PRAGMA {name}").scalar()
                for name in ("journal_mode", "synchronous", "foreign_keys")
            ]
    assert found == ["wal", 2, 1]
    store.close()


def test_a_campaign_of_anchors_only_is_over_at_once(store: Store) -> None:
    known = [Item(f"i{number}", group="owl" if number % 2 else "duck") for number in range(4)]
    settings = Settings.from_dict({"name": "known", "delta": 0.1, "seed": 1})
    campaign = store.create(settings, known, questions(6))
    assert campaign.state == "ended"
    found = result_of(campaign)
    assert (found.status, found.answers, found.certificate) == ("done", 0, None)
    assert [row[1] for row in found.rows] == ["duck", "owl", "duck", "owl"]
    assert "No certificate" in report_html(campaign)
    assert examine_store(store.database).sound
