"""What a database's errors mean: which may pass if one tries again, and the sentence for others."""

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
"""How a query ends that meets what cannot be."""
TOO_BUSY = PoolTimeout
"""No connection was free in time."""
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


def driver_words(error: Exception) -> str:
    """What the database's driver says."""
    said = error.orig if isinstance(error, DBAPIError) else error
    return " ".join(str(said).split())


class Failures:
    """The errors of one database; ``file`` is SQLite's, None of a server."""

    def __init__(self, engine: Engine, file: str | None) -> None:
        self._engine, self._file = engine, file
        self.driver_errors: type[Exception] = engine.dialect.loaded_dbapi.Error

    def retried(self, attempt: Callable[[], T], reconnect: Callable[[], None]) -> T:
        """The attempt's result. It is made again, after ``reconnect``, if the server went away,
        and if two transactions stood in each other's way.
        """
        for left in reversed(range(_TRIES)):
            try:
                return attempt()
            except self.driver_errors as error:
                lost = self._lost(error)
                if lost:
                    reconnect()  # the other connections to that server are gone, too
                may_pass = lost or getattr(error, "sqlstate", None) in _TRY_AGAIN
                if left == 0 or not may_pass:
                    self._translate(error)
                    raise
        raise AssertionError("the last attempt returns or raises")

    @contextmanager
    def connecting(self) -> Iterator[None]:
        """What goes wrong here is said in a sentence: there is no other use for it."""
        try:
            yield
        except (DBAPIError, UnicodeDecodeError) as error:
            self._translate(error)
            raise self._unreachable(error) from error
        except OSError as error:
            raise self.no_lock(error) from error

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Errors that only the store's owner can mend are said in a sentence."""
        try:
            yield
        except (DBAPIError, UnicodeDecodeError) as error:
            self._translate(error)
            if isinstance(error, DBAPIError) and error.connection_invalidated:
                raise self._unreachable(error) from error
            raise

    def no_lock(self, error: OSError) -> Exception:
        """The sentence for a lock's file that cannot be made."""
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        return self._full(error) if full else self._unreachable(error)

    def _lost(self, error: Exception) -> bool:
        """Whether the server went away; SQLite's never does."""
        state = getattr(error, "sqlstate", None)
        operational = isinstance(error, self._engine.dialect.loaded_dbapi.OperationalError)
        # Class 57P: the server is shutting down or starting; none: the connection broke.
        return self._file is None and operational and (state is None or state.startswith("57P"))

    def _translate(self, error: Exception) -> None:
        """Raise a sentence about what only the store's owner can change; silent about all else."""
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
        return f"{self._engine.url.render_as_string()} ({driver_words(error)})"

    def _has_no_room(self) -> bool:
        """Whether the disk is full: SQLite then has other words for it, too."""
        if self._file is None:
            return False
        try:
            disk = os.statvfs(os.path.dirname(os.path.abspath(self._file)))
        except OSError:
            return False
        return disk.f_bavail * disk.f_frsize < _LITTLE_ROOM or disk.f_favail == 0 < disk.f_files
