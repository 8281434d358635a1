"""Invitations: who may answer in which campaign, and the link by which a person comes in.

A person has one link for all campaigns of a store that they are invited to. Of its token only the
hash is kept, so it is shown once; whoever is invited again keeps the link they have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.contents import check_name
from askfew.campaigns.db.database import Connection
from askfew.campaigns.db.queries.invitations import (
    Invitation,
    delete_links,
    extend_link,
    insert_invitation,
    insert_link,
    invitations_to,
    invited_to,
    revoke_invitation,
    was_revoked,
)
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
        delete_links(connection, worker)
        return _make_link(connection, campaign, worker)


def let_in(
    connection: Connection, campaign: Campaign, worker: str, *, signed_up: bool = False
) -> str | None:
    """See ``invite``; within a transaction."""
    _invite(connection, campaign, worker, signed_up=signed_up)
    now = campaign.clock()
    if extend_link(connection, worker, now, now + INVITED_SECONDS):
        return None
    return _make_link(connection, campaign, worker)


def _invite(connection: Connection, campaign: Campaign, worker: str, *, signed_up: bool) -> None:
    if was_revoked(connection, campaign.id, worker):
        raise InvalidInput(
            "a worker who is invited must not have been revoked",
            repr(worker),
            "invite them by another name",
        )
    insert_invitation(connection, campaign.id, worker, campaign.clock(), signed_up=signed_up)


def _make_link(connection: Connection, campaign: Campaign, worker: str) -> str:
    token, now = new_token(), campaign.clock()
    insert_link(connection, worker, hash_of(token), now, now + INVITED_SECONDS)
    return token


def invitations_of(campaign: Campaign) -> list[Invitation]:
    """All of them, oldest first."""
    with campaign.database.read() as connection:
        return invitations_to(connection, campaign.id)


def campaigns_of(store: Store, worker: str) -> list[CampaignOfPerson]:
    """Where the worker is invited and not revoked, newest first."""
    with store.database.read() as connection:
        return [CampaignOfPerson(*each) for each in invited_to(connection, worker)]


def revoke(campaign: Campaign, worker: str) -> bool:
    """Let the worker in no more, and ask them no more; whether there was such a worker."""
    check_name(worker)
    with campaign.database.write() as connection:
        known = revoke_invitation(connection, campaign.id, worker, campaign.clock())
    if known:
        campaign.revoke(worker)
    return known
