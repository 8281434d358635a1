"""Transactions on the driver's own cursor, for the statements of every question and answer.

For those, SQLAlchemy's bookkeeping costs as much as the database's work, and other writers wait
for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Engine, Executable, PoolProxiedConnection

__all__ = ["RawConnections", "RawTransaction"]

_KEPT = 10
"""Connections kept between raw transactions; more go back to the pool. A plain choice."""
_TEXTS: dict[tuple[str, Executable], tuple[str, dict[str, object]]] = {}
"""Compiled statements by dialect: the text for the driver, and the constants in it."""


class RawTransaction:
    """Runs statements on the driver's own cursor, within one transaction.

    Results are plain tuples, in the order of the columns.
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
        """Switch psycopg's own BEGIN off or on; sqlite3 was set up without one (``engine``)."""
        if self.is_server:
            connection: Any = borrowed.driver_connection
            connection.autocommit = ours
