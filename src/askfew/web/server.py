"""Where to listen, and one process that serves a store; ``processes`` runs several."""

from __future__ import annotations

import socket

from askfew.campaigns.store import Store
from askfew.errors import InvalidInput
from askfew.web.app import create_app
from askfew.web.connections import Server
from askfew.web.links import is_loopback
from askfew.web.shared import Shared

__all__ = ["GRACE", "address", "bound", "check_host", "new_server", "serve"]

GRACE = 5
"""Seconds for requests on their way when the server is told to end."""
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Addresses to listen on that mean all of them, and the one of this machine among these."""


def check_host(host: str, *, behind_tls: bool, without_tls: bool) -> None:
    """Beyond this machine, tokens and answers travel in the open unless there is TLS in front."""
    if not (is_loopback(host) or behind_tls or without_tls):
        raise InvalidInput(
            "a server for other machines must have TLS in front of it",
            f"the host {host}",
            "put a proxy with TLS there and say --behind-tls,"
            " or say --without-tls if everybody may listen",
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
    """Where a browser on this machine finds it."""
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
