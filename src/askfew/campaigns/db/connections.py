"""Connections to a store: set up so that a commit survives power loss, and a few kept at hand.

Every writer to a SQLite file first waits for the lock beside it. SQLite's own busy time-out polls,
and under load some writers starve. This lock blocks, and the kernel wakes the waiting writers in
turn. (The library filelock polls too, so it would not help.)
"""

from __future__ import annotations

import fcntl
import os
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    Executable,
    PoolProxiedConnection,
    create_engine,
    event,
    make_url,
)
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from askfew.errors import InvalidInput, MissingExtra

__all__ = [
    "RawConnections",
    "WriteLock",
    "file_of",
    "open_engine",
    "shown_url",
]

_BUSY_SECONDS = 60.0
"""How long SQLite itself waits for a lock. Our own writers wait for WriteLock before, so this is
for other programs that have the file open. A round number."""


class WriteLock:
    """The lock beside a file; entering it waits until it is free. OSError if it cannot be made.

    The kernel releases the lock of a process that is killed.
    """

    def __init__(self, file: str) -> None:
        # Opened anew each time: flock belongs to the open file, so threads of one process exclude
        # each other too, and closing it is what releases the lock.
        self._lock = os.open(f"{file}.lock", os.O_RDWR | os.O_CREAT, 0o644)

    def __enter__(self) -> None:
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        os.close(self._lock)


def open_engine(url: str) -> tuple[Engine, str | None]:
    """The engine, and the file of a SQLite store (None for a server)."""
    try:
        parsed = make_url(url)
        backend = parsed.get_backend_name()
        if backend == "sqlite" and parsed.database not in (None, "", ":memory:"):
            return _sqlite(create_engine(parsed, connect_args={"timeout": _BUSY_SECONDS}))
        if backend == "postgresql":
            # The server may have been restarted since the last statement: the pool checks first.
            engine = create_engine(parsed, pool_size=10, max_overflow=20, pool_pre_ping=True)
            event.listen(engine, "connect", _prepare_postgres)
            return engine, None
    except (ArgumentError, NoSuchModuleError):
        pass  # refused below, as any other address
    except ImportError as error:
        raise MissingExtra(
            "PostgreSQL needs the package psycopg", "none", "pip install 'askfew[postgres]'"
        ) from error
    raise InvalidInput(
        "a store must be sqlite:///FILE or postgresql+psycopg://USER@HOST/DATABASE",
        repr(url),
        "fix the address",
    )


def file_of(url: str) -> str | None:
    """The file of a SQLite store; None for any other address."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        return None
    file = parsed.database if parsed.get_backend_name() == "sqlite" else None
    return None if file in ("", ":memory:") else file


def shown_url(url: str) -> str:
    """The address without its password."""
    return make_url(url).render_as_string()


def _sqlite(engine: Engine) -> tuple[Engine, str]:
    file = str(engine.url.database)

    def prepare(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # we send BEGIN ourselves, the driver must not
        if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            # Under the lock, because SQLite's busy time-out does not apply to this pragma.
            with WriteLock(file):
                connection.execute("PRAGMA journal_mode = WAL").close()
        # In WAL mode only FULL syncs every commit. Foreign keys are off in SQLite unless asked for.
        for pragma in ("synchronous = FULL", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}").close()

    event.listen(engine, "connect", prepare)
    event.listen(engine, "begin", _begin_sqlite)
    return engine, file


def _begin_sqlite(connection: Connection) -> None:
    """Begin a transaction. A writer takes SQLite's write lock at once.

    Otherwise two transactions that first read and then write could deadlock.
    """
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _prepare_postgres(connection: Any, _record: object) -> None:
    """Switch PostgreSQL's JIT compiler off.

    Its planner expects the hand-out statements to read many slots, and would compile for seconds a
    statement that stops at the first slot and takes a millisecond.
    """
    connection.execute("SET jit = off")
    connection.commit()


_KEPT = 10
"""Connections kept between raw transactions; more go back to the pool. A plain choice."""
_TEXTS: dict[tuple[str, Executable], tuple[str, dict[str, object]]] = {}
"""Compiled statements by dialect: the text for the driver, and the constants in it."""


class RawConnections:
    """The driver's connections. A few are kept, because SQLAlchemy's pool costs as much as a short
    transaction.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.is_server = engine.dialect.name == "postgresql"
        self._errors: type[Exception] = engine.dialect.loaded_dbapi.Error
        # Not the engine's dialect: statements compiled by this one take parameters by name.
        kind: Any = type(engine.dialect)
        self._dialect = kind(paramstyle="pyformat" if self.is_server else "named")
        self._kept: list[PoolProxiedConnection] = []

    def compiled(self, statement: Executable) -> tuple[str, dict[str, object]]:
        """The statement's text for this database, and the constants in it; compiled once."""
        # Raw statements are constants of their modules, so this cache does not grow.
        key = (self._engine.dialect.name, statement)
        known = _TEXTS.get(key)
        if known is None:
            made = statement.compile(dialect=self._dialect)  # type: ignore[attr-defined]
            binds = made.bind_names.items()
            constants = {name: bind.value for bind, name in binds if not bind.required}
            known = _TEXTS[key] = (str(made), constants)
        return known

    def borrow(self) -> PoolProxiedConnection:
        """A connection from the pool; try ``at_hand`` first, which is cheaper."""
        borrowed = self._engine.raw_connection()
        self._leave_begin_to_us(borrowed, True)
        return borrowed

    def keep(self, borrowed: PoolProxiedConnection) -> None:
        """Take back a connection after a commit."""
        if len(self._kept) < _KEPT:
            self._kept.append(borrowed)
        else:
            self._give_back(borrowed)

    def roll_back(self, borrowed: PoolProxiedConnection) -> None:
        """Roll back, and return the connection to the pool."""
        try:
            borrowed.rollback()
            self._give_back(borrowed)
        except self._errors:  # the connection is gone, and its transaction with it
            borrowed.invalidate()

    def let_go(self) -> None:
        """Return all kept connections to the pool."""
        while (kept := self.at_hand()) is not None:
            self.roll_back(kept)

    def at_hand(self) -> PoolProxiedConnection | None:
        """A kept connection, if other threads have left any."""
        # list.pop is atomic, so no lock is needed; asking for the length first would be a race.
        try:
            return self._kept.pop()
        except IndexError:
            return None

    def _give_back(self, borrowed: PoolProxiedConnection) -> None:
        self._leave_begin_to_us(borrowed, False)  # as SQLAlchemy, the next user, expects it
        borrowed.close()

    def _leave_begin_to_us(self, borrowed: PoolProxiedConnection, ours: bool) -> None:
        """Switch psycopg's own BEGIN off or on; sqlite3 was set up without one."""
        if self.is_server:
            connection: Any = borrowed.driver_connection
            connection.autocommit = ours
