"""A copy of a store in use: sound, of one moment, and good for going on."""

import itertools
import threading
import time
from pathlib import Path

import pytest
from sqlalchemy import select

from askfew.campaigns.backup import back_up, restore
from askfew.campaigns.db.schema import metadata
from askfew.campaigns.doctor.examine import examine_store
from askfew.campaigns.records import Item
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput
from askfew.web.access.invitations import new_link
from askfew.web.access.tokens import first_token
from campaign_tools import Clock, answer_all, answers_of, fixed_answer, frugal, sweep
from commands import command
from disks import small_disk
from small_campaigns import ITEMS, QUESTIONS, small_settings

GIF = b"GIF89a and so on"


def contents(store: Store) -> dict[str, list[tuple[object, ...]]]:
    with store.database.read() as connection:
        return {
            name: sorted((tuple(row) for row in connection.execute(select(table))), key=repr)
            for name, table in metadata.tables.items()
        }


def filled(store: Store) -> None:
    things = [Item(ITEMS[0].id, "with a picture", GIF), *ITEMS[1:]]
    campaign = store.create(small_settings("pictured"), things, QUESTIONS)
    new_link(campaign, "ann")
    first_token(store)
    (asked, other) = campaign.ask("ann", 2)
    campaign.tell(asked.id, 1)
    campaign.skip(other.id)
    frugal(store, name="second")


def test_everything_is_in_it_and_comes_back(
    store: Store, fresh_database: str, tmp_path: Path, clock: Clock
) -> None:
    filled(store)
    copied = back_up(store, tmp_path / "backup.db")
    assert copied == {"campaigns": 2, "answers": 1}
    assert [each.name for each in tmp_path.iterdir() if "backup" in each.name] == ["backup.db"]
    copy = Store(f"sqlite:///{tmp_path}/backup.db", clock=clock)
    assert contents(copy) == contents(store)
    assert examine_store(copy.database).sound
    copy.close()
    for number, url in enumerate((f"sqlite:///{tmp_path}/restored.db", f"{fresh_database}")):
        if number == 1 and store.database.engine.dialect.name == "postgresql":
            continue  # that is the store itself
        back = Store(url, clock=clock)
        restore(back, tmp_path / "backup.db")
        assert contents(back) == contents(store)
        assert examine_store(back.database).sound
        answer_all(back.campaign("second"))
        frugal(back, name="third")  # its number must be new
        with pytest.raises(InvalidInput, match="must be empty"):
            restore(back, tmp_path / "backup.db")
        back.close()


def test_backups_of_a_store_in_use_are_sound_and_lose_nothing(
    store_url: str, tmp_path: Path
) -> None:
    store = Store(store_url)
    campaign = frugal(store, rows=20, columns=5)
    told: list[str] = []
    stop = threading.Event()

    def work() -> None:
        own = Store(store_url)
        mine = own.campaign(campaign.settings.name)
        while not stop.is_set():
            for asked in mine.ask("ann", 3):
                if mine.tell(asked.id, fixed_answer(asked)).ok:
                    told.append(asked.id)
        own.close()

    worker = threading.Thread(target=work)
    worker.start()
    try:
        for number in range(5):
            while worker.is_alive() and len(told) < 5 * (number + 1):
                time.sleep(0.01)
            before = list(told)
            back_up(store, tmp_path / f"{number}.db")
            copy = Store(f"sqlite:///{tmp_path}/{number}.db")
            found = examine_store(copy.database)
            assert found.sound, found
            kept = {row.id for row in answers_of(copy.campaign("frugal"))}
            assert kept >= set(before)
            copy.close()
    finally:
        stop.set()
        worker.join()
    assert len(told) >= 25
    store.close()


def test_a_campaign_goes_on_from_its_backup(store: Store, tmp_path: Path, clock: Clock) -> None:
    campaign, alone = frugal(store), frugal(store, name="alone")
    answer_all(alone)
    for asked in itertools.chain.from_iterable(campaign.ask("ann", 3) for _ in range(3)):
        campaign.tell(asked.id, fixed_answer(asked))
    back_up(store, tmp_path / "backup.db")
    copy = Store(f"sqlite:///{tmp_path}/backup.db", clock=clock)
    clock.pass_seconds(10**4)  # leases run out
    answer_all(copy.campaign("frugal"))
    assert copy.campaign("frugal").outcome() == alone.outcome()
    copy.close()


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    askfew = command(tmp_path, monkeypatch, capfd)
    store = Store("sqlite:///askfew.db")
    sweep(store)
    store.close()
    assert askfew("store", "backup", "copy.db")[1] == "Wrote copy.db: 1 campaign, 0 answers.\n"
    assert askfew("store", "backup", "copy.db", "--json")[0] == 0  # in its place
    assert askfew("doctor", "--store", "sqlite:///copy.db")[0] == 0
    said = askfew("store", "restore", "copy.db", "--store", "sqlite:///new.db")
    assert said[1] == "Restored copy.db: 1 campaign, 0 answers.\n"
    code, _, err = askfew("store", "backup", "askfew.db")
    assert (code, err[:40]) == (2, "askfew: a backup must be another file, g")
    assert askfew("store", "backup", "nowhere/copy.db")[0] == 2
    assert askfew("store", "restore", "nothing.db", "--store", "sqlite:///new2.db")[0] == 2
    Path("garbage.db").write_bytes(b"garbage" * 1000)
    assert askfew("store", "restore", "garbage.db", "--store", "sqlite:///new3.db")[0] == 2


def test_a_full_disk_leaves_the_old_backup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    askfew = command(tmp_path, monkeypatch, capfd)
    store = Store("sqlite:///askfew.db")
    sweep(store, rows=300, columns=20)
    store.close()
    (tmp_path / "disk").mkdir()
    with small_disk(tmp_path / "disk", 1_000) as disk:
        if disk is None:
            pytest.skip("NO SMALL DISK HERE: only root may mount one")
        old = disk.folder / "copy.db"
        old.write_bytes(b"the old one")
        disk.fill()
        code, _, err = askfew("store", "backup", old)
        assert code == 2
        assert len(err.splitlines()) == 1
        assert old.read_bytes() == b"the old one"
        assert {each.name for each in disk.folder.iterdir()} == {"copy.db", "filler"}
