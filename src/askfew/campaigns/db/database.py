"""Short, durable transactions on SQLite and PostgreSQL.

SQLite runs in WAL mode with full sync, and every writer first waits for a file lock
(``connections.WriteLock``). PostgreSQL needs none of this. ``read``, ``snapshot`` and ``write``
give a SQLAlchemy connection; ``raw_transaction`` and ``fetch_one`` are faster, for the statements
that run with every question and answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Protocol, TypeVar

from sqlalchemy import (
    Connection,
    Double,
    Engine,
    Executable,
    PoolProxiedConnection,
    cast,
    extract,
    func,
    select,
    text,
)

from askfew.campaigns.db.connections import RawConnections, WriteLock, open_engine
from askfew.campaigns.db.failures import Failures
from askfew.errors import StoreUnreachable

__all__ = ["Connection", "Database", "Joined", "RawTransaction", "Transactions"]

T = TypeVar("T")

_SERVER_TIME = select(cast(extract("epoch", func.clock_timestamp()), Double))
_TIME_IS_GOOD = 60.0
"""Seconds until the server's clock is read again. Two clocks drift apart by milliseconds in that
time, and leases last 30 seconds at least."""


class Transactions(Protocol):
    """Something that gives transactions: a Database, or a transaction that has begun (Joined)."""

    def read(self) -> AbstractContextManager[Connection]:
        """A transaction that only reads."""

    def write(self) -> AbstractContextManager[Connection]:
        """A transaction that may write."""


class Joined:
    """A transaction that has begun, in the place of a Database.

    Everything done through it is committed or rolled back together with that transaction.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """The transaction itself."""
        yield self._connection

    write = read


class RawTransaction:
    """Runs statements on the driver's own cursor, within one transaction.

    For the statements of every question and answer: SQLAlchemy's bookkeeping would cost as much as
    the database's work, and other writers would wait for it. Results are plain tuples, in the order
    of the columns.
    """

    def __init__(self, connections: RawConnections, cursor: Any) -> None:
        self._connections, self._cursor = connections, cursor
        self.at_once = connections.is_server
        """Whether one statement can write to several tables (PostgreSQL, by WITH)."""

    def all(self, statement: Executable, parameters: Mapping[str, object]) -> list[Any]:
        """The rows that a statement returns."""
        text, constants = self._connections.compiled(statement)
        self._cursor.execute(text, {**constants, **parameters})
        rows: list[Any] = self._cursor.fetchall()
        return rows

    def first(self, statement: Executable, parameters: Mapping[str, object]) -> Any:
        """The first row that a statement returns, or None."""
        rows = self.all(statement, parameters)
        return rows[0] if rows else None

    def run(self, statement: Executable, *parameters: Mapping[str, object]) -> None:
        """Run a statement that returns nothing, once for each set of parameters."""
        text, constants = self._connections.compiled(statement)
        if len(parameters) == 1:
            self._cursor.execute(text, {**constants, **parameters[0]})
        else:
            self._cursor.executemany(text, [{**constants, **each} for each in parameters])


