"""A store in a file, and a server of a store in a thread of this process."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from askfew.campaigns.store import Store
from askfew.web.access.tokens import first_token
from askfew.web.app import create_app
from askfew.web.connections import Server
from askfew.web.server import address, bound


@dataclass(frozen=True)
class Served:
    url: str
    owner: str


@contextmanager
def store_in(folder: Path) -> Iterator[Store]:
    """A store in a file of its own."""
    opened = Store(f"sqlite:///{folder / 'store.db'}")
    yield opened
    opened.close()


@contextmanager
def serving(store: Store) -> Iterator[Served]:
    """Until the end of the block; the store's owner gets their first token."""
    token = first_token(store)
    assert token is not None
    with bound("127.0.0.1", 0) as listening:
        server = Server(create_app(store), log_level="error", timeout_graceful_shutdown=2)
        thread = threading.Thread(target=lambda: server.run(sockets=[listening]))
        thread.start()
        try:
            yield Served(address(listening), token)
        finally:
            server.should_exit = True
            thread.join(20)
