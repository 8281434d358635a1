"""Connections to SQLite and PostgreSQL: short transactions that never lose what they committed.

SQLite runs in WAL mode with full sync, so that a commit survives power loss, and every writer
first queues on a file lock: SQLite's own busy time-out polls, and under load starves whoever is
unlucky. PostgreSQL needs none of this.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, OperationalError

from askfew.errors import InvalidInput, MissingExtra

__all__ = ["Database"]

_BUSY_SECONDS = 30.0


class Database:
    """One database by its URL: ``sqlite:///FILE`` or ``postgresql+psycopg://...``."""

    def __init__(self, url: str) -> None:
        self.engine, self._file = _engine(url)
        if self._file is not None:
            event.listen(self.engine, "connect", _prepare_sqlite)
            event.listen(self.engine, "begin", _begin_sqlite)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that only looks."""
        with self._connected(self.engine) as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that may change things; committed at the end, or not at all."""
        writing = self.engine.execution_options(writes=True)
        with self._turn(), self._connected(writing) as connection:
            yield connection

    def close(self) -> None:
        """Give back all connections."""
        self.engine.dispose()

    @contextmanager
    def _connected(self, engine: Engine) -> Iterator[Connection]:
        try:
            connection = engine.connect()
        except OperationalError as error:
            raise InvalidInput(
                "the store must be reachable",
                f"{engine.url.render_as_string()} ({str(error.orig).strip()})",
                "check that it exists and that it is running",
            ) from error
        with connection, connection.begin():
            yield connection

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait for this writer's turn; a killed process gives its turn up by itself."""
        if self._file is None:
            yield
            return
        lock = os.open(f"{self._file}.lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)


def _engine(url: str) -> tuple[Engine, str | None]:
    """The engine, and the file if it is SQLite's."""
    try:
        parsed = make_url(url)
        backend = parsed.get_backend_name()
        if backend == "sqlite" and parsed.database not in (None, "", ":memory:"):
            options: dict[str, Any] = {"connect_args": {"timeout": _BUSY_SECONDS}}
            return create_engine(parsed, **options), parsed.database
        if backend == "postgresql":
            return create_engine(parsed, pool_pre_ping=True, pool_size=10, max_overflow=20), None
    except (ArgumentError, NoSuchModuleError):
        pass
    except ImportError as error:
        raise MissingExtra(
            "PostgreSQL needs the package psycopg", "none", "pip install 'askfew[postgres]'"
        ) from error
    raise InvalidInput(
        "a store must be sqlite:///FILE or postgresql+psycopg://USER@HOST/DATABASE",
        repr(url),
        "mend the address",
    )


def _prepare_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves, the driver must not
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    """A writer takes its lock at once: one that first reads and then writes could deadlock."""
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
