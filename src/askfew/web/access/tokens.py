"""Tokens: random, shown once, kept as hashes; among them the owner's, one for a store."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from askfew.campaigns.db.queries.access import make_owner_token, replace_owner_token
from askfew.campaigns.store import Store

__all__ = ["csrf_of", "first_token", "hash_of", "new_token", "reset_token", "same"]


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


def first_token(store: Store) -> str | None:
    """The store's new owner token; None if it has one. Of several that ask at once one gets it."""
    token = new_token()
    with store.database.write() as connection:
        kept = make_owner_token(connection, hash_of(token), store.clock())
    return token if kept else None


def reset_token(store: Store) -> str:
    """A new owner token. The old one, and all sessions opened with it, are good for nothing."""
    token = new_token()
    with store.database.write() as connection:
        replace_owner_token(connection, hash_of(token), store.clock())
    return token
