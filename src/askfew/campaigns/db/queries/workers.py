"""The workers of a campaign: when they came, whether they were revoked, what they flagged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, func, select, text, update

from askfew.campaigns.db.database import RawTransaction
from askfew.campaigns.db.queries.handout import OVERDUE
from askfew.campaigns.db.schema import campaigns, flags, steps, workers
from askfew.campaigns.records import Flag

__all__ = [
    "ACTIVE_SECONDS",
    "Arrival",
    "active_count",
    "admitted_count",
    "arrive",
    "flags_of",
    "join_all",
    "keep_flag",
    "revocations",
    "revoke",
    "see",
]

ACTIVE_SECONDS = 120.0
"""A worker who asked within this time counts as at work. ``seen`` is written every 30 seconds at
most (``slots.handout``), so the time must be well above that."""
_CAMPAIGN = bindparam("this_campaign", type_=campaigns.c.id.type)
_WORKER = bindparam("this_worker", type_=workers.c.name.type)
_NEWEST = select(func.max(steps.c.number)).where(steps.c.campaign == _CAMPAIGN).scalar_subquery()
_US = (workers.c.campaign == _CAMPAIGN, workers.c.name == _WORKER)

_ARRIVAL = (
    select(
        campaigns.c.state,
        _NEWEST.label("step"),
        select(OVERDUE).scalar_subquery().label("overdue"),
        workers.c.seen,
        workers.c.revoked,
        workers.c.step.label("last_step"),
        workers.c.reference,
    )
    .where(campaigns.c.id == _CAMPAIGN, *_US)
    .with_for_update(of=workers)
)
# Two requests of a new worker may both find no row, and both insert.
_JOIN = text(
    "INSERT INTO workers (campaign, name, joined, seen)"
    " VALUES (:this_campaign, :this_worker, :now, :now) ON CONFLICT DO NOTHING"
)
_SEE = update(workers).where(*_US).values(seen=bindparam("now"))
_REVOKE = update(workers).where(*_US, workers.c.revoked.is_(None)).values(revoked=bindparam("now"))


@dataclass(frozen=True)
class Arrival:
    """What one request of a worker must know, read by one statement."""

    state: str
    """The campaign's state."""
    step: int | None
    """The number of the newest step."""
    overdue: bool
    """Whether some lease has run out."""
    seen: float
    revoked: float | None
    last_step: int | None
    reference: bool | None

    @property
    def role(self) -> bool | None:
        """Whether the worker answers about references in this step; None if not decided yet."""
        return self.reference if self.last_step == self.step else None


def arrive(raw: RawTransaction, campaign: int, worker: str, now: float) -> Arrival:
    """Let the worker in, and lock their row: of two requests by one worker, one waits."""
    who = {"this_campaign": campaign, "this_worker": worker, "now": now}
    # Most workers are known, so their row is looked for before it is inserted.
    row = raw.first(_ARRIVAL, who)
    if row is None:
        raw.run(_JOIN, who)
        row = raw.first(_ARRIVAL, who)
    return Arrival(*row)


def see(raw: RawTransaction, campaign: int, worker: str, now: float) -> None:
    """Store when the worker was last seen."""
    raw.run(_SEE, {"this_campaign": campaign, "this_worker": worker, "now": now})


def revoke(raw: RawTransaction, campaign: int, worker: str, now: float) -> None:
    """Revoke the worker, even one who has not joined yet: a row is made that keeps them out."""
    who = {"this_campaign": campaign, "this_worker": worker, "now": now}
    raw.run(_JOIN, who)
    # Only the first time is kept: that is when they were locked out.
    raw.run(_REVOKE, who)


def join_all(connection: Connection, campaign: int, names: Iterable[str], now: float) -> set[str]:
    """Add the names that are new, and lock all workers; returns those who are revoked.

    Nobody can be revoked until the transaction ends. Sorted, so that two imports take the locks in
    the same order and cannot deadlock.
    """
    who = [{"this_campaign": campaign, "this_worker": name, "now": now} for name in sorted(names)]
    connection.execute(_JOIN, who)
    everybody = connection.execute(
        select(workers.c.name, workers.c.revoked)
        .where(workers.c.campaign == campaign)
        .order_by(workers.c.name)
        .with_for_update()
    )
    return {row.name for row in everybody if row.revoked is not None}


def admitted_count(connection: Connection, campaign: int) -> int:
    """How many workers have joined and are not revoked."""
    there = select(func.count()).select_from(workers)
    there = there.where(workers.c.campaign == campaign, workers.c.revoked.is_(None))
    return int(connection.execute(there).scalar_one())


def active_count(connection: Connection, campaign: int, since: float) -> int:
    """How many workers were seen after ``since`` and are not revoked."""
    seen = (workers.c.campaign == campaign, workers.c.seen > since, workers.c.revoked.is_(None))
    query = select(func.count()).select_from(workers).where(*seen)
    return connection.execute(query).scalar_one()


def revocations(connection: Connection, campaign: int) -> dict[str, bool]:
    """Whether each worker is revoked, in the order they joined."""
    rows = connection.execute(
        select(workers.c.name, workers.c.revoked)
        .where(workers.c.campaign == campaign)
        .order_by(workers.c.joined, workers.c.name)
    )
    return {row.name: row.revoked is not None for row in rows}


_FLAG = text(
    "INSERT INTO flags (campaign, item, worker, reason, time)"
    " VALUES (:campaign, :item, :worker, :reason, :time)"
    " ON CONFLICT (campaign, item, worker) DO UPDATE"
    " SET reason = excluded.reason, time = excluded.time"
)


def keep_flag(connection: Connection, campaign: int, flag: Flag, now: float) -> None:
    """Store a flag; a second one of the same worker about the item replaces the first."""
    connection.execute(_FLAG, {**vars(flag), "campaign": campaign, "time": now})


def flags_of(connection: Connection, campaign: int) -> list[Flag]:
    """All flags, oldest first."""
    rows = connection.execute(
        select(flags.c.item, flags.c.worker, flags.c.reason)
        .where(flags.c.campaign == campaign)
        .order_by(flags.c.time, flags.c.item)
    )
    return [Flag(*row) for row in rows]
