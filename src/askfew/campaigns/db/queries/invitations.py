"""Who is invited to which campaign, and the links by which people come in or sign up."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, insert, select, text, update

from askfew.campaigns.db.schema import campaigns, invitations, links, open_links, workers

__all__ = [
    "Invitation",
    "OpenLinkRow",
    "delete_links",
    "delete_open_link",
    "extend_link",
    "find_open_link",
    "insert_invitation",
    "insert_link",
    "invitations_to",
    "invited_to",
    "is_taken",
    "lock_open_link",
    "open_link_by_hash",
    "replace_open_link",
    "revoke_invitation",
    "signed_up_count",
    "was_revoked",
]

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
