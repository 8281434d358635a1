"""Flags: a worker reports that something is wrong with an item.

The reasons are fixed: a free text could reveal an answer before its step is closed.
"""

from __future__ import annotations

from dataclasses import dataclass

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.database import Connection
from askfew.campaigns.db.queries import flags as kept
from askfew.campaigns.sentences import shown
from askfew.errors import InvalidInput

__all__ = ["FLAGS", "Flag", "flag", "flags_of"]

FLAGS = ("broken or not readable", "twice among the items", "should not be here")
"""The reasons that a worker may choose."""


@dataclass(frozen=True)
class Flag:
    """A worker's report about an item."""

    item: int
    worker: str
    reason: str


def flag(campaign: Campaign, worker: str, item: str, reason: str) -> None:
    """Store a flag; a second one of the same worker about the item replaces the first."""
    if reason not in FLAGS:
        raise InvalidInput(f"the reason must be one of {', '.join(FLAGS)}", shown(reason), "choose")
    number = next((n for n, each in enumerate(campaign.items) if each.id == item), None)
    if number is None:
        raise InvalidInput("the item must be one of the campaign's", shown(item), "check its id")
    with campaign.database.write() as connection:
        kept.keep_flag(connection, campaign.id, number, worker, reason, campaign.clock())


def flags_of(connection: Connection, campaign: int) -> list[Flag]:
    """All flags of a campaign, oldest first."""
    return [Flag(*each) for each in kept.flags_of(connection, campaign)]
