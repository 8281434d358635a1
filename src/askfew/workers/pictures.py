"""Pictures of items, fetched once each: as bytes, or as files for those who want a path."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from askfew.campaigns.folder.pictures import media_type
from askfew.errors import InvalidInput
from askfew.workers.desk import Desk

__all__ = ["Pictures"]


class Pictures:
    """The pictures of one desk's campaign, in a folder of their own until closed."""

    def __init__(self, desk: Desk) -> None:
        self._desk, self._lock = desk, Lock()
        self._folder = TemporaryDirectory(prefix="askfew-")

    def file(self, digest: str) -> Path:
        """The file of a picture; its ending says what kind it is."""
        if not digest.isalnum():  # it becomes a file's name
            raise InvalidInput("a picture must have a hash", repr(digest), "mend it")
        with self._lock:
            there = next(Path(self._folder.name).glob(f"{digest}.*"), None)
            if there is None:
                content = self._desk.image(digest)
                ending = (media_type(content) or "image/unknown").partition("/")[2]
                there = Path(self._folder.name, f"{digest}.{ending}")
                there.write_bytes(content)
        return there

    def content(self, digest: str) -> tuple[str, bytes]:
        """Media type and bytes of a picture."""
        content = self.file(digest).read_bytes()
        return media_type(content) or "application/octet-stream", content

    def close(self) -> None:
        """Take the files away."""
        self._folder.cleanup()
