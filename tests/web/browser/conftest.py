"""A browser, and a server for every test that wants one."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from askfew.campaigns.store import Store
from conftest import missing
from servers import serving, store_in
from web_browser import FLAGS, KillableServer, RunningServer, Visitor


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium. Playwright keeps a loop running, which other tests must not meet."""
    path = shutil.which("chromium")
    if path is None:
        missing("NO CHROMIUM HERE: run scripts/system-packages as root (Linux only)")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield launched
        launched.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """The server's, opened from here as well. SQLite: the pages do not know which it is."""
    with store_in(tmp_path) as opened:
        yield opened


@pytest.fixture
def server(store: Store) -> Iterator[RunningServer]:
    with serving(store) as served:
        yield RunningServer(served.url, served.owner)


@pytest.fixture
def killable(store: Store, tmp_path: Path) -> Iterator[KillableServer]:
    running = KillableServer(store, f"sqlite:///{tmp_path / 'store.db'}")
    running.start()
    yield running
    if running.process is not None:
        running.kill()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visitor]]:
    """Another browser for another person; all are closed at the end."""
    visitors: list[Visitor] = []

    def another(**options: Any) -> Visitor:
        visitors.append(Visitor(browser, **options))
        return visitors[-1]

    yield another
    for visitor in visitors:
        visitor.close()
