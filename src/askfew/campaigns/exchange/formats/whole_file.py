"""Writing a file as a whole: readers see the old file or the new one, never half of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from askfew.errors import InvalidInput

__all__ = ["whole_file", "write_whole"]


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary path beside the file, renamed to the file's name if all went well."""
    # In the same folder, because a rename is atomic only within one file system.
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield beside
        os.replace(beside, path)
    except OSError as error:
        raise InvalidInput(
            f"{path}: a file must be writable here", error.strerror, "choose another place"
        ) from error
    finally:
        beside.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes) -> None:
    """Write the content, all of it or none."""
    with whole_file(path) as beside:
        beside.write_bytes(content)
