"""Flags: what a worker reports as wrong with an item."""

from __future__ import annotations

from sqlalchemy import Connection, select, text

from askfew.campaigns.db.schema import flags

__all__ = ["flags_of", "keep_flag"]

_FLAG = text(
    "INSERT INTO flags (campaign, item, worker, reason, time)"
    " VALUES (:campaign, :item, :worker, :reason, :time)"
    " ON CONFLICT (campaign, item, worker) DO UPDATE"
    " SET reason = excluded.reason, time = excluded.time"
)


def keep_flag(
    connection: Connection, campaign: int, item: int, worker: str, reason: str, now: float
) -> None:
    """Store a flag; a second one of the same worker about the item replaces the first."""
    row = {"campaign": campaign, "item": item, "worker": worker, "reason": reason, "time": now}
    connection.execute(_FLAG, row)


def flags_of(connection: Connection, campaign: int) -> list[tuple[int, str, str]]:
    """Item, worker and reason of all flags, oldest first."""
    rows = connection.execute(
        select(flags.c.item, flags.c.worker, flags.c.reason)
        .where(flags.c.campaign == campaign)
        .order_by(flags.c.time, flags.c.item)
    )
    return [(row.item, row.worker, row.reason) for row in rows]
