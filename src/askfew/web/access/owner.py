"""The owner's token: one for a store, made at the first start, replaced on request."""

from __future__ import annotations

from askfew.campaigns.db.queries.access import make_owner_token, replace_owner_token
from askfew.campaigns.store import Store
from askfew.web.access.tokens import hash_of, new_token

__all__ = ["first_token", "reset_token"]


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
