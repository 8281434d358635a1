"""A small disk that can be filled: a mount of its own, for tests that may make one."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
