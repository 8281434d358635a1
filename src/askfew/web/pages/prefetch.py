"""How many questions a page may hold: the one it shows, and the next if there are plenty."""

from __future__ import annotations

from askfew.campaigns.campaign import Assignment, Campaign
from askfew.campaigns.db.queries.slots import at_least_open, leases_of
from askfew.campaigns.db.queries.workers import active_count

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
        since = campaign.clock() - _ACTIVE_SECONDS
        enough = 2 * max(active_count(connection, campaign.id, since), 1)
        return _AHEAD if at_least_open(connection, campaign.id, enough) else 1


def held_by(campaign: Campaign, worker: str, known: set[str]) -> list[Assignment]:
    """Questions that are the worker's, but for those the page knows about: they would be kept for
    nobody until their lease runs out, and a step would wait.
    """
    with campaign.database.read() as connection:
        held = leases_of(connection, campaign.id, worker)
    return [
        Assignment(
            lease,
            campaign.items[item],
            campaign.questions[question],
            expires,
            max(expires - campaign.clock(), 0.0),
        )
        for lease, item, question, expires in held
        if lease not in known
    ]
