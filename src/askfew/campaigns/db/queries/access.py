"""Access to the web pages: the owner's token, invitations, links, sessions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Connection,
    and_,
    bindparam,
    delete,
    func,
    insert,
    literal,
    null,
    select,
    text,
    union_all,
    update,
)
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import CompoundSelect

from askfew.campaigns.db.database import Database
from askfew.campaigns.db.schema import (
    campaigns,
    invitations,
    links,
    open_links,
    owner_token,
    sessions,
    workers,
)

__all__ = [
    "Holder",
    "Invitation",
    "OpenLinkRow",
    "delete_links",
    "delete_open_link",
    "delete_session",
    "extend_link",
    "find_open_link",
    "holder_of_session",
    "holder_of_token",
    "insert_invitation",
    "insert_link",
    "insert_session",
    "invitations_to",
    "invited_to",
    "is_taken",
    "lock_open_link",
    "make_owner_token",
    "open_link_by_hash",
    "replace_open_link",
    "replace_owner_token",
    "revoke_invitation",
    "signed_up_count",
    "was_revoked",
]

_MAKE = text(
    "INSERT INTO owner_token (id, hash, created) VALUES (1, :hash, :created) ON CONFLICT DO NOTHING"
)


@dataclass(frozen=True)
class Holder:
    """Who holds a token, and whether it opens the requested campaign.

    The owner's token has no worker's name and does not expire.
    """

    worker: str | None
    hash: str
    expires: float | None
    opens: bool
    """Whether they are invited to the campaign and their link opens it."""
    revoked: float | None


def _holders(of: ColumnElement[str]) -> CompoundSelect[Any]:
    """The query for the holder of a token's hash: at most one row.

    One statement instead of several, because every request of a page runs it.
    """
    # The campaign by its name, as the address has it: a lookup of its number would be another
    # query.
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
    """The holder of the token with this hash, with their access to the named campaign."""
    row = database.fetch_one(_BY_TOKEN, {"token": digest, "campaign": _name(campaign)})
    return None if row is None else Holder(*row)


def holder_of_session(
    database: Database, digest: str, campaign: str | None, now: float
) -> Holder | None:
    """The holder of the session with this hash; None if it has expired."""
    at = {"session": digest, "now": now, "campaign": _name(campaign)}
    row = database.fetch_one(_BY_SESSION, at)
    return None if row is None else Holder(*row)


def _name(campaign: str | None) -> str | None:
    """The name; None if it contains NUL, which PostgreSQL refuses and no campaign's name has."""
    return None if campaign is None or "\0" in campaign else campaign


def insert_session(
    connection: Connection, digest: str, token: str, now: float, expires: float
) -> None:
    """Insert a session for the token with that hash, and delete the expired ones."""
    # Logins are rare, so this is where old rows are removed; nothing else would ever do it.
    connection.execute(delete(sessions).where(sessions.c.expires <= now))
    connection.execute(insert(sessions).values(hash=digest, token=token, expires=expires))


def delete_session(connection: Connection, digest: str) -> None:
    """Delete a session, so that a copied cookie is worth nothing."""
    connection.execute(delete(sessions).where(sessions.c.hash == digest))


def make_owner_token(connection: Connection, digest: str, now: float) -> bool:
    """Store the hash of the owner's token if there is none yet; whether it was stored."""
    # Of two servers that start at once, one inserts; the other finds that its token is not kept.
    connection.execute(_MAKE, {"hash": digest, "created": now})
    kept = select(owner_token.c.hash).where(owner_token.c.hash == digest)
    return connection.execute(kept).first() is not None


def replace_owner_token(connection: Connection, digest: str, now: float) -> None:
    """Store the hash of the owner's token in the place of the old one."""
    connection.execute(delete(owner_token))
    connection.execute(insert(owner_token).values(id=1, hash=digest, created=now))


_INVITE = text(
    "INSERT INTO invitations (campaign, worker, created, signed_up)"
    " VALUES (:campaign, :worker, :now, :signed_up)"
    " ON CONFLICT (campaign, worker) DO UPDATE SET revoked = NULL"
)


@dataclass(frozen=True)
class Invitation:
    """An invitation of a worker to a campaign."""

    worker: str
    created: float
    expires: float | None
    """When their link expires; None if they have none."""
    revoked: bool
    signed_up: bool
    """Whether they signed up by the open link."""


@dataclass(frozen=True)
class OpenLinkRow:
    """The link by which anybody may sign up for a campaign, until ``most`` have."""

    campaign: int
    most: int
    expires: float


def was_revoked(connection: Connection, campaign: int, worker: str) -> bool:
    """Whether the worker is revoked."""
    here = (workers.c.campaign == campaign, workers.c.name == worker)
    return connection.execute(select(workers.c.revoked).where(*here)).scalar() is not None


def insert_invitation(
    connection: Connection, campaign: int, worker: str, now: float, *, signed_up: bool
) -> None:
    """Invite the worker; a revoked invitation is valid again.

    It also locks the row: of two requests that make a link for one worker, one waits.
    """
    who = {"campaign": campaign, "worker": worker}
    connection.execute(_INVITE, {**who, "now": now, "signed_up": signed_up})


