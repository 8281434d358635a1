"""A copy of a whole store while it is in use, as it stood at one moment; and the way back.

The copy is a SQLite file, whatever the store is: a store like any other, to be examined by
``askfew doctor``, served, or restored. From SQLite it is made by SQLite's own backup, from
PostgreSQL in one transaction in which nothing moves; neither makes a writer wait.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, insert, select, text

from askfew.campaigns.db.schema import answers, campaigns, metadata
from askfew.campaigns.exchange.formats.whole_file import whole_file
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput

__all__ = ["back_up", "restore"]

_ROWS_AT_ONCE = 2000


def back_up(store: Store, path: Path) -> dict[str, int]:
    """Write the copy, all of it or nothing; how many campaigns and answers it has."""
    own = store.database.engine.url.database or ""
    is_sqlite = store.database.engine.dialect.name == "sqlite"
    if is_sqlite and os.path.realpath(path) == os.path.realpath(own):
        raise InvalidInput("a backup must be another file", f"the store {own}", "name another")
    with whole_file(path) as beside:
        try:
            if is_sqlite:
                _copy_file(store, beside)
            else:
                _copy_to_file(store, beside)
        except sqlite3.Error as error:
            raise InvalidInput(
                f"{path}: a file must be writable here", error, "choose another place"
            ) from error
        finally:
            for left in ("-wal", "-shm", ".lock"):
                Path(f"{beside}{left}").unlink(missing_ok=True)
        with closing(sqlite3.connect(beside)) as made:
            return {table: _count(made, table) for table in (campaigns.name, answers.name)}


def restore(store: Store, path: Path) -> dict[str, int]:
    """Fill an empty store with what a backup has."""
    if not path.is_file():
        raise InvalidInput(f"{path}: this file must be there", "none", "check its name")
    backup = Store(f"sqlite:///{path}")
    try:
        with backup.database.snapshot() as source, store.database.write() as target:
            if target.execute(select(func.count()).select_from(campaigns)).scalar_one():
                raise InvalidInput(
                    "a store to be restored must be empty", "one with campaigns", "name a new one"
                )
            _copy_rows(source, target)
            if target.dialect.name == "postgresql":
                last = "(SELECT max(id) FROM campaigns)"
                sequence = "pg_get_serial_sequence('campaigns', 'id')"
                target.execute(text(f"SELECT setval({sequence}, {last}) WHERE {last} > 0"))
            count = select(func.count()).select_from
            return {
                table.name: target.execute(count(table)).scalar_one()
                for table in (campaigns, answers)
            }
    finally:
        backup.close()


def _copy_file(store: Store, beside: Path) -> None:
    borrowed = store.database.engine.raw_connection()
    try:
        source: Any = borrowed.driver_connection
        with closing(sqlite3.connect(beside)) as target:
            source.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")  # one file, with nothing beside it
    finally:
        borrowed.close()


def _copy_to_file(store: Store, beside: Path) -> None:
    copy = Store(f"sqlite:///{beside}")
    try:
        with store.database.snapshot() as source, copy.database.write() as target:
            _copy_rows(source, target)
    finally:
        copy.close()
    with closing(sqlite3.connect(beside)) as made:
        made.execute("PRAGMA journal_mode = DELETE")


def _copy_rows(source: Connection, target: Connection) -> None:
    for table in metadata.sorted_tables:
        rows = source.execute(
            select(table).order_by(*table.primary_key).execution_options(yield_per=_ROWS_AT_ONCE)
        )
        for chunk in rows.mappings().partitions():
            target.execute(insert(table), [dict(row) for row in chunk])


def _count(made: sqlite3.Connection, table: str) -> int:
    (count,) = made.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(count)
