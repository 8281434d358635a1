"""The owner's token: one for a store, made at the first start, replaced on request."""

from __future__ import annotations

from sqlalchemy import bindparam, delete, insert, select, text

from askfew.campaigns.db.schema import owner_token
from askfew.campaigns.store import Store
from askfew.web.access.tokens import hash_of, new_token

__all__ = ["first_token", "reset_token"]

_MAKE = text(
    "INSERT INTO owner_token (id, hash, created) VALUES (1, :hash, :created) ON CONFLICT DO NOTHING"
)
_KEPT = select(owner_token.c.hash).where(owner_token.c.hash == bindparam("made"))


def first_token(store: Store) -> str | None:
    """The store's new owner token; None if it has one. Of several that ask at once one gets it."""
    token = new_token()
    with store.database.write() as connection:
        connection.execute(_MAKE, {"hash": hash_of(token), "created": store.clock()})
        kept = connection.execute(_KEPT, {"made": hash_of(token)}).first()
    return None if kept is None else token


def reset_token(store: Store) -> str:
    """A new owner token. The old one, and all sessions opened with it, are good for nothing."""
    token = new_token()
    with store.database.write() as connection:
        connection.execute(delete(owner_token))
        connection.execute(
            insert(owner_token).values(id=1, hash=hash_of(token), created=store.clock())
        )
    return token
