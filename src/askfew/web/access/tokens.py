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
    """The hash that the store keeps. The token is random, so a plain hash cannot be reversed.

    >>> len(hash_of("anything")), hash_of("a") == hash_of("b")
    (64, False)
    """
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


def same(one: str, other: str) -> bool:
    """Whether two strings are equal, in constant time."""
    return hmac.compare_digest(one.encode(errors="replace"), other.encode(errors="replace"))


def csrf_of(session: str) -> str:
    """The token that a page of this session must send with every change.

    It is made from the cookie, which no script and no other site can read, so it is stored nowhere.
    """
    return hmac.new(session.encode(errors="replace"), b"csrf", hashlib.sha256).hexdigest()


def first_token(store: Store) -> str | None:
    """Make the store's owner token; None if there is one. Of several callers one gets it."""
    token = new_token()
    with store.database.write() as connection:
        kept = make_owner_token(connection, hash_of(token), store.clock())
    return token if kept else None


def reset_token(store: Store) -> str:
    """A new owner token. The old one and all its sessions stop working."""
    token = new_token()
    with store.database.write() as connection:
        replace_owner_token(connection, hash_of(token), store.clock())
    return token
