"""The key of an endpoint, and how it is kept out of sight."""

from __future__ import annotations

import json
import re
from urllib.parse import quote

__all__ = ["Secret"]


class Secret:
    """A key that texts must not show, as it is or as addresses, JSON and Python write it.

    >>> Secret("sk/1").struck("Bearer sk/1, https://host/sk%2F1")
    'Bearer [key], https://host/[key]'
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self._shown = re.compile("".join(map(_ways_to_write, key)))

    def __repr__(self) -> str:
        return "Secret()"

    def struck(self, text: str) -> str:
        """The text without the key. Strike before you cut: the half of a key would stay."""
        return self._shown.sub("[key]", text) if self.key else text


def _ways_to_write(character: str) -> str:
    """A pattern for one character of the key; an escaped one has backslashes before it."""
    if character.isalnum() and character.isascii():
        return character
    encoded = quote(character, safe="", errors="replace")
    ways = {character, encoded, encoded.lower(), json.dumps(character)[1:-1], repr(character)[1:-1]}
    return rf"\\{{0,3}}(?:{'|'.join(sorted(map(re.escape, ways)))})"
