"""Read a picture that lies inside a campaign's folder, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath, PureWindowsPath

from askfew.campaigns.sentences import shown
from askfew.errors import InvalidInput

__all__ = ["LARGEST", "check_picture", "media_type", "read_picture"]

LARGEST = 5_000_000
"""Bytes."""

_BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


def media_type(data: bytes) -> str | None:
    """What kind of picture the bytes are, by how they begin; None for anything else.

    SVG is none of them: it can carry script.

    >>> media_type(b"GIF89a and so on"), media_type(b"<svg>")
    ('image/gif', None)
    """
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _BEGINNINGS.items() if data.startswith(start)), None)


def read_picture(folder: Path, name: str) -> bytes:
    """The bytes of a picture at a path relative to the folder, which it must not leave."""
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
    """Refuse what is too large, or no picture that a browser shows without running anything."""
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
    """What the path leads to, once every symbolic link is followed; None if that is outside."""
    real = Path(os.path.realpath(path, strict=True))
    if not real.is_relative_to(folder):
        return None
    if not real.is_file():  # a pipe would block
        raise FileNotFoundError(0, "not a file")
    with real.open("rb") as file:
        return file.read(LARGEST + 1)


def _outside(name: str) -> InvalidInput:
    return InvalidInput(
        "image must be a path inside the folder", shown(name), "copy the picture into the folder"
    )
