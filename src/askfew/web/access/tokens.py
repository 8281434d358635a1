"""Tokens and sessions, kept as hashes; and who holds one: the owner, or somebody invited."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, replace

from askfew.campaigns.db.queries.access import (
    Holder,
    delete_session,
    holder_of_session,
    holder_of_token,
    insert_session,
    make_owner_token,
    replace_owner_token,
)
from askfew.campaigns.store import Store
from askfew.web.problems import Refused

__all__ = [
    "OWNER",
    "SESSION_SECONDS",
    "Caller",
    "by_session",
    "by_token",
    "close_session",
    "csrf_of",
    "first_token",
    "hash_of",
    "new_token",
    "open_session",
    "reset_token",
    "same",
]

OWNER = "owner"
"""The worker's name under which the owner answers."""
SESSION_SECONDS = 14 * 24 * 3600.0
"""How long a browser stays logged in. A plain choice: two weeks; the token outlives it."""
_REVOKED = "the owner of this campaign has removed you from it"
_ELSEWHERE = "this invitation is for another campaign"


@dataclass(frozen=True)
class Caller:
    """The owner (no worker), or an invited person; ``campaign`` is the one they may enter."""

    campaign: str | None = None
    worker: str | None = None
    csrf: str = ""
    """What changes must send along; empty for a token, which no other site can make us send."""

    @property
    def is_owner(self) -> bool:
        """Whether this is the owner of the store."""
        return self.worker is None


def by_token(store: Store, token: str, campaign: str | None) -> Caller | None:
    """The caller with this token; None if there is none, or if it has expired.

    Refused if the caller may not enter the campaign.
    """
    digest = hash_of(token)
    holder = holder_of_token(store.database, digest, campaign)
    if holder is None or not same(holder.hash, digest):
        return None
    return _caller(store, holder, campaign)


def by_session(store: Store, session: str, campaign: str | None) -> Caller | None:
    """The caller with this session; None if it or its token has expired."""
    holder = holder_of_session(store.database, hash_of(session), campaign, store.clock())
    caller = None if holder is None else _caller(store, holder, campaign)
    return None if caller is None else replace(caller, csrf=csrf_of(session))


def open_session(store: Store, token: str) -> str:
    """A new session for the holder of this token. Expired sessions are deleted."""
    session, now = new_token(), store.clock()
    with store.database.write() as connection:
        # The session is tied to the hash of its token: when the token is replaced, the session
        # ends, too.
        until = now + SESSION_SECONDS
        insert_session(connection, hash_of(session), hash_of(token), now, until)
    return session


def close_session(store: Store, session: str) -> None:
    """End a session, so that a copied cookie is worth nothing."""
    with store.database.write() as connection:
        delete_session(connection, hash_of(session))


def _caller(store: Store, holder: Holder, campaign: str | None) -> Caller | None:
    if holder.expires is not None and holder.expires <= store.clock():
        return None
    # The owner may enter every campaign; without one, only who it is was asked.
    if holder.worker is None or campaign is None:
        return Caller(None, holder.worker)
    if not holder.opens:
        raise Refused(403, _ELSEWHERE)
    if holder.revoked is not None:
        raise Refused(403, _REVOKED)
    return Caller(campaign, holder.worker)


def new_token() -> str:
    """256 random bits, fit for a link."""
    return secrets.token_urlsafe(32)


def hash_of(token: str) -> str:
    """The hash that the store keeps. The token is random, so a plain hash cannot be reversed.

    >>> len(hash_of("anything")), hash_of("a") == hash_of("b")
    (64, False)
    """
    # replace: a form may send half of a surrogate pair, which must be refused and not fail.
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
