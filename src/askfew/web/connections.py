"""Deadlines and a limit for connections, and a limit for repeated lines of the log.

uvicorn waits for ever for the rest of a request, and accepts connections until the process has no
file descriptors left. Here a client has a deadline for its next action: to send the head of a
request, to go on with its body, to read the response. The server's own work has no deadline. All
connections are checked once a second; requests pay nothing for it.

If there are too many connections, the one that has kept the server waiting longest is closed for a
new one. So clients that send nothing push each other out, and a client that sends a request is
served.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Callable
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

try:
    import resource
except ImportError:  # not a Unix
    resource = None  # type: ignore[assignment]

__all__ = ["Connection", "RepeatedLines", "Server", "limit_repeated_lines"]

# Deadlines and limits are plain choices: generous for a slow phone, and small enough that a few
# hundred silent clients (tests/web/test_connections.py) keep nobody else from being served.

HEAD_SECONDS = 10.0
"""For the head of a request, also of the next one on a connection that is kept open."""
BODY_SECONDS = 20.0
"""For a body, and more for a large one (``LEAST_RATE``)."""
LEAST_RATE = 5_000.0
"""Bytes per second at which a body must arrive at least."""
STALLED_SECONDS = 30.0
"""For a client that does not read the response."""
MOST = 500
"""Connections at a time, or fewer if the process may open fewer files."""
_AT_ONCE = 100
"""Connections that are accepted in one go. Without a limit asyncio accepts as many as may queue."""
_AT_ONCE_OF_SEVERAL = 1
"""The same where several processes share the socket, so that one does not take all."""
_QUEUE = 2048
"""Connections that may wait in the system to be accepted."""
_OWN_FILES = 100
"""File descriptors that are left for the database, the program and the standard streams."""
_LINES = 10
"""Lines of a kind that are written within a minute: enough to see a pattern."""
_LINE_SECONDS = 60.0
_KINDS = 1000
"""Kinds of lines that are remembered."""


class Connection(H11Protocol):
    """One client, and since when the server has been waiting for it."""

    _since = 0.0
    _came = 0
    _unsent = 0
    _moved = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection; drop another if there are too many."""
        super().connection_made(transport)
        self._since = self._moved = self.loop.time()
        if len(self.connections) > (most := most_connections()):
            here = [each for each in _ours(self.connections) if not each.transport.is_closing()]
            waiting = [each for each in here if each.is_waiting]
            if len(here) > most:
                min(waiting, key=lambda each: each._since, default=self).drop()

    def data_received(self, data: bytes) -> None:
        """Part of a request."""
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:  # a new head is complete: now the body
            self._since, self._came = self.loop.time(), 0
        self._came += len(data)

    def on_response_complete(self) -> None:
        """The next head may come."""
        self._since, self._came = self.loop.time(), 0
        super().on_response_complete()

    @property
    def is_waiting(self) -> bool:
        """Whether it is the client's turn, not the server's."""
        return self._awaits_head or self.cycle.more_body

    @property
    def _awaits_head(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def is_late(self, now: float) -> bool:
        """Whether the client has missed its deadline."""
        unsent = self.transport.get_write_buffer_size()
        if unsent != self._unsent:
            self._unsent, self._moved = unsent, now
        if unsent:
            return now - self._moved > STALLED_SECONDS
        waited = now - self._since
        if self._awaits_head:
            return waited > HEAD_SECONDS
        if self.cycle.more_body and not self.flow.read_paused:  # paused: we do not read
            return waited > BODY_SECONDS + self._came / LEAST_RATE
        return False

    def drop(self) -> None:
        """Close the connection, without waiting for a client that does not read."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()


class Server(uvicorn.Server):
    """uvicorn's server, which also enforces the deadlines of its connections."""

    def __init__(self, app: Any, *, is_alone: bool = True, **options: Any) -> None:
        config = uvicorn.Config(
            app,
            http=Connection,
            ws="none",
            backlog=_AT_ONCE if is_alone else _AT_ONCE_OF_SEVERAL,
            access_log=False,  # paths hold tokens
            server_header=False,
            **options,
        )
        super().__init__(config)
        limit_repeated_lines()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(_QUEUE)  # asyncio has made it as short as what it takes in one go

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second."""
        if counter % 10 == 0:
            now = asyncio.get_running_loop().time()
            for each in _ours(self.server_state.connections):
                if each.is_late(now):
                    each.drop()
        return await super().on_tick(counter)


def most_connections() -> int:
    """How many connections may be open, so that the process never runs out of files."""
    if resource is None:
        return MOST
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if files < 0 else min(MOST, max((files - _OWN_FILES) // 2, 10))


def _ours(connections: set[Any]) -> list[Connection]:
    return [each for each in connections if isinstance(each, Connection)]


class RepeatedLines(logging.Filter):
    """Lets ten lines of a kind pass per minute; the next line says how many were left out.

    Lines are of a kind if they come from the same place in the code, with the same exception.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._seen: dict[object, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write this one."""
        kind, now = _kind(record), self._clock()
        began, count = self._seen.get(kind, (now, 0))
        if now - began >= _LINE_SECONDS:
            if count > _LINES:
                record.msg = f"{record.getMessage()} (and {count - _LINES:,} more like it before)"
                record.args = None
            began, count = now, 0
        if kind not in self._seen and len(self._seen) >= _KINDS:
            self._seen.clear()
        self._seen[kind] = (began, count + 1)
        return count < _LINES


def limit_repeated_lines() -> None:
    """Filter what uvicorn logs, and what has no handler of its own (asyncio)."""
    lines = RepeatedLines()
    for handler in (*logging.getLogger("uvicorn").handlers, logging.lastResort):
        if handler is not None and not any(isinstance(f, RepeatedLines) for f in handler.filters):
            handler.addFilter(lines)


def _kind(record: logging.LogRecord) -> object:
    error = record.exc_info[0] if record.exc_info else None
    return record.name, record.pathname, record.lineno, error
