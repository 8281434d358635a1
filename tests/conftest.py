"""Property tests draw the same examples every time, and leave nothing behind.

Tests that need a system package ask for it by a fixture, which skips them loudly if it is missing.
"""

import os
import signal
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import settings

from askfew.campaigns.store import Store
from campaign_tools import Clock
from postgres import PrivatePostgres, find_binaries

settings.register_profile(
    "askfew", deadline=None, max_examples=60, derandomize=True, database=None, print_blob=False
)
settings.load_profile("askfew")

# Started in the background of a shell, one inherits that Ctrl-C is ignored, and so would the
# programs that tests start and end by it.
signal.signal(signal.SIGINT, signal.default_int_handler)


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
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of either kind."""
    if request.param == "postgresql":
        return str(request.getfixturevalue("fresh_database"))
    return f"sqlite:///{tmp_path / 'store.db'}"


@pytest.fixture
def store(store_url: str, clock: Clock) -> Iterator[Store]:
    """A store of either kind, with the tests' own clock."""
    opened = Store(store_url, clock=clock)
    yield opened
    opened.close()
