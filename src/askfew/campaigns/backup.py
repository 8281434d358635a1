"""Backing up a whole store while it is in use, and restoring it.

The copy shows the store at one moment. It is a SQLite file for either kind of store, and itself a
store: ``askfew doctor`` can examine it, it can be served or restored. From SQLite it is made by
SQLite's own backup, from PostgreSQL in one snapshot transaction; neither makes a writer wait.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from askfew.campaigns.db.queries.tables import copy_file, copy_tables, totals
from askfew.campaigns.exchange.files import whole_file
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput

__all__ = ["back_up", "restore"]


def back_up(store: Store, path: Path) -> dict[str, int]:
    """Write the copy, all of it or nothing; returns how many campaigns and answers it has."""
    own = store.database.file
    # Writing the copy over the store would destroy what is being copied.
    if own is not None and os.path.realpath(path) == os.path.realpath(own):
        raise InvalidInput("a backup must be another file", f"the store {own}", "name another")
    with whole_file(path) as beside:
        try:
            if own is not None:
                copy_file(store.database, beside)
            else:
                _copy_to_file(store, beside)
            with closing(sqlite3.connect(beside)) as made:
                # Out of WAL mode, so that the copy is one file that may be moved alone.
                made.execute("PRAGMA journal_mode = DELETE")
                return {table: _count(made, table) for table in ("campaigns", "answers")}
        except sqlite3.Error as error:
            raise InvalidInput(
                f"{path}: a file must be writable here", error, "choose another place"
            ) from error
        finally:
            # SQLite and our lock make files beside the one that is written.
            for left in ("-wal", "-shm", ".lock"):
                Path(f"{beside}{left}").unlink(missing_ok=True)


def restore(store: Store, path: Path) -> dict[str, int]:
    """Fill an empty store from a backup; returns how many campaigns and answers it has then."""
    if not path.is_file():
        raise InvalidInput(f"{path}: this file must exist", "none", "check its name")
    backup = Store(f"sqlite:///{path}")
    try:
        with backup.database.snapshot() as source, store.database.write() as target:
            # Numbers of campaigns are in all ids: two stores cannot be poured into one.
            if totals(target)["campaigns"]:
                raise InvalidInput(
                    "a store to be restored must be empty", "one with campaigns", "name a new one"
                )
            copy_tables(source, target)
            return totals(target)
    finally:
        backup.close()


def _copy_to_file(store: Store, beside: Path) -> None:
    copy = Store(f"sqlite:///{beside}")
    try:
        with store.database.snapshot() as source, copy.database.write() as target:
            copy_tables(source, target)
    finally:
        copy.close()


def _count(made: sqlite3.Connection, table: str) -> int:
    (count,) = made.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(count)
