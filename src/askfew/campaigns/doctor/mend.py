"""Mend what can be mended without choosing: impossible answers, which were none.

Only in the newest step: nothing has been computed from it. From an older one the method has gone
on, and its owner begins again on what was paid for (``create --reuse`` leaves such answers out).
"""

from __future__ import annotations

from askfew.answers import AnswerKind
from askfew.campaigns.db.database import Connection, Database
from askfew.campaigns.db.queries.campaigns import CampaignRow, all_campaigns
from askfew.campaigns.db.queries.slots import empty_impossible, impossible_slots
from askfew.campaigns.db.queries.steps import lock_step, newest_number
from askfew.campaigns.settings import Settings
from askfew.campaigns.steps.advance import GOING
from askfew.campaigns.steps.log import close_step
from askfew.errors import AskfewError

__all__ = ["mend", "mendable_slots"]


def mend(database: Database) -> dict[str, int]:
    """Take them out of every campaign that goes on; how many there were, by campaign."""
    with database.read() as connection:
        everyone = all_campaigns(connection)
    mended = {}
    for campaign in everyone:
        try:
            kind = Settings.from_dict(campaign.settings_dict).answers
        except (AskfewError, ValueError):
            continue  # the examination says what is wrong with it
        with database.write() as connection:
            count = _mend(connection, campaign, kind)
        if count:
            mended[campaign.name] = count
    return mended


def mendable_slots(connection: Connection, campaign: CampaignRow, kind: AnswerKind) -> list[int]:
    """The slots of the newest step that hold an impossible answer, if the campaign goes on."""
    newest = newest_number(connection, campaign.id)
    if campaign.state not in GOING or newest is None:
        return []
    return impossible_slots(connection, campaign.id, newest, kind)


def _mend(connection: Connection, campaign: CampaignRow, kind: AnswerKind) -> int:
    newest = newest_number(connection, campaign.id)
    if campaign.state not in GOING or newest is None:
        return 0
    step = lock_step(connection, campaign.id, newest)
    count = empty_impossible(connection, campaign.id, newest, kind)
    if count and step.closed is not None:
        close_step(connection, step, step.closed)  # freezes the Tally again, without them
    return count
