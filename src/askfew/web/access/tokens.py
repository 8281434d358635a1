"""Tokens: random, shown once, kept as hashes."""

from __future__ import annotations

import hashlib
import hmac
import secrets

__all__ = ["csrf_of", "hash_of", "new_token", "same"]


def new_token() -> str:
    """256 random bits, fit for a link."""
    return secrets.token_urlsafe(32)


def hash_of(token: str) -> str:
    """What a store keeps. The token is random, so a plain hash cannot be guessed backwards.

    >>> len(hash_of("anything")), hash_of("a") == hash_of("b")
    (64, False)
    """
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


def same(one: str, other: str) -> bool:
    """Whether two are equal, in a time that does not tell where they differ."""
    return hmac.compare_digest(one.encode(errors="replace"), other.encode(errors="replace"))


def csrf_of(session: str) -> str:
    """What a page of this session must send along with every change.

    Made from the cookie that no script and no other site can read, so it needs no place to be kept.
    """
    return hmac.new(session.encode(errors="replace"), b"csrf", hashlib.sha256).hexdigest()
