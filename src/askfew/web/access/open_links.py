"""One link for many: whoever has it signs up by a name, until as many have as its owner allows."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, insert, select

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.contents import check_name
from askfew.campaigns.db.schema import campaigns, invitations, links, open_links, workers
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
        connection.execute(delete(open_links).where(open_links.c.campaign == campaign.id))
        connection.execute(
            insert(open_links).values(
                campaign=campaign.id,
                hash=hash_of(token),
                most=most,
                created=now,
                expires=now + INVITED_SECONDS,
            )
        )
    return token


def close_open_link(campaign: Campaign) -> None:
    """Nobody signs up any more. Who has stays."""
    with campaign.database.write() as connection:
        connection.execute(delete(open_links).where(open_links.c.campaign == campaign.id))


def open_link_of(campaign: Campaign) -> OpenLink | None:
    """A campaign's open link, if it has one."""
    with campaign.database.read() as connection:
        row = connection.execute(
            select(open_links).where(open_links.c.campaign == campaign.id)
        ).one_or_none()
        if row is None:
            return None
        return OpenLink(row.most, _signed_up(connection, campaign.id), row.expires)


def signing_up(store: Store, token: str) -> tuple[str, bool] | None:
    """The campaign that a token is for, and whether there is room; None if it is for none."""
    with store.database.read() as connection:
        row = connection.execute(
            select(open_links.c.campaign, open_links.c.most, campaigns.c.name)
            .select_from(open_links)
            .join(campaigns, campaigns.c.id == open_links.c.campaign)
            .where(open_links.c.hash == hash_of(token), open_links.c.expires > store.clock())
        ).one_or_none()
        return row and (row.name, _signed_up(connection, row.campaign) < row.most)


def sign_up(campaign: Campaign, token: str, worker: str) -> str:
    """The token of the person's own link. A name that is taken is refused: links are not shared."""
    check_name(worker)
    with campaign.database.write() as connection:
        # Held to the end: of two who want the last place, one waits.
        link = connection.execute(
            select(open_links)
            .where(open_links.c.campaign == campaign.id, open_links.c.hash == hash_of(token))
            .with_for_update()
        ).one_or_none()
        if link is None or link.expires <= campaign.clock():
            raise Refused(401, "this link no longer works: ask whoever sent it to you")
        if _signed_up(connection, campaign.id) >= link.most:
            raise Refused(409, "as many people as were wanted have signed up already")
        if _is_taken(connection, campaign.id, worker):
            raise InvalidInput(
                "the name must be new here",
                repr(worker),
                "choose another, or open your own link if you have signed up before",
            )
        own = let_in(connection, campaign, worker, signed_up=True)
        assert own is not None
        return own


def _signed_up(connection: Connection, campaign: int) -> int:
    count = select(func.count()).where(
        invitations.c.campaign == campaign, invitations.c.signed_up.is_(True)
    )
    return connection.execute(count.select_from(invitations)).scalar_one()


def _is_taken(connection: Connection, campaign: int, worker: str) -> bool:
    """By somebody with a link, or who has come to this campaign without one."""
    found = select(links.c.worker).where(links.c.worker == worker)
    came = select(workers.c.name).where(workers.c.campaign == campaign, workers.c.name == worker)
    there = any(connection.execute(each.limit(1)).first() for each in (found, came))
    return there or worker == OWNER
