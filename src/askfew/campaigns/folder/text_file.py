"""Read a text file that a person wrote: UTF-8, with or without a byte order mark."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from askfew.errors import InvalidInput

__all__ = ["read_text"]


def read_text(path: Path, *, most: int) -> str:
    """The text of a file of at most ``most`` bytes, or InvalidInput with file and line."""
    data = _read_bytes(path, most).removeprefix(codecs.BOM_UTF8)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{path} line {_line(data[: error.start].decode())}: the text must be UTF-8",
            f"the byte 0x{data[error.start]:02X}",
            "save the file as UTF-8",
        ) from None
    before, nul, _ = text.partition("\0")
    if nul:
        raise InvalidInput(
            f"{path} line {_line(before)}: the text must be plain",
            "a NUL character",
            "take it out, or save the file as UTF-8 if it is UTF-16",
        )
    return text


def _read_bytes(path: Path, most: int) -> bytes:
    try:
        # Anything but a plain file may block: a pipe, a device.
        if path.exists() and not path.is_file():
            raise InvalidInput(f"{path}: this must be a file", "something else", "move it away")
        with path.open("rb") as file:
            data = file.read(most + 1)
    except FileNotFoundError:
        raise InvalidInput(f"{path}: this file must be there", "none", "check its name") from None
    except OSError as error:
        raise InvalidInput(
            f"{path}: this file must be readable", error.strerror, "mend its permissions"
        ) from error
    if len(data) > most:
        raise InvalidInput(
            f"{path}: this file must have at most {most:,} bytes", "more", "make it smaller"
        )
    return data


def _line(before: str) -> int:
    """The line on which the text goes on."""
    return len(re.findall(r"\r\n|\r|\n", before)) + 1
