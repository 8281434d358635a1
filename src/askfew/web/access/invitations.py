"""Invitations: who may answer in which campaign, and the link by which a person comes in.

A person has one link for all campaigns of a store that they are invited to. Of its token only the
hash is kept, so it is shown once; whoever is invited again keeps the link they have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, insert, select, text, update

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.contents import check_name
from askfew.campaigns.db.schema import campaigns, invitations, links, workers
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput
from askfew.web.access.tokens import hash_of, new_token

__all__ = [
    "INVITED_SECONDS",
    "CampaignOfPerson",
    "Invitation",
    "campaigns_of",
    "invitations_of",
    "invite",
    "invite_all",
    "new_link",
    "revoke",
]

INVITED_SECONDS = 90 * 24 * 3600.0
"""How long a link is good after its holder was last invited."""
_INVITE = text(
    "INSERT INTO invitations (campaign, worker, created, signed_up)"
    " VALUES (:campaign, :worker, :now, :signed_up)"
    " ON CONFLICT (campaign, worker) DO UPDATE SET revoked = NULL"
)
"""It also locks the row: of two that make a link for a person at once, one waits."""


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
class CampaignOfPerson:
    """A campaign that somebody is invited to."""

    name: str
    state: str


def invite(campaign: Campaign, worker: str) -> str | None:
    """Let the worker in. The token of their new link; None if they have one, which stays good and
    opens this campaign, too.
    """
    return invite_all(campaign, [worker])[worker]


def invite_all(campaign: Campaign, names: Sequence[str]) -> dict[str, str | None]:
    """Let them all in, or none; see ``invite``."""
    for worker in names:
        check_name(worker)
    with campaign.database.write() as connection:
        return {worker: let_in(connection, campaign, worker) for worker in names}


def new_link(campaign: Campaign, worker: str) -> str:
    """Let the worker in by a new link: its token. Those they had are good no more."""
    check_name(worker)
    with campaign.database.write() as connection:
        _invite(connection, campaign, worker, signed_up=False)
        connection.execute(delete(links).where(links.c.worker == worker))
        return _make_link(connection, campaign, worker)


def let_in(
    connection: Connection, campaign: Campaign, worker: str, *, signed_up: bool = False
) -> str | None:
    """See ``invite``; within a transaction."""
    _invite(connection, campaign, worker, signed_up=signed_up)
    now = campaign.clock()
    has = (links.c.worker == worker, links.c.campaign.is_(None), links.c.expires > now)
    until = now + INVITED_SECONDS
    if connection.execute(update(links).where(*has).values(expires=until)).rowcount:
        return None
    return _make_link(connection, campaign, worker)


def _invite(connection: Connection, campaign: Campaign, worker: str, *, signed_up: bool) -> None:
    revoked = connection.execute(
        select(workers.c.revoked).where(workers.c.campaign == campaign.id, workers.c.name == worker)
    ).scalar()
    if revoked is not None:
        raise InvalidInput(
            "a worker who is invited must not have been revoked",
            repr(worker),
            "invite them by another name",
        )
    who = {"campaign": campaign.id, "worker": worker}
    connection.execute(_INVITE, {**who, "now": campaign.clock(), "signed_up": signed_up})


def _make_link(connection: Connection, campaign: Campaign, worker: str) -> str:
    token, now = new_token(), campaign.clock()
    made = {"hash": hash_of(token), "created": now, "expires": now + INVITED_SECONDS}
    connection.execute(insert(links).values(worker=worker, **made))
    return token


def invitations_of(campaign: Campaign) -> list[Invitation]:
    """All of them, oldest first."""
    opens = (links.c.campaign.is_(None)) | (links.c.campaign == campaign.id)
    good = (
        select(links.c.worker, func.max(links.c.expires).label("expires"))
        .where(opens)
        .group_by(links.c.worker)
        .subquery()
    )
    with campaign.database.read() as connection:
        rows = connection.execute(
            select(invitations, good.c.expires)
            .select_from(invitations)
            .outerjoin(good, good.c.worker == invitations.c.worker)
            .where(invitations.c.campaign == campaign.id)
            .order_by(invitations.c.created, invitations.c.worker)
        ).all()
    return [
        Invitation(
            row.worker, row.created, row.expires, row.revoked is not None, bool(row.signed_up)
        )
        for row in rows
    ]


def campaigns_of(store: Store, worker: str) -> list[CampaignOfPerson]:
    """Where the worker is invited and not revoked, newest first."""
    with store.database.read() as connection:
        rows = connection.execute(
            select(campaigns.c.name, campaigns.c.state)
            .select_from(campaigns)
            .join(invitations, invitations.c.campaign == campaigns.c.id)
            .where(invitations.c.worker == worker, invitations.c.revoked.is_(None))
            .order_by(campaigns.c.id.desc())
        )
        return [CampaignOfPerson(row.name, row.state) for row in rows]


def revoke(campaign: Campaign, worker: str) -> bool:
    """Let the worker in no more, and ask them no more; whether there was such a worker."""
    check_name(worker)
    with campaign.database.write() as connection:
        invited = connection.execute(
            update(invitations)
            .where(invitations.c.campaign == campaign.id, invitations.c.worker == worker)
            .values(revoked=campaign.clock())
        ).rowcount
        came = connection.execute(
            select(workers.c.name).where(
                workers.c.campaign == campaign.id, workers.c.name == worker
            )
        ).first()
    if not invited and came is None:
        return False
    campaign.revoke(worker)
    return True
