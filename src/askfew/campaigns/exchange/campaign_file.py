"""A whole campaign in one file: a zip of JSON lines, with a digest of every part.

``campaign.json`` holds the settings and the state, ``<table>.jsonl`` the rows of a table,
``images/<hash>`` the pictures, and ``manifest.json`` the SHA-256 digests of all others.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from askfew import __version__
from askfew.errors import InvalidInput, shown

__all__ = ["CampaignReader", "CampaignWriter"]

FORMAT = 3
"""2: with plans, and seals that begin with what the campaign was given; 3: with flags, gold
questions and names of groups. Files of format 2 are read as if they had none of these."""
_READABLE = (2, 3)
_SINCE_3 = ("flags", "gold")
_MANIFEST = "manifest.json"
_BYTES = "base64"
_CHUNK = 1 << 20
_LARGEST_LINE = 1 << 26
"""Bytes of a line, enough for a step of a million rows."""
_ALWAYS_ALLOWED, _LARGEST_RATIO = 1 << 26, 300
"""A file may unpack to the first number of bytes, plus the second for each of its own bytes. A
usual file has 20 for each."""
_UNREADABLE = (
    *(OSError, zipfile.BadZipFile, zlib.error, EOFError, struct.error, ValueError),
    *(RuntimeError, NotImplementedError, OverflowError, MemoryError),
)
"""What zipfile may raise on a file that is no zip, a damaged one, or one with a password."""


class CampaignWriter:
    """Writes a campaign's file part by part; ``finish`` adds the digests."""

    def __init__(self, path: Path) -> None:
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self._digests: dict[str, str] = {}

    def add(self, part: str, chunks: Iterable[bytes]) -> None:
        """Write a part, chunk by chunk."""
        digest = hashlib.sha256()
        # The size is not known before, and may exceed the 4 GB of a plain zip.
        with self._zip.open(part, "w", force_zip64=True) as file:
            for chunk in chunks:
                digest.update(chunk)
                file.write(chunk)
        self._digests[part] = digest.hexdigest()

    def add_rows(self, table: str, rows: Iterable[Mapping[str, object]]) -> None:
        """Write the rows of a table, one on each line."""
        self.add(f"{table}.jsonl", (_line(row) for row in rows))

    def finish(self) -> None:
        """Write the manifest, and close the file."""
        manifest = {"format": FORMAT, "askfew": __version__, "digests": self._digests}
        self._zip.writestr(_MANIFEST, json.dumps(manifest, indent=2))
        self._zip.close()


class CampaignReader:
    """Reads a campaign's file, after checking the digest of every part.

    A small file can unpack to a huge one, so the sizes of each part, of each line and of the whole
    are bounded.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except FileNotFoundError:
            raise InvalidInput(f"{path}: this file must exist", "none", "check it") from None
        except _UNREADABLE as error:
            raise _damaged(path, f"no campaign ({error})") from None
        try:
            self._check_sizes()
            self.parts = self._manifest()
            # All digests before any row is read: half of a damaged campaign is worth nothing.
            self._verify()
        except BaseException:
            self._zip.close()
            raise

    def __enter__(self) -> CampaignReader:
        return self

    def __exit__(self, *exception: object) -> None:
        self._zip.close()

    def document(self, part: str) -> dict[str, Any]:
        """A part that is one JSON object."""
        return self._object(part, self.content(part, _LARGEST_LINE))

    def content(self, part: str, most: int) -> bytes:
        """A part's bytes, at most ``most`` of them."""
        try:
            with self._zip.open(part) as file:
                # One byte more than allowed is enough to know that it is too much, however large it
                # is.
                content = file.read(most + 1)
        except KeyError:
            raise _damaged(self._path, f"no part {part}") from None
        except _UNREADABLE as error:
            raise _damaged(self._path, f"{part} unreadable ({error})") from None
        if len(content) > most:
            raise _damaged(self._path, f"{part} of more than {most:,} bytes")
        return content

    def rows(self, table: str) -> Iterator[dict[str, Any]]:
        """The rows of a table; none for tables that came with format 3, if the file is older."""
        part = f"{table}.jsonl"
        if self.format == 2 and table in _SINCE_3:
            return
        try:
            with self._zip.open(part) as file:
                for number, line in enumerate(iter(lambda: file.readline(_LARGEST_LINE + 1), b"")):
                    place = f"{part} line {number + 1}"
                    if len(line) > _LARGEST_LINE:
                        raise _damaged(self._path, f"{place} of more than {_LARGEST_LINE:,} bytes")
                    row = self._object(place, line)
                    yield {key: self._value(place, value) for key, value in row.items()}
        except KeyError:
            raise _damaged(self._path, f"no part {part}") from None

    def _object(self, place: str, content: bytes) -> dict[str, Any]:
        try:
            found = json.loads(content, parse_constant=_no_number)
        except (ValueError, RecursionError) as error:
            raise _damaged(self._path, f"{place} with an error ({error})") from None
        if not isinstance(found, dict):
            raise _damaged(self._path, f"{place}, which is no object")
        return found

    def _value(self, place: str, value: object) -> object:
        if not isinstance(value, dict):
            return value
        try:
            return base64.b64decode(value[_BYTES], validate=True)
        except (KeyError, TypeError, ValueError):
            raise _damaged(self._path, f"{place} with bytes that are not base64") from None

    def _check_sizes(self) -> None:
        parts = self._zip.infolist()
        whole = sum(part.file_size for part in parts)
        # By the sizes that the file states: no more than these can be unpacked from it.
        most = _ALWAYS_ALLOWED + _LARGEST_RATIO * self._path.stat().st_size
        if whole > most:
            raise _damaged(self._path, f"{whole:,} bytes when unpacked, more than {most:,}")

    def _manifest(self) -> dict[str, str]:
        manifest = self.document(_MANIFEST)
        digests, version = manifest.get("digests"), manifest.get("format")
        if version not in _READABLE:
            raise InvalidInput(
                f"{self._path}: a campaign's file must be of format {FORMAT}",
                shown(version),
                "import it with the askfew that wrote it, then 'askfew store upgrade' that store",
            )
        if not isinstance(digests, dict):
            raise _damaged(self._path, "a manifest without digests")
        self.format = version
        return digests

    def _verify(self) -> None:
        # Sorted lists, not sets: a zip may hold two parts of one name, and only one would be
        # checked.
        if sorted(self._zip.namelist()) != sorted([*self.parts, _MANIFEST]):
            raise _damaged(self._path, "other parts than its manifest lists")
        for part, expected in self.parts.items():
            digest = hashlib.sha256()
            try:
                with self._zip.open(part) as file:
                    while chunk := file.read(_CHUNK):
                        digest.update(chunk)
            except _UNREADABLE as error:
                raise _damaged(self._path, f"{part} unreadable ({error})") from None
            if digest.hexdigest() != expected:
                raise _damaged(self._path, f"{part} changed")


# For NaN and Infinity, which Python's parser takes but JSON does not have.
def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _line(row: Mapping[str, object]) -> bytes:
    plain = {
        key: {_BYTES: base64.b64encode(value).decode()} if isinstance(value, bytes) else value
        for key, value in row.items()
    }
    # JSON has no NaN: the file would be refused when it is read.
    return json.dumps(plain, allow_nan=False).encode() + b"\n"


def _damaged(path: Path, got: str) -> InvalidInput:
    return InvalidInput(
        f"{path}: this must be a campaign's file as 'askfew export' wrote it",
        got,
        "copy or export it again",
    )
