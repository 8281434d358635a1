"""The workers of a campaign: admitted when they first ask, revoked by its owner."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import bindparam, func, select, text, update

from askfew.campaigns.db.raw import RawTransaction
from askfew.campaigns.db.schema import SlotState, campaigns, slots, steps, workers
from askfew.campaigns.slots.handout import OVERDUE
from askfew.campaigns.slots.states import UNSETTLED
from askfew.campaigns.slots.undoing import BEING_REDONE, let_stand
from askfew.errors import InvalidInput, NotAdmitted

__all__ = ["Arrival", "admit", "check_name", "revoke"]

_SEEN_AGAIN = 30.0
"""Seconds after which it is worth a write that a worker has been seen again."""

_CAMPAIGN = bindparam("this_campaign", type_=campaigns.c.id.type)
_WORKER = bindparam("this_worker", type_=workers.c.name.type)
_NEWEST = select(func.max(steps.c.number)).where(steps.c.campaign == _CAMPAIGN).scalar_subquery()
_US = (workers.c.campaign == _CAMPAIGN, workers.c.name == _WORKER)
_THEIR_SLOTS = (slots.c.campaign == _CAMPAIGN, slots.c.worker == _WORKER)

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
_JOIN = text(
    "INSERT INTO workers (campaign, name, joined, seen)"
    " VALUES (:this_campaign, :this_worker, :now, :now) ON CONFLICT DO NOTHING"
)
_SEE = update(workers).where(*_US).values(seen=bindparam("now"))
_REVOKE = update(workers).where(*_US, workers.c.revoked.is_(None)).values(revoked=bindparam("now"))
_HAND_BACK = (
    update(slots)
    .where(*_THEIR_SLOTS, UNSETTLED)
    .values(state=SlotState.OPEN.value, worker=None, lease=None, expires=None)
)
_REDOING = select(slots.c.step, slots.c.number).where(*_THEIR_SLOTS, BEING_REDONE).with_for_update()


@dataclass(frozen=True)
class Arrival:
    """What a worker who asks finds."""

    state: str
    """The campaign's."""
    step: int | None
    """The newest."""
    overdue: bool
    """Whether some lease has run out."""
    seen: float
    revoked: float | None
    last_step: int | None
    reference: bool | None

    @property
    def role(self) -> bool | None:
        """Whether the worker answers about references in this step; None if neither yet."""
        return self.reference if self.last_step == self.step else None


def admit(raw: RawTransaction, campaign: int, worker: str, now: float) -> Arrival:
    """Let the worker in and keep hold of their row: of two requests by one worker, one waits."""
    who = {"this_campaign": campaign, "this_worker": worker, "now": now}
    row = raw.first(_ARRIVAL, who)
    if row is None:
        raw.run(_JOIN, who)
        row = raw.first(_ARRIVAL, who)
    arrival = Arrival(*row)
    if arrival.revoked is not None:
        raise NotAdmitted(
            "a worker must be admitted", f"{worker!r}, who was revoked", "ask the owner"
        )
    if now > arrival.seen + _SEEN_AGAIN:
        raw.run(_SEE, who)
    return arrival


def revoke(raw: RawTransaction, campaign: int, worker: str, now: float) -> None:
    """Ask the worker no more, and hand back what they hold. What they answered counts, in the open
    step too: whoever could take it out after a look at it could choose the data.
    """
    who = {"this_campaign": campaign, "this_worker": worker, "now": now}
    raw.run(_JOIN, who)
    raw.run(_REVOKE, who)
    for step, number in raw.all(_REDOING, who):
        let_stand(raw, {"this_campaign": campaign, "at_step": step, "at_number": number})
    raw.run(_HAND_BACK, who)


def check_name(worker: object) -> str:
    """A worker's name, if every store can hold it."""
    if isinstance(worker, str) and 1 <= len(worker) <= 200 and worker.isprintable():
        return worker
    raise InvalidInput(
        "a worker's name must have 1 to 200 printable characters", repr(worker)[:300], "name it"
    )
