"""No waiting for the disk; and a small disk that can be filled, for tests that may mount one."""

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import event
from sqlalchemy.pool import Pool


def hurry() -> None:
    """From here on, SQLite stores of this process are written without waiting for the disk.

    No test cuts the power, and what a killed process had written is still there. Stores of other
    processes, and all in ``patiently``, are as users have them.
    """
    if not event.contains(Pool, "checkout", _hurry):
        event.listen(Pool, "checkout", _hurry)


@contextmanager
def patiently() -> Iterator[None]:
    """Stores that are opened in this block wait for the disk, as they do for users."""
    event.remove(Pool, "checkout", _hurry)
    try:
        yield
    finally:
        event.listen(Pool, "checkout", _hurry)


def _hurry(connection: Any, record: Any, _proxy: object) -> None:
    # Not at "connect", where the store itself sets the pragma after us.
    if isinstance(connection, sqlite3.Connection) and "in a hurry" not in record.info:
        connection.execute("PRAGMA synchronous = OFF").close()
        record.info["in a hurry"] = True


class SmallDisk:
    """A folder on a disk of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def fill(self, but: int = 0) -> None:
        """Leave no room, but for so many bytes."""
        with self._filler.open("wb", buffering=0) as file:
            size = 0
            try:
                while True:
                    size += file.write(bytes(4096))
            except OSError:
                file.truncate(max(size - but, 0))

    def free(self) -> None:
        """Make room again."""
        self._filler.unlink()


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[SmallDisk | None]:
    """A disk mounted there; None where we may not mount one."""
    options = ["-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs"]
    made = os.geteuid() == 0 and subprocess.run(
        ["mount", *options, str(folder)], capture_output=True, check=False
    )
    if not made or made.returncode:
        yield None
        return
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
