"""The workers of a campaign: admitted when they first ask, revoked by its owner."""

from __future__ import annotations

from askfew.campaigns.db.queries import workers
from askfew.campaigns.db.queries.leases import release_all
from askfew.campaigns.db.queries.workers import Arrival
from askfew.campaigns.db.raw import RawTransaction
from askfew.errors import NotAdmitted

__all__ = ["admit", "revoke"]

_SEEN_AGAIN = 30.0
"""Seconds after which it is worth a write that a worker has been seen again."""


def admit(raw: RawTransaction, campaign: int, worker: str, now: float) -> Arrival:
    """Let the worker in and keep hold of their row: of two requests by one worker, one waits."""
    arrival = workers.arrive(raw, campaign, worker, now)
    if arrival.revoked is not None:
        raise NotAdmitted(
            "a worker must be admitted", f"{worker!r}, who was revoked", "ask the owner"
        )
    if now > arrival.seen + _SEEN_AGAIN:
        workers.see(raw, campaign, worker, now)
    return arrival


def revoke(raw: RawTransaction, campaign: int, worker: str, now: float) -> None:
    """Ask the worker no more, and hand back what they hold. What they answered counts, in the open
    step too: whoever could take it out after a look at it could choose the data.
    """
    workers.revoke(raw, campaign, worker, now)
    release_all(raw, campaign, worker)
