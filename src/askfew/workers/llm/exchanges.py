"""A JSON line for every call: what was asked, what came back, what it cost. Never the key."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Lock
from typing import Any

from askfew.errors import InvalidInput

__all__ = ["ExchangeLog"]


class ExchangeLog:
    """Lines in a file, appended one by one; ``secret`` is struck out wherever it may appear."""

    def __init__(self, path: Path, secret: str) -> None:
        self._secret, self._lock = secret, Lock()
        try:
            self.spent = _spent(path)
            self._file = path.open("a", encoding="utf-8", errors="replace")
            if self._file.tell() and not path.read_bytes().endswith(b"\n"):
                self._file.write("\n")  # after a line that was cut
        except OSError as error:
            raise InvalidInput(
                "the log must be a writable file",
                f"{path} ({error.strerror})",
                "mend it",
            ) from None

    def write(self, **exchange: Any) -> None:
        """One line, on the disk before the next call."""
        line = json.dumps(self._struck(exchange), ensure_ascii=False)
        with self._lock:
            self._file.write(line + "\n")
            self._file.flush()

    def _struck(self, value: Any) -> Any:
        match value:
            case str():
                return self.without_secret(value)
            case dict():
                return {key: self._struck(each) for key, each in value.items()}
            case list():
                return [self._struck(each) for each in value]
            case _:
                return value

    def without_secret(self, text: str) -> str:
        """The text with the key struck out, should an endpoint have sent it back."""
        return text.replace(self._secret, "[key]") if self._secret else text

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _spent(path: Path) -> float:
    """What the calls in a log have cost; a last line that was cut does not count."""
    if not path.exists():
        return 0.0
    total = 0.0
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                total += float(json.loads(line)["cost"])
            except (ValueError, KeyError, TypeError):
                continue
    return total
