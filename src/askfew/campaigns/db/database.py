"""Transactions on SQLite and PostgreSQL: short, and never losing what they committed.

SQLite runs in WAL mode with full sync, and every writer first queues on a file lock (``lock``).
PostgreSQL needs none of this. ``read``, ``snapshot`` and ``write`` give a SQLAlchemy connection,
for all that is rare; ``raw_transaction`` and ``fetch_one`` are for what is frequent (``raw``).
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

from askfew.campaigns.db.engine import WriteLock, open_engine
from askfew.campaigns.db.failures import Failures
from askfew.campaigns.db.raw import RawConnections, RawTransaction
from askfew.errors import StoreUnreachable

__all__ = ["Connection", "Database", "Joined", "Transactions"]

T = TypeVar("T")

_SERVER_TIME = select(cast(extract("epoch", func.clock_timestamp()), Double))
_TIME_IS_GOOD = 60.0
"""Seconds for which the server's clock need not be read again."""


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
        self.engine, self._file = open_engine(url)
        self.raw = RawConnections(self.engine)
        self._failures = Failures(self.engine, self._file)
        self._clock_read: tuple[float, float] | None = None
        """What the server's clock said, and ours that only counts seconds, when it was read."""

    @property
    def file(self) -> str | None:
        """The file, if it is SQLite's; None of a server."""
        return self._file

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
                said = float(self.fetch_one(_SERVER_TIME, {})[0])
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
    def snapshot(self) -> Iterator[Connection]:
        """A reading transaction in which nothing moves, whatever others write meanwhile.

        SQLite's transactions are like this by themselves; PostgreSQL's see every new commit unless
        told otherwise.
        """
        with self.read() as connection:
            if self._file is None:
                isolated = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
                connection.execute(text(isolated))
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that may change things; committed at the end, or not at all."""
        writing = self.engine.execution_options(writes=True)
        with self._connected(writing) as connection, self._turn(), connection.begin():
            yield connection

    def fetch_one(self, statement: Executable, parameters: Mapping[str, object]) -> Any:
        """The first row of a statement that only looks, or None; the quickest way to ask.

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
        """``work`` in a transaction that may change things.

        It is run again if the server had gone away and is back, or if two transactions stood in
        each other's way. So ``work`` must bear to be run again even after it was committed: the
        connection may break after the commit and before we hear of it.

        With ``one_by_one``, every statement of ``work`` may be a transaction of its own, where the
        database can write to several tables in one (see ``RawTransaction.at_once``).
        """

        def attempt() -> T:
            borrowed = self._borrow()
            # A failed transaction is rolled back before the next writer has its turn.
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
        """Give back all connections."""
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
        """Takes the connection back at the end, whatever happens."""
        try:
            yield
        except BaseException:
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
        """On SQLite, wait for this writer's turn."""
        if self._file is None:
            return nullcontext()
        try:
            return WriteLock(self._file)
        except OSError as error:
            raise self._failures.no_lock(error) from error
