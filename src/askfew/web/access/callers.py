"""Who sent a request: the owner, or somebody invited; looked up by token or session."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import and_, bindparam, delete, insert, literal, null, select, union_all
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import CompoundSelect

from askfew.campaigns.db.schema import campaigns, invitations, links, owner_token, sessions
from askfew.campaigns.store import Store
from askfew.web.access.tokens import csrf_of, hash_of, new_token, same
from askfew.web.problems import Refused

__all__ = [
    "OWNER",
    "SESSION_SECONDS",
    "Caller",
    "by_session",
    "by_token",
    "close_session",
    "open_session",
]

OWNER = "owner"
"""The worker's name under which the owner answers along."""
SESSION_SECONDS = 14 * 24 * 3600.0
_REVOKED = "the owner of this campaign has taken you off it, and asks you no more"
_ELSEWHERE = "this invitation is for another campaign"


@dataclass(frozen=True)
class Caller:
    """The owner (no worker), or a person who was invited; ``campaign`` is where they are let in."""

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
    """Whom a token belongs to, and how they stand with the campaign that is asked for.

    The owner has no name, and no end.
    """

    worker: str | None
    hash: str
    expires: float | None
    opens: bool
    """Whether they were invited to the campaign, and their link opens it."""
    revoked: float | None


def _holders(of: ColumnElement[str]) -> CompoundSelect[Any]:
    """Whom a token's hash belongs to: at most one row."""
    here = bindparam("campaign", type_=campaigns.c.name.type)
    return union_all(
        select(
            null().label("worker"),
            owner_token.c.hash,
            null().label("expires"),
            literal(True).label("opens"),
            null().label("revoked"),
        ).where(owner_token.c.hash == of),
        select(
            links.c.worker,
            links.c.hash,
            links.c.expires,
            and_(
                invitations.c.worker.is_not(None),
                (links.c.campaign.is_(None)) | (links.c.campaign == campaigns.c.id),
            ),
            invitations.c.revoked,
        )
        .select_from(links)
        .outerjoin(campaigns, campaigns.c.name == here)
        .outerjoin(
            invitations,
            and_(invitations.c.campaign == campaigns.c.id, invitations.c.worker == links.c.worker),
        )
        .where(links.c.hash == of),
    )


_BY_TOKEN = _holders(bindparam("token", type_=owner_token.c.hash.type))
_BY_SESSION = _holders(
    select(sessions.c.token)
    .where(sessions.c.hash == bindparam("session"), sessions.c.expires > bindparam("now"))
    .scalar_subquery()
)


def by_token(store: Store, token: str, campaign: str | None) -> Caller | None:
    """Whose token this is; None if it is nobody's, or too old.

    Refused if it is somebody's who may not enter the campaign.
    """
    digest = hash_of(token)
    holder = _holder(store, _BY_TOKEN, {"token": digest, "campaign": campaign})
    if holder is None or not same(holder.hash, digest):
        return None
    return _caller(store, holder, campaign)


def by_session(store: Store, session: str, campaign: str | None) -> Caller | None:
    """Whose session this is; None if it has run out, or if its token is good no more."""
    at = {"session": hash_of(session), "now": store.clock(), "campaign": campaign}
    holder = _holder(store, _BY_SESSION, at)
    caller = None if holder is None else _caller(store, holder, campaign)
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


def _caller(store: Store, holder: _Holder, campaign: str | None) -> Caller | None:
    if holder.expires is not None and holder.expires <= store.clock():
        return None
    if holder.worker is None or campaign is None:
        return Caller(None, holder.worker)
    if not holder.opens:
        raise Refused(403, _ELSEWHERE)
    if holder.revoked is not None:
        raise Refused(403, _REVOKED)
    return Caller(campaign, holder.worker)
