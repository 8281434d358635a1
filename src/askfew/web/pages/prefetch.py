"""How many questions a page may hold: the one it shows, and the next if there are plenty."""

from __future__ import annotations

from sqlalchemy import func, select

from askfew.campaigns.campaign import Assignment, Campaign
from askfew.campaigns.db.schema import slots, workers
from askfew.campaigns.slots.states import LEASED, OPEN

__all__ = ["held_by", "may_hold"]

_AHEAD = 2
_ACTIVE_SECONDS = 120.0
"""Who asked within these is active. (A store notes it every half minute.)"""


def may_hold(campaign: Campaign) -> int:
    """Two, or one if fewer slots are open than twice the active workers.

    A question that lies ready on one page is a question that somebody else waits for: when few are
    left, everybody takes one at a time, and the step closes sooner.
    """
    with campaign.database.read() as connection:
        active = connection.execute(
            select(func.count())
            .select_from(workers)
            .where(
                workers.c.campaign == campaign.id,
                workers.c.seen > campaign.clock() - _ACTIVE_SECONDS,
                workers.c.revoked.is_(None),
            )
        ).scalar_one()
        enough = 2 * max(active, 1)
        waiting = (
            select(slots.c.number).where(slots.c.campaign == campaign.id, OPEN).limit(enough)
        ).subquery()
        open_slots = connection.execute(select(func.count()).select_from(waiting)).scalar_one()
    return _AHEAD if open_slots >= enough else 1


def held_by(campaign: Campaign, worker: str, known: set[str]) -> list[Assignment]:
    """Questions that are the worker's, but for those the page knows about: they would be kept for
    nobody until their lease runs out, and a step would wait.
    """
    with campaign.database.read() as connection:
        rows = connection.execute(
            select(slots.c.lease, slots.c.item, slots.c.question, slots.c.expires).where(
                slots.c.campaign == campaign.id, slots.c.worker == worker, LEASED
            )
        ).all()
    return [
        Assignment(
            row.lease, campaign.items[row.item], campaign.questions[row.question], row.expires
        )
        for row in rows
        if row.lease not in known
    ]
