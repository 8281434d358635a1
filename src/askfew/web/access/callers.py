"""Who sent a request: the owner, or a worker of one campaign; looked up by token or session."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import bindparam, delete, insert, null, select, union_all
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import CompoundSelect

from askfew.campaigns.db.schema import campaigns, invitations, owner_token, sessions
from askfew.campaigns.store import Store
from askfew.web.access.tokens import csrf_of, hash_of, new_token, same
from askfew.web.problems import Refused

__all__ = ["SESSION_SECONDS", "Caller", "by_session", "by_token", "close_session", "open_session"]

SESSION_SECONDS = 14 * 24 * 3600.0


@dataclass(frozen=True)
class Caller:
    """The owner (no campaign, no worker), or a worker of the campaign of that name."""

    campaign: str | None = None
    worker: str | None = None
    csrf: str = ""
    """What changes must send along; empty for a token, which no other site can make us send."""

    @property
    def is_owner(self) -> bool:
        """Whether this is the owner of the store."""
        return self.worker is None


@dataclass(frozen=True)
class _Holder:
    """Whom a token belongs to; the owner has no campaign, and no end."""

    campaign: str | None
    worker: str | None
    hash: str
    expires: float | None
    revoked: float | None


def _holders(of: ColumnElement[str]) -> CompoundSelect[Any]:
    """Whom a token's hash belongs to: at most one row."""
    return union_all(
        select(
            null().label("name"),
            null().label("worker"),
            owner_token.c.hash,
            null().label("expires"),
            null().label("revoked"),
        ).where(owner_token.c.hash == of),
        select(
            campaigns.c.name,
            invitations.c.worker,
            invitations.c.hash,
            invitations.c.expires,
            invitations.c.revoked,
        )
        .join(campaigns, campaigns.c.id == invitations.c.campaign)
        .where(invitations.c.hash == of),
    )


_BY_TOKEN = _holders(bindparam("token", type_=owner_token.c.hash.type))
_BY_SESSION = _holders(
    select(sessions.c.token)
    .where(sessions.c.hash == bindparam("session"), sessions.c.expires > bindparam("now"))
    .scalar_subquery()
)


def by_token(store: Store, token: str) -> Caller | None:
    """Whose token this is; None if it is nobody's, or too old."""
    digest = hash_of(token)
    holder = _holder(store, _BY_TOKEN, {"token": digest})
    return _caller(store, holder) if holder is not None and same(holder.hash, digest) else None


def by_session(store: Store, session: str) -> Caller | None:
    """Whose session this is; None if it has run out, or if its token is good no more."""
    at = {"session": hash_of(session), "now": store.clock()}
    holder = _holder(store, _BY_SESSION, at)
    caller = None if holder is None else _caller(store, holder)
    return None if caller is None else replace(caller, csrf=csrf_of(session))


def open_session(store: Store, token: str) -> str:
    """A new session for whoever holds this token; those that ran out are cleared away."""
    session, now = new_token(), store.clock()
    with store.database.write() as connection:
        connection.execute(delete(sessions).where(sessions.c.expires <= now))
        connection.execute(
            insert(sessions).values(
                hash=hash_of(session), token=hash_of(token), expires=now + SESSION_SECONDS
            )
        )
    return session


def close_session(store: Store, session: str) -> None:
    """Whoever has copied the cookie has nothing."""
    with store.database.write() as connection:
        connection.execute(delete(sessions).where(sessions.c.hash == hash_of(session)))


def _holder(store: Store, query: CompoundSelect[Any], at: dict[str, object]) -> _Holder | None:
    row = store.database.fetch_one(query, at)
    return None if row is None else _Holder(*row)


def _caller(store: Store, holder: _Holder) -> Caller | None:
    if holder.revoked is not None:
        raise Refused(403, "this invitation was revoked: ask the owner of the campaign")
    if holder.expires is not None and holder.expires <= store.clock():
        return None
    return Caller(holder.campaign, holder.worker)
