"""A JSON line for every call: what was asked, what came back, what it cost. Never the key."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

from askfew.errors import InvalidInput
from askfew.workers.llm.endpoint import Secret

__all__ = ["ExchangeLog"]


class ExchangeLog:
    """Lines in a file, appended one by one; ``secret`` is struck out wherever it may appear.

    Several processes may write to one file: each line goes there in one piece, and names its run.
    """

    def __init__(self, path: Path, secret: Secret) -> None:
        self._secret, self._lock = secret, Lock()
        self._run, self._elsewhere = secrets.token_hex(4), 0.0
        try:
            # Not buffered: what is appended by one call stays together.
            self._file = path.open("ab", buffering=0)
            self._others = path.open("rb")
            self.spent = sum(cost for _, cost in self._new_lines())
            if self._others.read():  # a line that was cut
                self._file.write(b"\n")
        except OSError as error:
            raise InvalidInput(
                "the log must be a writable file",
                f"{path} ({error.strerror})",
                "mend it",
            ) from None

    def write(self, **exchange: Any) -> None:
        """One line, on the disk before the next call."""
        line = json.dumps(self._struck({"run": self._run, **exchange}), ensure_ascii=False)
        with self._lock:
            self._file.write(line.encode(errors="replace") + b"\n")

    def spent_elsewhere(self) -> float:
        """What other processes have booked in this file since it was opened here."""
        with self._lock:
            self._elsewhere += sum(cost for run, cost in self._new_lines() if run != self._run)
            return self._elsewhere

    def _new_lines(self) -> Iterator[tuple[str, float]]:
        """Run and cost of every line that is new and whole; others do not count."""
        while (line := self._others.readline()).endswith(b"\n"):
            with suppress(ValueError, KeyError, TypeError, AttributeError):
                exchange = json.loads(line)
                yield exchange.get("run", ""), float(exchange["cost"])
        self._others.seek(-len(line), os.SEEK_CUR)

    def _struck(self, value: Any) -> Any:
        match value:
            case str():
                return self._secret.struck(value)
            case dict():
                return {key: self._struck(each) for key, each in value.items()}
            case list():
                return [self._struck(each) for each in value]
            case _:
                return value

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        self._others.close()
