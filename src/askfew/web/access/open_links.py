"""One link for many: whoever has it signs up by a name, until as many have as its owner allows."""

from __future__ import annotations

from dataclasses import dataclass

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.contents import check_name
from askfew.campaigns.db.queries.invitations import (
    delete_open_link,
    find_open_link,
    is_taken,
    lock_open_link,
    open_link_by_hash,
    replace_open_link,
    signed_up_count,
)
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput
from askfew.web.access.callers import OWNER
from askfew.web.access.invitations import INVITED_SECONDS, let_in
from askfew.web.access.tokens import hash_of, new_token
from askfew.web.problems import Refused

__all__ = ["OpenLink", "close_open_link", "make_open_link", "open_link_of", "sign_up", "signing_up"]

MOST = 10_000


@dataclass(frozen=True)
class OpenLink:
    """How many may sign up by it, and how many have."""

    most: int
    signed_up: int
    expires: float


def make_open_link(campaign: Campaign, most: int) -> str:
    """The token of a campaign's open link; an older one is good no more. Nobody is locked out."""
    if not 1 <= most <= MOST:
        raise InvalidInput(
            f"the number of people who may sign up must be from 1 to {MOST:,}", most, "say so many"
        )
    token, now = new_token(), campaign.clock()
    with campaign.database.write() as connection:
        until = now + INVITED_SECONDS
        replace_open_link(connection, campaign.id, hash_of(token), most, now, until)
    return token


def close_open_link(campaign: Campaign) -> None:
    """Nobody signs up any more. Who has stays."""
    with campaign.database.write() as connection:
        delete_open_link(connection, campaign.id)


def open_link_of(campaign: Campaign) -> OpenLink | None:
    """A campaign's open link, if it has one."""
    with campaign.database.read() as connection:
        link = find_open_link(connection, campaign.id)
        if link is None:
            return None
        return OpenLink(link.most, signed_up_count(connection, campaign.id), link.expires)


def signing_up(store: Store, token: str) -> tuple[str, bool] | None:
    """The campaign that a token is for, and whether there is room; None if it is for none."""
    with store.database.read() as connection:
        found = open_link_by_hash(connection, hash_of(token), store.clock())
        if found is None:
            return None
        name, link = found
        return name, signed_up_count(connection, link.campaign) < link.most


def sign_up(campaign: Campaign, token: str, worker: str) -> str:
    """The token of the person's own link. A name that is taken is refused: links are not shared."""
    check_name(worker)
    with campaign.database.write() as connection:
        # Held to the end: of two who want the last place, one waits.
        link = lock_open_link(connection, campaign.id, hash_of(token))
        if link is None or link.expires <= campaign.clock():
            raise Refused(401, "this link no longer works: ask whoever sent it to you")
        if signed_up_count(connection, campaign.id) >= link.most:
            raise Refused(409, "as many people as were wanted have signed up already")
        if worker == OWNER or is_taken(connection, campaign.id, worker):
            raise InvalidInput(
                "the name must be new here",
                repr(worker),
                "choose another, or open your own link if you have signed up before",
            )
        own = let_in(connection, campaign, worker, signed_up=True)
        assert own is not None
        return own
