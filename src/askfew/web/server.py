"""Where to listen, and the processes that serve a store: this one, or several that it watches.

Several share one socket, and whichever is free takes the next connection. What they must agree on
is in the store, or in the parent (``shared``). The parent starts another process for one that
ended, and ends them all when it is told to end. If the parent itself is killed, its processes end
by themselves: orphans would keep the port.
"""

from __future__ import annotations

import logging
import multiprocessing
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from threading import Event, Thread

from askfew.campaigns.store import Store
from askfew.errors import InvalidInput
from askfew.web.app import create_app
from askfew.web.connections import Server
from askfew.web.links import is_loopback
from askfew.web.shared import Shared, SharedAddress, connect_shared, offer_shared

__all__ = ["GRACE", "address", "bound", "check_host", "new_server", "serve", "serve_many"]

GRACE = 5
"""Seconds that open requests get when the server is told to end. A plain choice."""
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Addresses that mean "listen on all", and for each the address of this machine itself."""
_SPAWN = multiprocessing.get_context("spawn")  # a fork would copy locks that our threads hold
_LOG = logging.getLogger("askfew.web")
_LOOK_SECONDS = 0.2
"""Seconds between two checks whether to end."""
_LEAST_LIFE = 1.0
"""Seconds between two starts of the same process, so that one that always fails costs little."""


def check_host(host: str, *, behind_tls: bool, without_tls: bool) -> None:
    """Refuse a host that others can reach without TLS: tokens would not be encrypted."""
    if not (is_loopback(host) or behind_tls or without_tls):
        raise InvalidInput(
            "a server for other machines must have TLS in front of it",
            f"the host {host}",
            "put a proxy with TLS there and pass --behind-tls,"
            " or pass --without-tls if everybody may listen",
        )


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 is any free one."""
    try:
        family, *_, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.create_server(where[:2], family=family, backlog=2048)
    except (OSError, OverflowError, UnicodeError) as error:
        raise InvalidInput(
            "host and port must be free to listen on",
            f"{host}:{port} ({getattr(error, 'strerror', None) or error})",
            "choose another port, or end what listens there",
        ) from error
    # Connections inherit it. Head and body of a response are two packets, and without it the second
    # waits until the first is acknowledged: 40 ms.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def address(listening: socket.socket) -> str:
    """The address for a browser on this machine."""
    host, port = listening.getsockname()[:2]
    host = _EVERYWHERE.get(host, host)
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def new_server(
    store: Store, *, behind_tls: bool = False, url: str | None = None, shared: Shared | None = None
) -> Server:
    """A server that can be run; links begin with ``url``."""
    return Server(
        create_app(store, secure_cookies=behind_tls, url=url, shared=shared),
        log_level="warning",
        proxy_headers=behind_tls,
        timeout_graceful_shutdown=GRACE,
        is_alone=shared is None,
    )


def serve(
    store: Store, listening: socket.socket, *, behind_tls: bool = False, url: str | None = None
) -> None:
    """Serve until this process is told to end."""
    new_server(store, behind_tls=behind_tls, url=url).run(sockets=[listening])


@dataclass(frozen=True)
class _ServerSettings:
    """What a server process must know."""

    store_url: str
    listening: socket.socket
    shared: SharedAddress
    behind_tls: bool
    url: str | None


def serve_many(
    store_url: str,
    listening: socket.socket,
    workers: int,
    *,
    behind_tls: bool = False,
    url: str | None = None,
) -> None:
    """Serve with this many processes until this one is told to end (SIGINT or SIGTERM)."""
    settings = _ServerSettings(store_url, listening, offer_shared(Shared()), behind_tls, url)
    with _told_to_end() as ended:
        processes = [_ServerProcess(settings) for _ in range(workers)]
        try:
            while not ended.is_set():
                wait([each.process.sentinel for each in processes], _LOOK_SECONDS)
                for each in processes:
                    each.renew(ended)
        finally:
            _end(processes)


class _ServerProcess:
    """One of the processes: when it ends, another takes its place."""

    def __init__(self, settings: _ServerSettings) -> None:
        self._settings = settings
        self._start()

    def renew(self, ended: Event) -> None:
        """Start another process if this one has ended and nobody wanted that."""
        code = self.process.exitcode
        if code is None or ended.wait(self._began + _LEAST_LIFE - time.monotonic()):
            return
        how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
        _LOG.warning("server process %d %s: another is started", self.process.pid, how)
        self._start()

    def _start(self) -> None:
        self._began = time.monotonic()
        self.process: SpawnProcess = _SPAWN.Process(target=_serve, args=(self._settings,))
        # Ctrl-C goes to all processes of a terminal. Only the parent heeds it, and tells the
        # others: a process that is still importing would print where it was interrupted.
        # The tracker of spawned processes comes first, because its start unblocks the signal.
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        self.process.start()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])


def _serve(settings: _ServerSettings) -> None:
    """What a server process does."""
    store = Store(settings.store_url)
    shared = connect_shared(settings.shared)
    server = new_server(store, behind_tls=settings.behind_tls, url=settings.url, shared=shared)
    Thread(target=_end_with_parent, args=(server,), daemon=True).start()
    server.run(sockets=[settings.listening])
    store.close()


def _end_with_parent(server: Server) -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    server.should_exit = True


def _end(processes: list[_ServerProcess]) -> None:
    """End all processes. Requests on their way have some seconds."""
    for each in processes:
        each.process.terminate()
    until = time.monotonic() + GRACE + 2
    for each in processes:
        each.process.join(max(until - time.monotonic(), 0.0))
        if each.process.is_alive():
            each.process.kill()
            each.process.join()


@contextmanager
def _told_to_end() -> Iterator[Event]:
    """An event that is set by the signals that end a server."""
    ended = Event()
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(each, lambda *_: ended.set()) for each in signals]
    try:
        yield ended
    finally:
        for each, handler in zip(signals, before, strict=True):
            signal.signal(each, handler)
