"""What the database's errors mean: which are retried, and the sentence for the others."""

from __future__ import annotations

import errno
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, InvalidRequestError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from askfew.errors import StoreFull, StoreUnreachable

__all__ = ["DATABASE_ERRORS", "TOO_BUSY", "Failures", "driver_words"]

T = TypeVar("T")

DATABASE_ERRORS = (DBAPIError, InvalidRequestError)
"""What a query raises on a damaged store."""
TOO_BUSY = PoolTimeout
"""No connection was free in time."""
_TRIES = 5
"""Attempts of one transaction, the first included. A plain choice."""
_TRY_AGAIN = ("40001", "40P01")
"""PostgreSQL's serialization failure and deadlock: it rolled one of two transactions back."""
_FULL = ("53100", sqlite3.SQLITE_FULL)
_AWAY = (
    # Read-only transaction, out of memory, too many connections, input or output error.
    *("25006", "53200", "53300", "58030"),
    *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM),
    *(sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_AUTH),
)
"""The store cannot serve just now: read only, too many connections, a disk that fails."""
_DAMAGED = (
    # No such table, no such column, damaged data, damaged index.
    *("42P01", "42703", "XX001", "XX002"),
    *(sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_FORMAT),
)
"""Not a database, a damaged one, or one without askfew's tables."""
_HALF_MADE = re.compile("no such (table|column)|Could not decode|malformed")
_LITTLE_ROOM = 1 << 16
"""Bytes. With less free space the disk counts as full: SQLite starts the files beside its own with
half of that."""


def driver_words(error: Exception) -> str:
    """The message of the database's driver, on one line."""
    said = error.orig if isinstance(error, DBAPIError) else error
    return " ".join(str(said).split())


class Failures:
    """Handles the errors of one database; ``file`` is that of a SQLite store, None for a server."""

    def __init__(self, engine: Engine, file: str | None) -> None:
        self._engine, self._file = engine, file
        self.driver_errors: type[Exception] = engine.dialect.loaded_dbapi.Error

    def retried(self, attempt: Callable[[], T], reconnect: Callable[[], None]) -> T:
        """The result of ``attempt``, which is retried after a lost connection or a conflict.

        ``reconnect`` is called before the retry if the connection was lost.
        """
        for left in reversed(range(_TRIES)):
            try:
                return attempt()
            except self.driver_errors as error:
                lost = self._lost(error)
                if lost:
                    reconnect()  # all of them: the other connections to that server are lost too
                may_pass = lost or getattr(error, "sqlstate", None) in _TRY_AGAIN
                if left == 0 or not may_pass:
                    self._translate(error)
                    raise
        raise AssertionError("the last attempt returns or raises")

    @contextmanager
    def connecting(self) -> Iterator[None]:
        """Around connecting: every error becomes StoreFull or StoreUnreachable with a sentence."""
        try:
            yield
        except (DBAPIError, UnicodeDecodeError) as error:
            self._translate(error)
            raise self._unreachable(error) from error
        except OSError as error:
            raise self.no_lock(error) from error

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Around statements: errors that only the store's owner can fix get a sentence."""
        try:
            yield
        except (DBAPIError, UnicodeDecodeError) as error:
            self._translate(error)
            if isinstance(error, DBAPIError) and error.connection_invalidated:
                raise self._unreachable(error) from error
            raise

    def no_lock(self, error: OSError) -> Exception:
        """The error for a lock file that cannot be made."""
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        return self._full(error) if full else self._unreachable(error)

    def _lost(self, error: Exception) -> bool:
        """Whether the connection to the server was lost; never on SQLite."""
        state = getattr(error, "sqlstate", None)
        operational = isinstance(error, self._engine.dialect.loaded_dbapi.OperationalError)
        # SQLSTATE 57P..: the server is shutting down or starting; none: the connection broke.
        return self._file is None and operational and (state is None or state.startswith("57P"))

    def _translate(self, error: Exception) -> None:
        """Raise StoreFull or StoreUnreachable for what only the owner can fix; else return."""
        said = error.orig if isinstance(error, DBAPIError) else error
        # The low byte of SQLite's extended code is the primary code; 1 is its general error.
        code = getattr(said, "sqlstate", None) or getattr(said, "sqlite_errorcode", 1) & 0xFF
        if code in _FULL or (code in _AWAY and self._has_no_room()):
            raise self._full(error) from error
        # SQLite's message may quote bytes of a damaged file, which need not be text.
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
        """The store's address, and the driver's message."""
        return f"{self._engine.url.render_as_string()} ({driver_words(error)})"

    def _has_no_room(self) -> bool:
        """Whether the disk is full. SQLite reports a full disk by other error codes, too."""
        if self._file is None:
            return False
        try:
            disk = os.statvfs(os.path.dirname(os.path.abspath(self._file)))
        except OSError:
            return False
        # Too few bytes, or no inode left where the file system counts them.
        return disk.f_bavail * disk.f_frsize < _LITTLE_ROOM or disk.f_favail == 0 < disk.f_files
