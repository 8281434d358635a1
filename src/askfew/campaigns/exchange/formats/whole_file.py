"""Write a file as a whole: others see the old one or the new one, never half of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from askfew.errors import InvalidInput

__all__ = ["whole_file", "write_whole"]


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A place beside the file to write to; it takes the file's name when all went well."""
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
    """The content, all of it or none."""
    with whole_file(path) as beside:
        beside.write_bytes(content)
