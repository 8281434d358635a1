"""Which format a file is written or read in, when nobody says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from askfew.errors import InvalidInput

__all__ = ["by_ending"]


def by_ending(path: Path, formats: Mapping[str, str]) -> str:
    """The format that the file's ending stands for.

    >>> by_ending(Path("answers.CSV"), {".csv": "csv"})
    'csv'
    """
    kind = formats.get(path.suffix.lower())
    if kind is None:
        raise InvalidInput(
            f"the file's ending must be one of {', '.join(formats)}",
            repr(path.name),
            "name it so, or say --format",
        )
    return kind
