"""One writer at a time: whoever writes to a SQLite file first waits here.

SQLite's own busy time-out polls, and under load starves whoever is unlucky. This lock blocks, and
the kernel wakes the waiting in turn. The library filelock polls, too, so it would not do.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["locked", "open_lock"]


def open_lock(file: str) -> int:
    """The lock beside the file; OSError if it cannot be made."""
    return os.open(f"{file}.lock", os.O_RDWR | os.O_CREAT, 0o644)


@contextmanager
def locked(lock: int) -> Iterator[None]:
    """Wait for this writer's turn; a killed process gives its turn up by itself."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
