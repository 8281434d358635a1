"""Who may come in by the web: the owner's token, invitations, links, sessions."""

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


_INVITE = text(
    "INSERT INTO invitations (campaign, worker, created, signed_up)"
    " VALUES (:campaign, :worker, :now, :signed_up)"
    " ON CONFLICT (campaign, worker) DO UPDATE SET revoked = NULL"
)


@dataclass(frozen=True)
class Invitation:
    """Who was invited, and how that stands."""

    worker: str
    created: float
    expires: float | None
    """When their link runs out; None if they have none."""
    revoked: bool
    signed_up: bool
    """Whether they came by the open link."""


@dataclass(frozen=True)
class OpenLinkRow:
    """The link by which anybody may sign up for a campaign, until so many have."""

    campaign: int
    most: int
    expires: float


def was_revoked(connection: Connection, campaign: int, worker: str) -> bool:
    """Whether the worker is asked no more."""
    here = (workers.c.campaign == campaign, workers.c.name == worker)
    return connection.execute(select(workers.c.revoked).where(*here)).scalar() is not None


def insert_invitation(
    connection: Connection, campaign: int, worker: str, now: float, *, signed_up: bool
) -> None:
    """Let the worker in, also again.

    It also locks the row: of two that make a link for a person at once, one waits.
    """
    who = {"campaign": campaign, "worker": worker}
    connection.execute(_INVITE, {**who, "now": now, "signed_up": signed_up})


def revoke_invitation(connection: Connection, campaign: int, worker: str, now: float) -> bool:
    """Let the worker in no more; whether they were invited, or came without."""
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
    """A link of a person's own, for all that they are invited to."""
    made = {"hash": digest, "created": now, "expires": expires}
    connection.execute(insert(links).values(worker=worker, **made))


def extend_link(connection: Connection, worker: str, now: float, expires: float) -> bool:
    """Let the link that a person has be good for longer; whether they have one."""
    has = (links.c.worker == worker, links.c.campaign.is_(None), links.c.expires > now)
    return connection.execute(update(links).where(*has).values(expires=expires)).rowcount > 0


def delete_links(connection: Connection, worker: str) -> None:
    """The links of a person are good no more."""
    connection.execute(delete(links).where(links.c.worker == worker))


def replace_open_link(
    connection: Connection, campaign: int, digest: str, most: int, now: float, expires: float
) -> None:
    """The campaign's open link; an older one is good no more."""
    delete_open_link(connection, campaign)
    made = {"hash": digest, "most": most, "created": now, "expires": expires}
    connection.execute(insert(open_links).values(campaign=campaign, **made))


def delete_open_link(connection: Connection, campaign: int) -> None:
    """Nobody signs up any more."""
    connection.execute(delete(open_links).where(open_links.c.campaign == campaign))


_COLUMNS = (open_links.c.campaign, open_links.c.most, open_links.c.expires)


def find_open_link(connection: Connection, campaign: int) -> OpenLinkRow | None:
    """A campaign's open link, if it has one."""
    query = select(*_COLUMNS).where(open_links.c.campaign == campaign)
    row = connection.execute(query).one_or_none()
    return None if row is None else OpenLinkRow(*row)


def lock_open_link(connection: Connection, campaign: int, digest: str) -> OpenLinkRow | None:
    """The same if its token has this hash; held until the transaction ends."""
    here = (open_links.c.campaign == campaign, open_links.c.hash == digest)
    row = connection.execute(select(*_COLUMNS).where(*here).with_for_update()).one_or_none()
    return None if row is None else OpenLinkRow(*row)


def open_link_by_hash(
    connection: Connection, digest: str, now: float
) -> tuple[str, OpenLinkRow] | None:
    """The campaign that a token is for, by its hash, and its link; None if it ran out."""
    row = connection.execute(
        select(campaigns.c.name, *_COLUMNS)
        .select_from(open_links)
        .join(campaigns, campaigns.c.id == open_links.c.campaign)
        .where(open_links.c.hash == digest, open_links.c.expires > now)
    ).one_or_none()
    return None if row is None else (row.name, OpenLinkRow(row.campaign, row.most, row.expires))


def signed_up_count(connection: Connection, campaign: int) -> int:
    """How many came by the open link."""
    here = (invitations.c.campaign == campaign, invitations.c.signed_up.is_(True))
    query = select(func.count()).select_from(invitations).where(*here)
    return connection.execute(query).scalar_one()


def is_taken(connection: Connection, campaign: int, worker: str) -> bool:
    """Whether somebody has a link by this name, or has come to this campaign without one."""
    has_link = select(links.c.worker).where(links.c.worker == worker).limit(1)
    return connection.execute(has_link).first() is not None or _came(connection, campaign, worker)