def revoke_invitation(connection: Connection, campaign: int, worker: str, now: float) -> bool:
    """Revoke the invitation; whether the worker was invited or had joined without one."""
    invited = connection.execute(
        update(invitations)
        .where(invitations.c.campaign == campaign, invitations.c.worker == worker)
        .values(revoked=now)
    )
    return invited.rowcount > 0 or _came(connection, campaign, worker)


def _came(connection: Connection, campaign: int, worker: str) -> bool:
    here = (workers.c.campaign == campaign, workers.c.name == worker)
    return connection.execute(select(workers.c.name).where(*here)).first() is not None


def invitations_to(connection: Connection, campaign: int) -> list[Invitation]:
    """All invitations to a campaign, oldest first."""
    opens = (links.c.campaign.is_(None)) | (links.c.campaign == campaign)
    good = (
        select(links.c.worker, func.max(links.c.expires).label("expires"))
        .where(opens)
        .group_by(links.c.worker)
        .subquery()
    )
    rows = connection.execute(
        select(invitations, good.c.expires)
        .select_from(invitations)
        .outerjoin(good, good.c.worker == invitations.c.worker)
        .where(invitations.c.campaign == campaign)
        .order_by(invitations.c.created, invitations.c.worker)
    )
    return [
        Invitation(
            row.worker, row.created, row.expires, row.revoked is not None, bool(row.signed_up)
        )
        for row in rows
    ]


def invited_to(connection: Connection, worker: str) -> list[tuple[str, str]]:
    """Name and state of the campaigns where the worker is invited and not revoked, newest first."""
    rows = connection.execute(
        select(campaigns.c.name, campaigns.c.state)
        .select_from(campaigns)
        .join(invitations, invitations.c.campaign == campaigns.c.id)
        .where(invitations.c.worker == worker, invitations.c.revoked.is_(None))
        .order_by(campaigns.c.id.desc())
    )
    return [(row.name, row.state) for row in rows]


def insert_link(
    connection: Connection, worker: str, digest: str, now: float, expires: float
) -> None:
    """Store a worker's link, which opens every campaign that they are invited to."""
    made = {"hash": digest, "created": now, "expires": expires}
    connection.execute(insert(links).values(worker=worker, **made))


def extend_link(connection: Connection, worker: str, now: float, expires: float) -> bool:
    """Extend the worker's valid link; whether they have one."""
    has = (links.c.worker == worker, links.c.campaign.is_(None), links.c.expires > now)
    return connection.execute(update(links).where(*has).values(expires=expires)).rowcount > 0


def delete_links(connection: Connection, worker: str) -> None:
    """Delete all links of a worker."""
    connection.execute(delete(links).where(links.c.worker == worker))


def replace_open_link(
    connection: Connection, campaign: int, digest: str, most: int, now: float, expires: float
) -> None:
    """Store the campaign's open link in the place of the old one."""
    # One open link per campaign: the owner can end it without saying which one.
    delete_open_link(connection, campaign)
    made = {"hash": digest, "most": most, "created": now, "expires": expires}
    connection.execute(insert(open_links).values(campaign=campaign, **made))


def delete_open_link(connection: Connection, campaign: int) -> None:
    """Delete the campaign's open link, so that nobody can sign up any more."""
    connection.execute(delete(open_links).where(open_links.c.campaign == campaign))


_COLUMNS = (open_links.c.campaign, open_links.c.most, open_links.c.expires)


def find_open_link(connection: Connection, campaign: int) -> OpenLinkRow | None:
    """A campaign's open link, if it has one."""
    query = select(*_COLUMNS).where(open_links.c.campaign == campaign)
    row = connection.execute(query).one_or_none()
    return None if row is None else OpenLinkRow(*row)


def lock_open_link(connection: Connection, campaign: int, digest: str) -> OpenLinkRow | None:
    """A campaign's open link if its token has this hash; locked until the transaction ends.

    The lock lets one person sign up at a time, so that no more than ``most`` get in.
    """
    here = (open_links.c.campaign == campaign, open_links.c.hash == digest)
    row = connection.execute(select(*_COLUMNS).where(*here).with_for_update()).one_or_none()
    return None if row is None else OpenLinkRow(*row)


def open_link_by_hash(
    connection: Connection, digest: str, now: float
) -> tuple[str, OpenLinkRow] | None:
    """The campaign's name and the open link with this hash; None if it has expired."""
    row = connection.execute(
        select(campaigns.c.name, *_COLUMNS)
        .select_from(open_links)
        .join(campaigns, campaigns.c.id == open_links.c.campaign)
        .where(open_links.c.hash == digest, open_links.c.expires > now)
    ).one_or_none()
    return None if row is None else (row.name, OpenLinkRow(row.campaign, row.most, row.expires))


def signed_up_count(connection: Connection, campaign: int) -> int:
    """How many workers signed up by the open link."""
    here = (invitations.c.campaign == campaign, invitations.c.signed_up.is_(True))
    query = select(func.count()).select_from(invitations).where(*here)
    return connection.execute(query).scalar_one()


def is_taken(connection: Connection, campaign: int, worker: str) -> bool:
    """Whether a worker of this name has a link, or has joined this campaign without one."""
    has_link = select(links.c.worker).where(links.c.worker == worker).limit(1)
    return connection.execute(has_link).first() is not None or _came(connection, campaign, worker)
