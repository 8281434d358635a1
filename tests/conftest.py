"""Property tests draw the same examples every time, and leave nothing behind.

Tests that need a system package ask for it by a fixture, which skips them loudly if it is missing.
"""

import gc
import os
import shutil
import signal
import uuid
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

# Before NumPy is imported, and for all processes that tests start: pytest's workers use every core
# already. With as many threads each, the threads of BLAS spin while they wait for one another; runs
# of many small products took four times the CPU.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import settings

from askfew.campaigns.store import Store
from campaign_tools import Clock
from commands import Command, command
from disks import hurry
from postgres import PrivatePostgres, find_binaries

settings.register_profile(
    "askfew", deadline=None, max_examples=60, derandomize=True, database=None, print_blob=False
)
settings.load_profile("askfew")

# Started in the background of a shell, one inherits that Ctrl-C is ignored, and so would the
# programs that tests start and end by it.
signal.signal(signal.SIGINT, signal.default_int_handler)

hurry()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays to the end: the garbage collector need not look at it again.

    Nor need it look at all else as often as it usually does: that took a tenth of the time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000, 10, 10)
        gc.enable()


def missing(reason: str) -> NoReturn:
    """Skip the test, or fail it where skipping is forbidden (.ci/run)."""
    if os.environ.get("ASKFEW_FORBID_SKIPS"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PrivatePostgres]:
    """A PostgreSQL server, one for each pytest worker that wants one."""
    if find_binaries() is None:
        missing("NO POSTGRESQL SERVER HERE: run scripts/system-packages as root (Linux only)")
    with PrivatePostgres() as server:
        yield server


@pytest.fixture
def fresh_database(postgres: PrivatePostgres) -> Iterator[str]:
    """The URL of a new empty database."""
    name = f"test_{uuid.uuid4().hex}"
    postgres.start()  # an earlier test may have crashed it
    yield postgres.create_database(name)
    postgres.start()
    postgres.drop_database(name)


class TableMaker:
    """One database with all tables and no campaign, made anew only if a test changed its tables."""

    def __init__(self, postgres: PrivatePostgres) -> None:
        self._postgres = postgres
        self._ready: str | None = None
        self._shape: object = None

    @contextmanager
    def lent(self) -> Iterator[str]:
        """Its URL, for one test."""
        self._postgres.start()  # an earlier test may have crashed it
        name, self._ready = self._ready or self._new(), None
        yield self._postgres.url(name)
        self._postgres.start()
        if self._postgres.shape(name) == self._shape:
            self._postgres.empty(name)
            self._ready = name
        else:
            self._postgres.drop_database(name)

    def _new(self) -> str:
        name = f"tables_{uuid.uuid4().hex}"
        Store(self._postgres.create_database(name)).close()
        self._shape = self._postgres.shape(name)
        return name


@pytest.fixture(scope="session")
def table_maker(postgres: PrivatePostgres) -> TableMaker:
    return TableMaker(postgres)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with all tables and no campaign."""
    file = tmp_path_factory.mktemp("template") / "store.db"
    Store(f"sqlite:///{file}").close()
    return file


@pytest.fixture
def clock() -> Clock:
    return Clock()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A store is of either kind; of tests that say nothing about it (``on_sqlite``), a file."""
    if "store_url" in metafunc.fixturenames:
        on_sqlite = metafunc.definition.get_closest_marker("on_sqlite") is not None
        kinds = ["sqlite"] if on_sqlite else ["sqlite", "postgresql"]
        metafunc.parametrize("store_url", kinds, indirect=True)


@pytest.fixture
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database of either kind: empty, or with its tables if the test wants stores on it."""
    with_tables = not {"store", "stores"}.isdisjoint(request.fixturenames)
    if request.param == "postgresql" and with_tables:
        with request.getfixturevalue("table_maker").lent() as url:
            yield url
    elif request.param == "postgresql":
        yield request.getfixturevalue("fresh_database")
    else:
        if with_tables:
            shutil.copy(request.getfixturevalue("sqlite_template"), tmp_path / "store.db")
        yield f"sqlite:///{tmp_path / 'store.db'}"


@pytest.fixture
def store(store_url: str, clock: Clock) -> Iterator[Store]:
    """A store of either kind, with the tests' own clock."""
    opened = Store(store_url, clock=clock)
    yield opened
    opened.close()


@pytest.fixture
def second_store(store: Store, store_url: str, clock: Clock) -> Iterator[Store]:
    """The same store, as another process sees it."""
    opened = Store(store_url, clock=clock)
    yield opened
    opened.close()


@pytest.fixture
def askfew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    """In an empty folder: exit code, standard output and error."""
    return command(tmp_path, monkeypatch, capfd)
