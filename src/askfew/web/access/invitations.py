"""Invitations: a link that lets one worker into one campaign, until it is revoked or too old."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select, text, update

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.contents import check_name
from askfew.campaigns.db.schema import invitations, workers
from askfew.errors import InvalidInput
from askfew.web.access.tokens import hash_of, new_token

__all__ = ["INVITED_SECONDS", "Invitation", "invitations_of", "invite", "revoke"]

INVITED_SECONDS = 90 * 24 * 3600.0
"""How long an invitation is good; inviting again makes a new one."""
_INVITE = text(
    "INSERT INTO invitations (campaign, worker, hash, created, expires)"
    " VALUES (:campaign, :worker, :hash, :created, :expires)"
    " ON CONFLICT (campaign, worker) DO UPDATE SET hash = excluded.hash,"
    " created = excluded.created, expires = excluded.expires, revoked = NULL"
)
"""In one statement: of two invitations made at once, the later one is good."""


@dataclass(frozen=True)
class Invitation:
    """Who was invited, and how that stands."""

    worker: str
    created: float
    expires: float
    revoked: bool


def invite(campaign: Campaign, worker: str) -> str:
    """The token of a new invitation; an older one of this worker is good no more."""
    check_name(worker)
    now, token = campaign.clock(), new_token()
    with campaign.database.write() as connection:
        revoked = connection.execute(
            select(workers.c.revoked).where(
                workers.c.campaign == campaign.id, workers.c.name == worker
            )
        ).scalar()
        if revoked is not None:
            raise InvalidInput(
                "a worker who is invited must not have been revoked",
                repr(worker),
                "invite them by another name",
            )
        made = {"hash": hash_of(token), "created": now, "expires": now + INVITED_SECONDS}
        connection.execute(_INVITE, {"campaign": campaign.id, "worker": worker, **made})
    return token


def invitations_of(campaign: Campaign) -> list[Invitation]:
    """All of them, oldest first."""
    with campaign.database.read() as connection:
        rows = connection.execute(
            select(invitations)
            .where(invitations.c.campaign == campaign.id)
            .order_by(invitations.c.created, invitations.c.worker)
        )
        return [
            Invitation(row.worker, row.created, row.expires, row.revoked is not None)
            for row in rows
        ]


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
