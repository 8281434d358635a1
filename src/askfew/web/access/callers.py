"""Who sent a request: the owner, or a worker of one campaign; looked up by token or session."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import Row, bindparam, delete, insert, literal, null, select, union_all
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import CompoundSelect

from askfew.campaigns.store import Store
from askfew.campaigns.tables.schema import campaigns, invitations, owner_token, sessions
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


def _holders(of: ColumnElement[str]) -> CompoundSelect[tuple[str, str, str, float, float]]:
    """Whom a token's hash belongs to: at most one row."""
    return union_all(
        select(
            null().label("name"),
            null().label("worker"),
            owner_token.c.hash,
            literal(None, invitations.c.expires.type).label("expires"),
            literal(None, invitations.c.revoked.type).label("revoked"),
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
    with store.database.read() as connection:
        row = connection.execute(_BY_TOKEN, {"token": digest}).one_or_none()
    return _caller(store, row) if row is not None and same(row.hash, digest) else None


def by_session(store: Store, session: str) -> Caller | None:
    """Whose session this is; None if it has run out, or if its token is good no more."""
    at = {"session": hash_of(session), "now": store.clock()}
    with store.database.read() as connection:
        row = connection.execute(_BY_SESSION, at).one_or_none()
    caller = None if row is None else _caller(store, row)
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


def _caller(store: Store, row: Row[tuple[str, str, str, float, float]]) -> Caller | None:
    if row.revoked is not None:
        raise Refused(403, "this invitation was revoked: ask the owner of the campaign")
    if row.expires is not None and row.expires <= store.clock():
        return None
    return Caller(row.name, row.worker)