class Database:
    """One database by its URL: ``sqlite:///FILE`` or ``postgresql+psycopg://...``."""

    def __init__(self, url: str) -> None:
        self.engine, self._file = open_engine(url)
        self.raw = RawConnections(self.engine)
        self._failures = Failures(self.engine, self._file)
        self._clock_read: tuple[float, float] | None = None
        """The server's time when it was last read, and our monotonic clock at that moment."""

    @property
    def file(self) -> str | None:
        """The file of a SQLite store; None for a server."""
        return self._file

    def now(self) -> float:
        """Seconds since the epoch by the store's own clock, which decides when leases expire.

        For PostgreSQL it is the server's clock. Machines that serve one store may disagree about
        the time, and the leases of one that is an hour ahead would last an hour longer. A SQLite
        file is on one machine, and that machine's clock is used.
        """
        if self._file is not None:
            return time.time()
        # Since the reading only seconds are counted, by a clock that nobody can set.
        read, here = self._clock_read, time.monotonic()
        if read is None or here - read[1] > _TIME_IS_GOOD:
            try:
                said = float(self.fetch_one(_SERVER_TIME, {})[0])
                read = self._clock_read = (said, time.monotonic())
            except StoreUnreachable:
                # The last reading still tells the time, while the server restarts.
                if read is None:
                    raise
        return read[0] + time.monotonic() - read[1]

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that only reads."""
        with self._connected(self.engine) as connection, connection.begin():
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A reading transaction that sees one state of the store, whatever others commit.

        Every transaction of SQLite is like this. PostgreSQL's default isolation level shows each
        statement the newest commits.
        """
        with self.read() as connection:
            if self._file is None:
                # It must be the first statement of its transaction.
                isolated = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
                connection.execute(text(isolated))
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that may write; committed at the end, or rolled back on an error."""
        writing = self.engine.execution_options(writes=True)
        # Connected before it waits for its turn: no other writer waits while it connects.
        with self._connected(writing) as connection, self._turn(), connection.begin():
            yield connection

    def fetch_one(self, statement: Executable, parameters: Mapping[str, object]) -> Any:
        """The first row of a statement that only reads, or None; the fastest way to read.

        It needs no transaction and waits for no writer.
        """

        def attempt() -> Any:
            borrowed = self._borrow()
            with self._returned(borrowed):
                return RawTransaction(self.raw, borrowed.cursor()).first(statement, parameters)

        return self._failures.retried(attempt, self._reconnect)

    def raw_transaction(
        self, work: Callable[[RawTransaction], T], *, one_by_one: bool = False
    ) -> T:
        """Run ``work`` in a transaction that may write, and return its result.

        It is run again if the connection to the server broke, or if PostgreSQL rolled it back
        because of a conflict or a deadlock. ``work`` must be safe to run again even after a commit:
        the connection may break after the commit and before we hear of it.

        With ``one_by_one``, every statement of ``work`` is a transaction of its own on PostgreSQL,
        where one statement can write to several tables (see ``RawTransaction.at_once``).
        """

        def attempt() -> T:
            borrowed = self._borrow()
            # In this order a failed transaction is rolled back before the next writer gets the
            # lock.
            with self._turn(), self._returned(borrowed):
                cursor = borrowed.cursor()
                if self._file is not None:
                    cursor.execute("BEGIN IMMEDIATE")
                elif not one_by_one:
                    cursor.execute("BEGIN")
                result = work(RawTransaction(self.raw, cursor))
                borrowed.commit()
                return result

        return self._failures.retried(attempt, self._reconnect)

    def close(self) -> None:
        """Close all connections."""
        self._reconnect()

    def _reconnect(self) -> None:
        self.raw.let_go()
        self.engine.dispose()

    def _borrow(self) -> PoolProxiedConnection:
        if (kept := self.raw.at_hand()) is not None:
            return kept
        with self._failures.connecting():
            return self.raw.borrow()

    @contextmanager
    def _returned(self, borrowed: PoolProxiedConnection) -> Iterator[None]:
        """Take the connection back at the end, rolled back if there was an error."""
        try:
            yield
        except BaseException:  # an interrupt, too: a kept connection must have no open transaction
            self.raw.roll_back(borrowed)
            raise
        self.raw.keep(borrowed)

    @contextmanager
    def _connected(self, engine: Engine) -> Iterator[Connection]:
        with self._failures.connecting():
            connection = engine.connect()
        with self._failures.translated(), connection:
            yield connection

    def _turn(self) -> AbstractContextManager[None]:
        """The lock that a writer holds on SQLite; nothing on PostgreSQL."""
        if self._file is None:
            return nullcontext()
        try:
            return WriteLock(self._file)
        except OSError as error:
            raise self._failures.no_lock(error) from error
