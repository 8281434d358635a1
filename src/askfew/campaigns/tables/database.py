"""Connections to SQLite and PostgreSQL: short transactions that never lose what they committed.

SQLite runs in WAL mode with full sync, so that a commit survives power loss, and every writer
first queues on a file lock: SQLite's own busy time-out polls, and under load starves whoever is
unlucky. PostgreSQL needs none of this.

There are two ways in. ``read`` and ``write`` give a SQLAlchemy connection, for all that is rare.
``quick`` runs a function on the driver's own cursor, for what every question and answer needs:
there, SQLAlchemy's bookkeeping costs as much as the database's work, and other writers wait.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, TypeVar

from sqlalchemy import (
    Connection,
    Dialect,
    Double,
    Engine,
    Executable,
    PoolProxiedConnection,
    cast,
    create_engine,
    event,
    extract,
    func,
    make_url,
    select,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from askfew.errors import InvalidInput, MissingExtra, StoreFull, StoreUnreachable

__all__ = ["Database", "Joined", "Quick", "Transactions"]

T = TypeVar("T")

_BUSY_SECONDS = 60.0
_KEPT = 10
"""Connections kept at hand between two quick transactions; more go back to the pool."""
_TRIES = 5
_TRY_AGAIN = ("40001", "40P01")
"""What PostgreSQL says to one of two transactions that stood in each other's way."""
_FULL = ("53100", sqlite3.SQLITE_FULL)
_AWAY = (
    *("25006", "53200", "53300", "58030"),
    *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM),
    *(sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_AUTH),
)
"""A machine that cannot just now: read only, too many connections, a disk that fails."""
_DAMAGED = (
    *("42P01", "42703", "XX001", "XX002"),
    *(sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_FORMAT),
)
"""No database, a broken one, or one that lacks tables of ours."""
_HALF_MADE = re.compile("no such (table|column)|Could not decode|malformed")
_LITTLE_ROOM = 1 << 16
"""Bytes; SQLite begins with files of half that size beside its own."""
_SERVER_TIME = select(cast(extract("epoch", func.clock_timestamp()), Double))
_TIME_IS_GOOD = 60.0
"""Seconds for which the server's clock need not be read again."""
_TEXTS: dict[tuple[str, Executable], tuple[str, dict[str, object]]] = {}
"""Statements by dialect, as the driver takes them: text, and the constants in it."""


class Quick:
    """Runs statements on the driver's own cursor, within one transaction.

    Results are plain tuples, in the order of the columns.
    """

    def __init__(self, database: Database, cursor: Any) -> None:
        self._database, self._cursor = database, cursor
        self.at_once = database.engine.dialect.name == "postgresql"
        """Whether one statement can write to several tables."""

    def all(self, statement: Executable, parameters: Mapping[str, object]) -> list[Any]:
        """The rows that a statement returns."""
        text, constants = self._database.compiled(statement)
        self._cursor.execute(text, {**constants, **parameters})
        rows: list[Any] = self._cursor.fetchall()
        return rows

    def first(self, statement: Executable, parameters: Mapping[str, object]) -> Any:
        """The first row that a statement returns, or None."""
        rows = self.all(statement, parameters)
        return rows[0] if rows else None

    def run(self, statement: Executable, *parameters: Mapping[str, object]) -> None:
        """A statement that returns nothing, once for each set of parameters."""
        text, constants = self._database.compiled(statement)
        if len(parameters) == 1:
            self._cursor.execute(text, {**constants, **parameters[0]})
        else:
            self._cursor.executemany(text, [{**constants, **each} for each in parameters])


class Transactions(Protocol):
    """Where reading and writing happens: a Database, or a transaction that is under way."""

    def read(self) -> AbstractContextManager[Connection]:
        """A transaction that only looks."""

    def write(self) -> AbstractContextManager[Connection]:
        """A transaction that may change things."""


