"""Who may come in by the web: the owner's token, people's links, sessions. Only hashes are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Connection,
    and_,
    bindparam,
    delete,
    insert,
    literal,
    null,
    select,
    text,
    union_all,
)
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import CompoundSelect

from askfew.campaigns.db.database import Database
from askfew.campaigns.db.schema import campaigns, invitations, links, owner_token, sessions

__all__ = [
    "Holder",
    "delete_session",
    "holder_of_session",
    "holder_of_token",
    "insert_session",
    "make_owner_token",
    "replace_owner_token",
]

_MAKE = text(
    "INSERT INTO owner_token (id, hash, created) VALUES (1, :hash, :created) ON CONFLICT DO NOTHING"
)


@dataclass(frozen=True)
class Holder:
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


def holder_of_token(database: Database, digest: str, campaign: str | None) -> Holder | None:
    """Whose token has this hash, and how they stand with the campaign of that name."""
    row = database.fetch_one(_BY_TOKEN, {"token": digest, "campaign": _name(campaign)})
    return None if row is None else Holder(*row)


def holder_of_session(
    database: Database, digest: str, campaign: str | None, now: float
) -> Holder | None:
    """Whose session has this hash, unless it ran out."""
    at = {"session": digest, "now": now, "campaign": _name(campaign)}
    row = database.fetch_one(_BY_SESSION, at)
    return None if row is None else Holder(*row)


def _name(campaign: str | None) -> str | None:
    """None for a name that no campaign can have: PostgreSQL takes no NUL in a text."""
    return None if campaign is None or "\0" in campaign else campaign


def insert_session(
    connection: Connection, digest: str, token: str, now: float, expires: float
) -> None:
    """A session of whoever holds the token of that hash; those that ran out are cleared away."""
    connection.execute(delete(sessions).where(sessions.c.expires <= now))
    connection.execute(insert(sessions).values(hash=digest, token=token, expires=expires))


def delete_session(connection: Connection, digest: str) -> None:
    """Whoever has copied the cookie has nothing."""
    connection.execute(delete(sessions).where(sessions.c.hash == digest))


def make_owner_token(connection: Connection, digest: str, now: float) -> bool:
    """Keep the hash of the owner's token, if there is none yet: whether it is kept."""
    connection.execute(_MAKE, {"hash": digest, "created": now})
    kept = select(owner_token.c.hash).where(owner_token.c.hash == digest)
    return connection.execute(kept).first() is not None


def replace_owner_token(connection: Connection, digest: str, now: float) -> None:
    """Keep the hash of the owner's token; the old one is good for nothing."""
    connection.execute(delete(owner_token))
    connection.execute(insert(owner_token).values(id=1, hash=digest, created=now))
