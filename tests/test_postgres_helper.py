import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from askfew.campaigns.store import Store
from campaign_tools import answer_all, sweep
from conftest import TableMaker
from postgres import PrivatePostgres

OWNER = """
import time
from postgres import PrivatePostgres
server = PrivatePostgres()
print(server.port, server.folder, server._keeper.pid, flush=True)
time.sleep(600)
"""


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def run(url: str, *statements: str) -> list[object]:
    engine = create_engine(url)
    try:
        with engine.begin() as connection:
            results = [connection.execute(text(statement)) for statement in statements]
            return list(results[-1].scalars()) if results[-1].returns_rows else []
    finally:
        engine.dispose()


def test_a_committed_row_survives_a_crash_and_an_uncommitted_one_does_not(
    postgres: PrivatePostgres, fresh_database: str
) -> None:
    run(fresh_database, "CREATE TABLE answers (value int)", "INSERT INTO answers VALUES (1)")
    engine = create_engine(fresh_database)
    with engine.connect() as connection:
        connection.execute(text("INSERT INTO answers VALUES (2)"))
        postgres.kill()
        with pytest.raises(OperationalError):
            connection.execute(text("SELECT 1"))
    engine.dispose()
    assert not postgres.running
    with pytest.raises(OperationalError):
        run(fresh_database, "SELECT 1")

    postgres.start()
    assert run(fresh_database, "SELECT value FROM answers") == [1]


def test_crashes_in_a_row_and_an_orderly_stop(
    postgres: PrivatePostgres, fresh_database: str
) -> None:
    run(fresh_database, "CREATE TABLE answers (value int)")
    for value in range(3):
        run(fresh_database, f"INSERT INTO answers VALUES ({value})")
        postgres.kill()
        postgres.start()
    postgres.stop()
    postgres.stop()
    postgres.start()
    postgres.start()
    assert run(fresh_database, "SELECT value FROM answers ORDER BY value") == [0, 1, 2]


def test_the_server_is_private_wide_enough_and_writes_before_it_acknowledges(
    postgres: PrivatePostgres, fresh_database: str
) -> None:
    expected = {
        "listen_addresses": "127.0.0.1",
        "unix_socket_directories": "",
        "max_connections": "200",
        "synchronous_commit": "on",
        "full_page_writes": "on",
    }
    assert {name: run(fresh_database, f"SHOW {name}")[0] for name in expected} == expected


def test_a_fresh_database_is_empty_and_goes_after_the_test(
    postgres: PrivatePostgres, fresh_database: str
) -> None:
    tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
    assert run(fresh_database, tables) == [0]
    databases = "SELECT datname FROM pg_database WHERE datname LIKE 'test\\_%'"
    assert run(fresh_database, databases) == [fresh_database.rpartition("/")[2]]


@pytest.mark.usefixtures("postgres")  # for its check that there is a PostgreSQL
@pytest.mark.parametrize("victims", [("owner",), ("keeper",), ("keeper", "owner")])
def test_no_server_outlives_the_processes_that_keep_it(victims: tuple[str, ...]) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER], cwd=Path(__file__).parent, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        port, folder, keeper = owner.stdout.readline().split()
        try:
            assert is_open(int(port))
            for victim in victims:
                os.kill(owner.pid if victim == "owner" else int(keeper), signal.SIGKILL)
            assert within(10, lambda: not is_open(int(port)))
            # With the keeper killed, nobody is left to remove the folder: that is all that stays.
            assert "keeper" in victims or within(10, lambda: not Path(folder).exists())
        finally:
            owner.kill()
            shutil.rmtree(folder, ignore_errors=True)


def test_the_end_of_the_block_leaves_nothing(postgres: PrivatePostgres) -> None:
    with PrivatePostgres() as other:
        assert other.port != postgres.port
        assert is_open(other.port)
    assert not is_open(other.port)
    assert not other.folder.exists()


def test_a_lent_store_comes_back_as_new(postgres: PrivatePostgres) -> None:
    maker = TableMaker(postgres)
    seen = set()
    for _ in range(2):
        with maker.lent() as url:
            store = Store(url)
            assert store.names() == []
            campaign = sweep(store)
            assert campaign.id == 1
            answer_all(campaign)
            store.close()
            seen.add(url)
    assert len(seen) == 1


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE answers DROP COLUMN seconds",
        "ALTER TABLE answers ALTER COLUMN seconds SET NOT NULL",
        "CREATE TABLE more (value int)",
        "CREATE INDEX more ON answers (seconds)",
        "UPDATE alembic_version SET version_num = '0001'",
        "DROP TABLE alembic_version",
    ],
)
def test_one_with_other_tables_is_not_lent_again(postgres: PrivatePostgres, change: str) -> None:
    maker = TableMaker(postgres)
    with maker.lent() as url:
        run(url, change)
    with maker.lent() as other:
        assert other != url
        Store(other).close()
    with pytest.raises(OperationalError, match="does not exist"):
        run(url, "SELECT 1")
