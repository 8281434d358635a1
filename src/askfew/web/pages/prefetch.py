"""How many questions a page may hold (the one it shows, and the next if there are plenty), and what
it says when there is none.
"""

from __future__ import annotations

import math

from askfew.campaigns.campaign import Assignment, Campaign
from askfew.campaigns.db.queries.slots import at_least_open, leases_of, open_and_leased
from askfew.campaigns.db.queries.workers import ACTIVE_SECONDS, active_count
from askfew.wording import counted

__all__ = ["held_by", "may_hold", "why_waiting"]

_AHEAD = 2
_MOST_COUNTED = 1000
_ROUNDS = 3
"""Questions for everybody that must be open: two that this worker answers, and one more because
no two answers take equally long."""


def may_hold(campaign: Campaign, worker: str) -> int:
    """Two, if the open slots keep everybody busy until this worker has answered both; else one.

    A question that lies ready on one page is a question that somebody else waits for: when few are
    left, everybody takes one at a time, and no page holds two of the last.
    """
    pace, typical = campaign.paces.of(worker), campaign.paces.typical()
    slower = pace / typical if pace and typical else 1.0
    with campaign.database.read() as connection:
        since = campaign.clock() - ACTIVE_SECONDS
        active = max(active_count(connection, campaign.id, since), 1)
        enough = math.ceil(_ROUNDS * active * max(slower, 1.0))
        return _AHEAD if at_least_open(connection, campaign.id, enough) else 1


def why_waiting(campaign: Campaign) -> str:
    """What somebody is told for whom there is no question just now."""
    with campaign.database.read() as connection:
        open_ones, held = open_and_leased(connection, campaign.id, _MOST_COUNTED)
    more = " or more" if _MOST_COUNTED in (open_ones, held) else ""
    if open_ones:
        some = f"{counted(open_ones, 'open question')}{more}"
        return f"{some}, none that you may answer: more people are needed."
    if held:
        last = "the last question" if held == 1 else f"the last {held:,}{more} questions"
        return f"Others are answering {last} of this round. Then this page goes on by itself."
    return "The next questions are being chosen. This page goes on by itself."


def held_by(campaign: Campaign, worker: str, known: set[str]) -> list[Assignment]:
    """Questions that are the worker's, but for those the page knows about: they would be kept for
    nobody until their lease runs out, and a step would wait.
    """
    with campaign.database.read() as connection:
        rows = leases_of(connection, campaign.id, worker)
    held = [
        Assignment(
            lease,
            campaign.items[item],
            campaign.questions[question],
            expires,
            max(expires - campaign.clock(), 0.0),
        )
        for lease, item, question, expires in rows
    ]
    return [each for each in held + campaign.gold_held_by(worker) if each.id not in known]
