"""Invitations: who may answer in which campaign, and the link by which a person comes in.

A person has one link for all campaigns of a store that they are invited to. Only the
hash of its token is kept, so the link is shown once. A person who is invited again keeps their
link. An open link is for many people: each signs up by a name, up to the number that the owner set.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.database import Connection
from askfew.campaigns.db.queries.access import (
    Invitation,
    delete_links,
    delete_open_link,
    extend_link,
    find_open_link,
    insert_invitation,
    insert_link,
    invitations_to,
    invited_to,
    is_taken,
    lock_open_link,
    open_link_by_hash,
    replace_open_link,
    revoke_invitation,
    signed_up_count,
    was_revoked,
)
from askfew.campaigns.folder.table_file import decoded, separator_of
from askfew.campaigns.records import check_name
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput
from askfew.web.access.tokens import OWNER, hash_of, new_token
from askfew.web.problems import Refused

__all__ = [
    "INVITED_SECONDS",
    "CampaignOfPerson",
    "Invitation",
    "OpenLink",
    "campaigns_of",
    "close_open_link",
    "invitations_of",
    "invite",
    "invite_all",
    "make_open_link",
    "new_link",
    "open_link_of",
    "read_names",
    "revoke",
    "sign_up",
    "signing_up",
]

INVITED_SECONDS = 90 * 24 * 3600.0
"""How long a link is valid after its holder was last invited. A plain choice: campaigns take weeks,
and the owner can invite again."""
MOST_SIGN_UPS = 10_000
"""The most people of one open link. A round number."""
_MOST_NAMES = 1000
"""Names invited at once. A plain choice: a longer list is probably the wrong file."""


@dataclass(frozen=True)
class CampaignOfPerson:
    """A campaign that somebody is invited to."""

    name: str
    state: str


def invite(campaign: Campaign, worker: str) -> str | None:
    """Invite the worker. Returns the token of their new link; None if they have a link already,
    which now opens this campaign, too.
    """
    return invite_all(campaign, [worker])[worker]


def invite_all(campaign: Campaign, names: Sequence[str]) -> dict[str, str | None]:
    """Invite all of them, or none; see ``invite``. A name that is given twice is one person."""
    people = dict.fromkeys(names)
    for worker in people:
        check_name(worker)
    with campaign.database.write() as connection:
        return {worker: _invite_by_link(connection, campaign, worker) for worker in people}


def read_names(typed: str, table: bytes = b"") -> list[str]:
    r"""Names, one per line or with commas between them, and those of a CSV file, each once.

    Of a file it is the column ``name``, or else the first one.

    >>> read_names("ann, bob", b"team,name\nred,cora\n")
    ['ann', 'bob', 'cora']
    """
    names = [name.strip() for name in re.split("[,;\n\r]", typed)]
    text = decoded(table, "the file of names")
    try:
        reader = csv.reader(text.splitlines(), delimiter=separator_of(text), strict=True)
        rows = [row for row in reader if any(row)]
    except csv.Error as error:
        raise InvalidInput(
            "the file of names must be CSV", f"an error ({error})", "check its quotes"
        ) from None
    if rows:
        head = [cell.strip().lower() for cell in rows[0]]
        column = head.index("name") if "name" in head else 0
        body = rows[1:] if "name" in head else rows
        names += [row[column].strip() for row in body if len(row) > column]
    found = list(dict.fromkeys(name for name in names if name))
    if not found:
        raise InvalidInput("there must be names", "none", "give some, or a CSV file of them")
    if len(found) > _MOST_NAMES:
        raise InvalidInput(
            f"at most {_MOST_NAMES:,} names at once are invited", len(found), "invite in parts"
        )
    for name in found:
        check_name(name)
    return found


def new_link(campaign: Campaign, worker: str) -> str:
    """Invite the worker by a new link, and return its token. Their old links stop working."""
    check_name(worker)
    with campaign.database.write() as connection:
        _invite(connection, campaign, worker, signed_up=False)
        # In the same transaction, so that the person never has two links, or none.
        delete_links(connection, worker)
        return _make_link(connection, campaign, worker)


def _invite_by_link(
    connection: Connection, campaign: Campaign, worker: str, *, signed_up: bool = False
) -> str | None:
    """As ``invite``, within a transaction."""
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
    """All invitations of a campaign, oldest first."""
    with campaign.database.read() as connection:
        return invitations_to(connection, campaign.id)


def campaigns_of(store: Store, worker: str) -> list[CampaignOfPerson]:
    """The campaigns that the worker is invited to and not revoked from, newest first."""
    with store.database.read() as connection:
        return [CampaignOfPerson(*each) for each in invited_to(connection, worker)]


def revoke(campaign: Campaign, worker: str) -> bool:
    """Lock the worker out of the campaign. Returns whether there was such a worker."""
    check_name(worker)
    with campaign.database.write() as connection:
        known = revoke_invitation(connection, campaign.id, worker, campaign.clock())
    # Locked out first: a question that is freed here must not be leased to them again.
    if known:
        campaign.revoke(worker)
    return known


@dataclass(frozen=True)
class OpenLink:
    """A link by which several people may sign up: how many may, and how many have."""

    most: int
    signed_up: int
    expires: float


def make_open_link(campaign: Campaign, most: int) -> str:
    """Make an open link and return its token. An older link stops working; nobody is locked out."""
    if not 1 <= most <= MOST_SIGN_UPS:
        raise InvalidInput(
            f"the number of people who may sign up must be from 1 to {MOST_SIGN_UPS:,}",
            most,
            "choose a number in this range",
        )
    token, now = new_token(), campaign.clock()
    with campaign.database.write() as connection:
        until = now + INVITED_SECONDS
        replace_open_link(connection, campaign.id, hash_of(token), most, now, until)
    return token


def close_open_link(campaign: Campaign) -> None:
    """End the open link. Those who have signed up stay."""
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
    """The campaign of an open link, and whether there is room; None if there is no such link."""
    with store.database.read() as connection:
        found = open_link_by_hash(connection, hash_of(token), store.clock())
        if found is None:
            return None
        name, link = found
        return name, signed_up_count(connection, link.campaign) < link.most


def sign_up(campaign: Campaign, token: str, worker: str) -> str:
    """Sign up, and return the token of the person's own link. A name that is taken is refused."""
    check_name(worker)
    with campaign.database.write() as connection:
        # Held to the end: of two who want the last place, one waits.
        link = lock_open_link(connection, campaign.id, hash_of(token))
        if link is None or link.expires <= campaign.clock():
            raise Refused(401, "this link no longer works: ask whoever sent it to you")
        if signed_up_count(connection, campaign.id) >= link.most:
            raise Refused(409, "as many people as were wanted have signed up already")
        # Whoever signed up under another's name would answer as them and see their questions.
        if worker == OWNER or is_taken(connection, campaign.id, worker):
            raise InvalidInput(
                "the name must be new here",
                repr(worker),
                "choose another, or open your own link if you have signed up before",
            )
        own = _invite_by_link(connection, campaign, worker, signed_up=True)
        assert own is not None
        return own