class Joined:
    """A transaction under way, in the place of a Database: what is done here happens with it, all
    of it or nothing.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """The transaction itself."""
        yield self._connection

    write = read


class Database:
    """One database by its URL: ``sqlite:///FILE`` or ``postgresql+psycopg://...``."""

    def __init__(self, url: str) -> None:
        self.engine, self._file = _engine(url)
        self._errors: type[Exception] = self.engine.dialect.loaded_dbapi.Error
        # A dialect of our own, whose statements take parameters by name.
        style = "pyformat" if self._file is None else "named"
        kind: Callable[..., Dialect] = type(self.engine.dialect)
        self._dialect = kind(paramstyle=style)
        self._kept: list[PoolProxiedConnection] = []
        self._clock_read: tuple[float, float] | None = None
        """What the server's clock said, and ours that only counts seconds, when it was read."""
        if self._file is not None:
            event.listen(self.engine, "connect", self._prepare_sqlite)
            event.listen(self.engine, "begin", _begin_sqlite)
        else:
            event.listen(self.engine, "connect", _prepare_postgres)

    def now(self) -> float:
        """Seconds since the epoch by the store's own clock, the only one that leases run by.

        PostgreSQL's is its server's: machines that serve one store may disagree about the time,
        and one that is an hour ahead would hold what it leases for an hour. A SQLite file is on
        one machine, and its clock is that machine's.
        """
        if self._file is not None:
            return time.time()
        read, here = self._clock_read, time.monotonic()
        if read is None or here - read[1] > _TIME_IS_GOOD:
            try:
                said = float(self.glance(_SERVER_TIME, {})[0])
                read = self._clock_read = (said, time.monotonic())
            except StoreUnreachable:
                if read is None:
                    raise
        return read[0] + time.monotonic() - read[1]

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that only looks."""
        with self._connected(self.engine) as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that may change things; committed at the end, or not at all."""
        writing = self.engine.execution_options(writes=True)
        with self._connected(writing) as connection, self._turn(), connection.begin():
            yield connection

    def glance(self, statement: Executable, parameters: Mapping[str, object]) -> Any:
        """The first row of a statement that only looks, or None; the quickest way to ask."""
        return self._tried(lambda: self._look(statement, parameters))

    def quick(self, work: Callable[[Quick], T], *, one_by_one: bool = False) -> T:
        """``work`` in a transaction that may change things.

        It is run again if the server had gone away and is back, or if two transactions stood in
        each other's way. So ``work`` must bear to be run again even after it was committed: the
        connection may break after the commit and before we hear of it.

        With ``one_by_one``, every statement of ``work`` may be a transaction of its own, where the
        database can write to several tables in one (see ``Quick.at_once``).
        """
        return self._tried(lambda: self._attempt(work, one_by_one))

    def compiled(self, statement: Executable) -> tuple[str, dict[str, object]]:
        """The statement's text for this database, and the constants in it; made once."""
        key = (self.engine.dialect.name, statement)
        known = _TEXTS.get(key)
        if known is None:
            made = statement.compile(dialect=self._dialect)  # type: ignore[attr-defined]
            binds = made.bind_names.items()
            constants = {name: bind.value for bind, name in binds if not bind.required}
            known = _TEXTS[key] = (str(made), constants)
        return known

    def close(self) -> None:
        """Give back all connections."""
        self._let_go()
        self.engine.dispose()

    def _tried(self, attempt: Callable[[], T]) -> T:
        for _ in range(_TRIES - 1):
            try:
                return attempt()
            except self._errors as error:
                if not self._may_pass(error):
                    self._raise_in_words(error)
                    raise
        try:
            return attempt()
        except self._errors as error:
            self._raise_in_words(error)
            raise

    def _look(self, statement: Executable, parameters: Mapping[str, object]) -> Any:
        """Without a transaction, and without waiting for writers."""
        borrowed = self._borrow()
        try:
            row = Quick(self, borrowed.cursor()).first(statement, parameters)
        except BaseException:
            self._roll_back(borrowed)
            raise
        self._keep(borrowed)
        return row

    def _attempt(self, work: Callable[[Quick], T], one_by_one: bool) -> T:
        borrowed = self._borrow()
        with self._turn():
            try:
                cursor = borrowed.cursor()
                if self._file is not None:
                    cursor.execute("BEGIN IMMEDIATE")
                elif not one_by_one:
                    cursor.execute("BEGIN")
                result = work(Quick(self, cursor))
                borrowed.commit()
            except BaseException:
                self._roll_back(borrowed)
                raise
        self._keep(borrowed)
        return result

    def _keep(self, borrowed: PoolProxiedConnection) -> None:
        if len(self._kept) < _KEPT:
            self._kept.append(borrowed)
        else:
            self._give_back(borrowed)

    def _borrow(self) -> PoolProxiedConnection:
        """A connection for one quick transaction: going through the pool costs as much as that."""
        if (kept := self._at_hand()) is not None:
            return kept
        try:
            borrowed = self.engine.raw_connection()
        except (DBAPIError, UnicodeDecodeError) as error:
            self._raise_in_words(error)
            raise self._unreachable(error) from error
        self._leave_begin_to_us(borrowed, True)
        return borrowed

    def _at_hand(self) -> PoolProxiedConnection | None:
        """A connection that was kept, if other threads have left any."""
        try:
            return self._kept.pop()
        except IndexError:
            return None

    def _give_back(self, borrowed: PoolProxiedConnection) -> None:
        self._leave_begin_to_us(borrowed, False)
        borrowed.close()

    def _leave_begin_to_us(self, borrowed: PoolProxiedConnection, ours: bool) -> None:
        """Whether psycopg begins no transaction by itself; sqlite3 never does."""
        if self._file is None:
            connection: Any = borrowed.driver_connection
            connection.autocommit = ours

    def _let_go(self) -> None:
        """Give the connections at hand back to the pool."""
        while (kept := self._at_hand()) is not None:
            self._roll_back(kept)

    def _roll_back(self, borrowed: PoolProxiedConnection) -> None:
        try:
            borrowed.rollback()
            self._give_back(borrowed)
        except self._errors:  # the connection is gone, and its transaction with it
            borrowed.invalidate()

    def _may_pass(self, error: Exception) -> bool:
        if self._lost(error):
            self._let_go()  # the other connections to that server are gone, too
            self.engine.dispose()
            return True
        return getattr(error, "sqlstate", None) in _TRY_AGAIN

    def _lost(self, error: Exception) -> bool:
        """Whether the server went away; SQLite's never does."""
        state = getattr(error, "sqlstate", None)
        operational = isinstance(error, self.engine.dialect.loaded_dbapi.OperationalError)
        # Class 57P: the server is shutting down or starting; none: the connection broke.
        return self._file is None and operational and (state is None or state.startswith("57P"))

    def _raise_in_words(self, error: Exception) -> None:
        """A sentence about what only the store's owner can change; silent about all else."""
        said = error.orig if isinstance(error, DBAPIError) else error
        code = getattr(said, "sqlstate", None) or getattr(said, "sqlite_errorcode", 1) & 0xFF
        if code in _FULL or (code in _AWAY and self._has_no_room()):
            raise self._full(error) from error
        # SQLite repeats what it found in the file, and that may be no text.
        garbled = isinstance(error, UnicodeDecodeError) or _HALF_MADE.search(str(said))
        if code in _DAMAGED or (self._file is not None and garbled):
            raise StoreUnreachable(
                "the store must be a sound database of askfew's",
                self._named(error),
                "check its address; if it is damaged, keep a copy and go on from a backup",
            ) from error
        if code in _AWAY or (isinstance(said, Exception) and self._lost(said)):
            raise self._unreachable(error) from error

    def _full(self, error: Exception) -> StoreFull:
        return StoreFull(
            "the store must have room",
            self._named(error),
            "free some space on its disk and try again; what was acknowledged is safe",
        )

    def _unreachable(self, error: Exception) -> StoreUnreachable:
        return StoreUnreachable(
            "the store must be reachable",
            self._named(error),
            "check that it exists and that it is running, then try again",
        )

    def _named(self, error: Exception) -> str:
        """The store, and what its driver says."""
        said = error.orig if isinstance(error, DBAPIError) else error
        return f"{self.engine.url.render_as_string()} ({' '.join(str(said).split())})"

    def _has_no_room(self) -> bool:
        """Whether the disk is full: SQLite then has other words for it, too."""
        if self._file is None:
            return False
        try:
            disk = os.statvfs(os.path.dirname(os.path.abspath(self._file)))
        except OSError:
            return False
        return disk.f_bavail * disk.f_frsize < _LITTLE_ROOM or disk.f_favail == 0 < disk.f_files

    @contextmanager
    def _connected(self, engine: Engine) -> Iterator[Connection]:
        try:
            connection = self._alive(engine)
        except (DBAPIError, UnicodeDecodeError) as error:
            self._raise_in_words(error)
            raise self._unreachable(error) from error
        try:
            with connection:
                yield connection
        except (DBAPIError, UnicodeDecodeError) as error:
            self._raise_in_words(error)
            if isinstance(error, DBAPIError) and error.connection_invalidated:
                raise self._unreachable(error) from error
            raise

    def _alive(self, engine: Engine) -> Connection:
        """A connection whose server is there: it may have been restarted since we last asked."""
        connection = engine.connect()
        if self._file is None:
            try:
                engine.dialect.do_ping(connection.connection.dbapi_connection)  # type: ignore[arg-type]
            except self._errors:
                connection.invalidate()
                connection.close()
                engine.dispose()
                return engine.connect()
        return connection

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait for this writer's turn; a killed process gives its turn up by itself."""
        if self._file is None:
            yield
            return
        try:
            lock = os.open(f"{self._file}.lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise self._full(error) from error
            raise self._unreachable(error) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _prepare_sqlite(self, connection: Any, _record: object) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves, the driver must not
        if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            # Not left to the busy time-out, which does not hold for this one.
            with self._turn():
                connection.execute("PRAGMA journal_mode = WAL").close()
        for pragma in ("synchronous = FULL", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}").close()


def _prepare_postgres(connection: Any, _record: object) -> None:
    """Never compile a statement: one that takes a millisecond would be compiled for seconds,
    because it could look at many slots, although it stops at the first that will do.
    """
    connection.execute("SET jit = off")
    connection.commit()


def _engine(url: str) -> tuple[Engine, str | None]:
    """The engine, and the file if it is SQLite's."""
    try:
        parsed = make_url(url)
        backend = parsed.get_backend_name()
        if backend == "sqlite" and parsed.database not in (None, "", ":memory:"):
            options: dict[str, Any] = {"connect_args": {"timeout": _BUSY_SECONDS}}
            return create_engine(parsed, **options), parsed.database
        if backend == "postgresql":
            return create_engine(parsed, pool_size=10, max_overflow=20), None
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


def _begin_sqlite(connection: Connection) -> None:
    """A writer takes its lock at once: one that first reads and then writes could deadlock."""
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
