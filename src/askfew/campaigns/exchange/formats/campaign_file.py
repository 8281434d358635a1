"""A whole campaign in one file: a zip of JSON lines, with a digest of every part.

``campaign.json`` holds the settings and the state, ``<table>.jsonl`` the rows of a table,
``images/<hash>`` the pictures, and ``manifest.json`` the SHA-256 digests of all others.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from askfew import __version__
from askfew.errors import InvalidInput

__all__ = ["CampaignReader", "CampaignWriter"]

FORMAT = 2
"""2: with plans, and seals that begin with what the campaign was given."""
_MANIFEST = "manifest.json"
_BYTES = "base64"
_CHUNK = 1 << 20


class CampaignWriter:
    """Adds part after part; ``finish`` writes what they must add up to."""

    def __init__(self, path: Path) -> None:
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self._digests: dict[str, str] = {}

    def add(self, part: str, chunks: Iterable[bytes]) -> None:
        """A part, chunk by chunk."""
        digest = hashlib.sha256()
        with self._zip.open(part, "w", force_zip64=True) as file:
            for chunk in chunks:
                digest.update(chunk)
                file.write(chunk)
        self._digests[part] = digest.hexdigest()

    def add_rows(self, table: str, rows: Iterable[Mapping[str, object]]) -> None:
        """The rows of a table, one a line."""
        self.add(f"{table}.jsonl", (_line(row) for row in rows))

    def finish(self) -> None:
        """The manifest, and the end."""
        manifest = {"format": FORMAT, "askfew": __version__, "digests": self._digests}
        self._zip.writestr(_MANIFEST, json.dumps(manifest, indent=2))
        self._zip.close()


class CampaignReader:
    """Opens a file only if every part is as it was written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._zip = zipfile.ZipFile(path)
            manifest = json.loads(self._zip.read(_MANIFEST))
            self.parts: dict[str, str] = dict(manifest["digests"])
            version = manifest["format"]
        except FileNotFoundError:
            raise InvalidInput(f"{path}: this file must be there", "none", "check it") from None
        except (OSError, zipfile.BadZipFile, zlib.error, ValueError, KeyError, TypeError) as error:
            raise _damaged(path, f"no campaign ({error})") from None
        if version != FORMAT:
            raise InvalidInput(
                f"{path}: a campaign's file must be of format {FORMAT}",
                version,
                "import it with the askfew that wrote it, then 'askfew store upgrade' that store",
            )
        self._verify()

    def __enter__(self) -> CampaignReader:
        return self

    def __exit__(self, *exception: object) -> None:
        self._zip.close()

    def document(self, part: str) -> dict[str, Any]:
        """A part that is one JSON object."""
        return dict(json.loads(self.content(part)))

    def content(self, part: str) -> bytes:
        """A part as it is."""
        return self._zip.read(part)

    def rows(self, table: str) -> Iterator[dict[str, Any]]:
        """The rows of a table."""
        with self._zip.open(f"{table}.jsonl") as file:
            for line in file:
                yield {key: _value(value) for key, value in json.loads(line).items()}

    def _verify(self) -> None:
        if set(self._zip.namelist()) != {*self.parts, _MANIFEST}:
            raise _damaged(self._path, "other parts than its manifest lists")
        for part, expected in self.parts.items():
            digest = hashlib.sha256()
            try:
                with self._zip.open(part) as file:
                    while chunk := file.read(_CHUNK):
                        digest.update(chunk)
            except (OSError, zipfile.BadZipFile, zlib.error, EOFError) as error:
                raise _damaged(self._path, f"{part} unreadable ({error})") from None
            if digest.hexdigest() != expected:
                raise _damaged(self._path, f"{part} changed")


def _line(row: Mapping[str, object]) -> bytes:
    plain = {
        key: {_BYTES: base64.b64encode(value).decode()} if isinstance(value, bytes) else value
        for key, value in row.items()
    }
    return json.dumps(plain, allow_nan=False).encode() + b"\n"


def _value(value: object) -> object:
    return base64.b64decode(value[_BYTES]) if isinstance(value, dict) else value


def _damaged(path: Path, got: str) -> InvalidInput:
    return InvalidInput(
        f"{path}: this must be a campaign's file as 'askfew export' wrote it",
        got,
        "copy or export it again",
    )
