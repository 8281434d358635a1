"""A full disk: one sentence, nothing acknowledged is lost, and work goes on when there is room."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import event

from askfew.campaigns.doctor.examine import examine_store
from askfew.campaigns.folder.template import write_template
from askfew.campaigns.store import Store
from askfew.errors import StoreFull
from askfew.web.access.invitations import new_link
from campaign_tools import answer_all, answers_of, fixed_answer, frugal
from commands import Command
from disks import SmallDisk, small_disk
from postgres import PrivatePostgres, find_binaries
from server_processes import server_process

SENTENCE = "askfew: the store must have room, got "
COMMANDS: dict[str, tuple[str, ...]] = {
    "ask": ("birds", "--worker", "bob"),
    "tell": ("LEASE", "yes"),
    "skip": ("LEASE",),
    "status": ("birds",),
    "result": ("birds",),
    "list": (),
    "pause": ("birds",),
    "resume": ("birds",),
    "close": ("birds",),
    "report": ("birds", "--out", "report.html"),
    "export": ("birds", "--out", "birds.csv"),
    "import": ("moved.askfew", "moved"),
    "create": ("others",),
    "token": ("reset",),
    "store": ("upgrade",),
    "serve": ("--port", "0"),
    "doctor": (),
}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    folder = tmp_path / "disk"
    folder.mkdir()
    with small_disk(folder, 8_000) as made:
        if made is None:
            pytest.skip("NO SMALL DISK HERE: only root may mount one")
        yield made


def test_every_command_says_it_in_a_sentence_and_works_again(
    disk: SmallDisk, askfew: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{disk.folder / 'store.db'}"
    monkeypatch.setenv("ASKFEW_STORE", url)
    for name in ("birds", "others"):
        write_template(name)
        toml = Path(name) / "campaign.toml"
        toml.write_text(toml.read_text().replace('name = "birds"', f'name = "{name}"'))
    assert askfew("create", "birds")[0] == 0
    assert askfew("export", "birds", "--out", "moved.askfew")[0] == 0
    store = Store(url)
    (asked,) = store.campaign("birds").ask("ann")
    store.close()
    disk.fill()
    for name, arguments in COMMANDS.items():
        code, out, err = askfew(name, *(asked.id if a == "LEASE" else a for a in arguments))
        said = out if name == "doctor" else err
        assert code == 1, (name, out, err)
        assert SENTENCE.removeprefix("askfew: " * (name == "doctor")) in said, (name, said)
        assert name == "doctor" or len(err.strip().splitlines()) == 1
    code, _, err = askfew("new", disk.folder / "birds")
    assert (code, "No space left on device" in err) == (2, True)
    disk.free()
    assert askfew("tell", asked.id, "yes")[0] == 0
    assert askfew("create", "others")[0] == 0
    assert askfew("doctor")[0] == 0


def test_a_full_standard_output_is_a_sentence(askfew: Command, tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        said = subprocess.run(
            [sys.executable, "-m", "askfew", "--help"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert said.returncode == 1
    assert said.stderr.startswith("askfew: there must be room to write, got No space left")
    assert len(said.stderr.splitlines()) == 1


def test_the_server_answers_503_and_goes_on_when_there_is_room(disk: SmallDisk) -> None:
    url = f"sqlite:///{disk.folder / 'store.db'}"
    store = Store(url)
    campaign = frugal(store)
    token = new_link(campaign, "ann")
    with (
        server_process(url) as server,
        httpx2.Client(base_url=server.address, trust_env=False, timeout=60) as client,
    ):
        path = "/api/v1/campaigns/frugal"
        client.headers["Authorization"] = f"Bearer {token}"
        (first, second) = client.post(f"{path}/ask", json={"n": 2}).json()["questions"]
        assert client.post(f"{path}/tell", json={"id": first["id"], "answer": 1}).json()["ok"]
        disk.fill()
        told = client.post(f"{path}/tell", json={"id": second["id"], "answer": 1})
        while told.status_code == 200:  # there may still be room in SQLite's own files
            (asked,) = client.post(f"{path}/ask", json={}).json()["questions"]
            told = client.post(f"{path}/tell", json={"id": asked["id"], "answer": 1})
        assert told.status_code == 503
        assert int(told.headers["Retry-After"]) > 0
        assert "no room left" in told.json()["detail"]
        page = client.get("/i/" + token)
        assert page.status_code in (200, 303, 503)
        disk.free()
        told = client.post(f"{path}/tell", json={"id": second["id"], "answer": 1})
        assert told.json()["ok"]
        assert client.post(f"{path}/ask", json={}).json()["questions"]
    kept = {row.id for row in answers_of(campaign)}
    assert {first["id"], second["id"]} <= kept
    assert examine_store(store.database).sound
    store.close()


def test_work_that_met_a_full_disk_ends_as_if_nothing_had_happened(disk: SmallDisk) -> None:
    store = Store(f"sqlite:///{disk.folder / 'store.db'}")
    campaign, alone = frugal(store), frugal(store, name="alone")
    answer_all(alone)
    met = 0
    while campaign.state == "running":
        for asked in campaign.ask("ann", 3):
            disk.fill()
            try:
                campaign.tell(asked.id, fixed_answer(asked))
            except StoreFull:
                met += 1
            disk.free()
            assert campaign.tell(asked.id, fixed_answer(asked)).ok
    assert met > 0
    assert campaign.outcome() == alone.outcome()
    assert examine_store(store.database).sound
    store.close()


def test_a_sqlite_file_that_may_not_grow(tmp_path: Path) -> None:
    """Where nobody may mount a disk, too."""
    store = Store(f"sqlite:///{tmp_path / 'store.db'}")
    with store.database.read() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    store.database.engine.dispose()

    @event.listens_for(store.database.engine, "connect")
    def limit(connection: object, _: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages}")  # type: ignore[attr-defined]

    with pytest.raises(StoreFull, match="the store must have room"):
        frugal(store, rows=1000)
    assert store.names() == []
    store.close()


def create_many(store: Store) -> None:
    for number in range(1000):
        frugal(store, rows=200, columns=20, name=f"campaign {number}")


def test_postgresql_on_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    if find_binaries() is None:
        pytest.skip("NO POSTGRESQL SERVER HERE")
    with (
        tempfile.TemporaryDirectory() as folder,  # a test's own is closed to PostgreSQL's user
        small_disk(Path(folder), 300_000) as disk,
    ):
        Path(folder).chmod(0o755)
        if disk is None:
            pytest.skip("NO SMALL DISK HERE: only root may mount one")
        monkeypatch.setattr(tempfile, "tempdir", folder)
        with PrivatePostgres() as server:
            store = Store(server.create_database("full"))
            frugal(store)
            disk.fill()
            with pytest.raises(StoreFull, match="the store must have room"):
                create_many(store)
            disk.free()
            answer_all(frugal(store, name="after"))
            assert examine_store(store.database).sound
            store.close()
