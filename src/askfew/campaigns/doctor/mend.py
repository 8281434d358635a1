"""Mend what can be mended without choosing: impossible answers, which were none (impossible.py).

Only in the newest step: nothing has been computed from it. From an older one the method has gone
on, and its owner begins again on what was paid for (``create --reuse`` leaves such answers out).
"""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, func, select

from askfew.answers import AnswerKind
from askfew.campaigns.db.database import Database
from askfew.campaigns.db.schema import campaigns, steps
from askfew.campaigns.settings import Settings
from askfew.campaigns.slots.impossible import empty_impossible, impossible_slots
from askfew.campaigns.steps.advance import GOING
from askfew.campaigns.steps.log import close_step, lock_step
from askfew.errors import AskfewError

__all__ = ["mend", "mendable_slots"]


def mend(database: Database) -> dict[str, int]:
    """Take them out of every campaign that goes on; how many there were, by campaign."""
    with database.read() as connection:
        everyone = connection.execute(select(campaigns)).all()
    mended = {}
    for campaign in everyone:
        try:
            kind = Settings.from_dict(json.loads(campaign.settings)).answers
        except (AskfewError, ValueError):
            continue  # the examination says what is wrong with it
        with database.write() as connection:
            count = _mend(connection, campaign, kind)
        if count:
            mended[campaign.name] = count
    return mended


def mendable_slots(connection: Connection, campaign: Any, kind: AnswerKind) -> list[int]:
    """The slots of the newest step that hold an impossible answer, if the campaign goes on."""
    newest = _newest(connection, campaign.id)
    if campaign.state not in GOING or newest is None:
        return []
    return impossible_slots(connection, campaign.id, newest, kind)


def _mend(connection: Connection, campaign: Any, kind: AnswerKind) -> int:
    newest = _newest(connection, campaign.id)
    if campaign.state not in GOING or newest is None:
        return 0
    step = lock_step(connection, campaign.id, newest)
    count = empty_impossible(connection, campaign.id, newest, kind)
    if count and step.closed is not None:
        close_step(connection, step, step.closed)  # freezes the Tally again, without them
    return count


def _newest(connection: Connection, campaign: int) -> int | None:
    last = select(func.max(steps.c.number)).where(steps.c.campaign == campaign)
    newest: int | None = connection.execute(last).scalar_one()
    return newest
