"""Reading pictures inside a campaign's folder, and no other files."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath, PureWindowsPath

from askfew.campaigns.sentences import shown
from askfew.errors import InvalidInput

__all__ = ["LARGEST", "check_picture", "media_type", "read_picture"]

LARGEST = 5_000_000
"""The most bytes of a picture. A round number."""

_BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


def media_type(data: bytes) -> str | None:
    """The media type of a picture, by its first bytes; None for anything else.

    SVG is not allowed, because it can contain scripts.

    >>> media_type(b"GIF89a and so on"), media_type(b"<svg>")
    ('image/gif', None)
    """
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _BEGINNINGS.items() if data.startswith(start)), None)


def read_picture(folder: Path, name: str) -> bytes:
    """The bytes of a picture, by its path relative to the folder; it must be inside the folder."""
    # By the rules of both systems: a folder may be written on one and read on the other.
    for path in (PurePosixPath(name), PureWindowsPath(name)):
        if path.anchor or ".." in path.parts:
            raise _outside(name)
    try:
        data = _bytes(os.path.realpath(folder, strict=True), folder / name)
    except OSError as error:
        raise InvalidInput(
            "image must be a file in the folder",
            f"{shown(name)} ({error.strerror})",
            "copy it there, or mend the name",
        ) from None
    if data is None:
        raise _outside(name)
    check_picture(data, name)
    return data


def check_picture(data: bytes, name: str) -> None:
    """Refuse a picture that is too large, or not of a kind that browsers show safely."""
    if len(data) > LARGEST:
        raise InvalidInput(
            f"image must have at most {LARGEST:,} bytes", f"{shown(name)} with more", "shrink it"
        )
    if media_type(data) is None:
        raise InvalidInput(
            "image must be a PNG, JPEG, GIF or WebP picture",
            f"{shown(name)}, which is none",
            "convert it",
        )


def _bytes(folder: str, path: Path) -> bytes | None:
    """The bytes of the file, with symbolic links followed; None if it is outside the folder."""
    real = Path(os.path.realpath(path, strict=True))
    if not real.is_relative_to(folder):
        return None
    if not real.is_file():  # a pipe would block
        raise FileNotFoundError(0, "not a file")
    with real.open("rb") as file:
        return file.read(LARGEST + 1)  # one byte more, so that check_picture sees a larger file


def _outside(name: str) -> InvalidInput:
    return InvalidInput(
        "image must be a path inside the folder", shown(name), "copy the picture into the folder"
    )
