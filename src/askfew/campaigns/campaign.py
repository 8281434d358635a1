"""One campaign: what a worker and an owner can do with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, bindparam, insert, select, update

from askfew.campaigns.advance import Advancer
from askfew.campaigns.database import Database
from askfew.campaigns.handout import Lease, hand_out
from askfew.campaigns.intake import (
    Receipt,
    Received,
    few_unsettled,
    nothing_unsettled,
    refuse,
    release,
    renew,
    retract,
    take,
)
from askfew.campaigns.schema import campaigns, items, questions, workers
from askfew.campaigns.settings import Settings
from askfew.errors import InvalidAnswer, InvalidInput
from askfew.records import Problem

__all__ = ["Asked", "Campaign", "Shown"]

_SEEN_AGAIN = 30.0
"""Seconds after which it is worth a write that a worker has been seen again."""


@dataclass(frozen=True)
class Shown:
    """An item or a question as a worker sees it; ``image`` is the hash of a picture."""

    id: str
    text: str
    image: str | None = None


@dataclass(frozen=True)
class Asked:
    """A question put to a worker: tell its ``id`` and the answer before ``expires``."""

    id: str
    item: Shown
    question: Shown
    expires: float


class Campaign:
    """A durable run: ask and tell, from any number of processes."""

    def __init__(
        self, database: Database, number: int, settings: Settings, clock: Callable[[], float]
    ) -> None:
        self.id, self.settings = number, settings
        self.database, self.clock = database, clock
        with database.read() as connection:
            self.items = _shown(connection, select(items.c.id, items.c.text, items.c.image), number)
            self.questions = _shown(connection, select(questions.c.id, questions.c.text), number)
        self.problem = Problem(len(self.items), len(self.questions), settings.answers)
        self._advancer = Advancer(database, number, settings, self.problem)

    @property
    def state(self) -> str:
        """Running, paused, closed or ended."""
        with self.database.read() as connection:
            return _state(connection, self.id)

    def ask(self, worker: str, n: int = 1) -> list[Asked]:
        """Up to n questions for this worker, leased; an empty list if there is none just now."""
        if not 1 <= n <= 1000:
            raise InvalidInput("n must be between 1 and 1000", n, "ask for fewer at once")
        while True:
            with self.database.write() as connection:
                if _state(connection, self.id) != "running":
                    return []
                self._admit(connection, worker)
                leases = hand_out(
                    connection,
                    self.id,
                    worker,
                    n,
                    per_cell=self.settings.answers_per_worker_and_cell,
                    now=self.clock(),
                    lease_seconds=self.settings.lease_seconds,
                )
                if leases:
                    return self._in_words(leases)
            if not self._advancer.advance(self.clock()):
                return []

    def tell(
        self,
        lease: str,
        answer: object,
        *,
        seconds: float | None = None,
        cost: float | None = None,
    ) -> Receipt:
        """Answer a question by its id. Once accepted, an answer is never lost."""
        try:
            value = self.settings.answers.read(answer)
        except InvalidAnswer as error:
            return Receipt(Received.INVALID, str(error))
        price = self.settings.price if cost is None else cost
        with self.database.write() as connection:
            if _state(connection, self.id) == "closed":
                return Receipt(Received.CLOSED, "the campaign is closed")
            now = self.clock()
            receipt = take(connection, lease, value, str(answer), now, seconds, price)
            last = few_unsettled(connection, self.id)
        if last:
            self._advance_if_settled()
        return receipt

    def skip(self, lease: str, reason: str = "skipped") -> Receipt:
        """No answer from this worker (a skip or a failure): someone else is asked."""
        with self.database.write() as connection:
            receipt = refuse(connection, lease, reason, self.clock())
        self._advance_if_settled()
        return receipt

    def release(self, lease: str) -> Receipt:
        """Hand a question back unanswered."""
        with self.database.write() as connection:
            return release(connection, lease)

    def renew(self, lease: str) -> Receipt:
        """Keep a question for another lease."""
        with self.database.write() as connection:
            return renew(connection, lease, self.clock() + self.settings.lease_seconds)

    def retract(self, lease: str, worker: str) -> Receipt:
        """Take back an answer of this worker's, as long as its step is open."""
        with self.database.write() as connection:
            return retract(connection, lease, worker)

    def revoke(self, worker: str) -> None:
        """Ask this worker no more; what they answered stays, and the report names them."""
        with self.database.write() as connection:
            connection.execute(
                update(workers)
                .where(workers.c.campaign == self.id, workers.c.name == worker)
                .values(revoked=self.clock())
            )

    def pause(self) -> None:
        """Hand out nothing until resumed; answers on their way are still taken."""
        self._move("running", "paused")

    def resume(self) -> None:
        """Go on handing out."""
        self._move("paused", "running")

    def close(self) -> None:
        """End the campaign for good, with what is known."""
        with self.database.write() as connection:
            connection.execute(
                update(campaigns)
                .where(campaigns.c.id == self.id, campaigns.c.state.in_(("running", "paused")))
                .values(state="closed")
            )

    def outcome(self) -> dict[str, Any] | None:
        """What the method found, once it has ended."""
        with self.database.read() as connection:
            stored = connection.execute(
                select(campaigns.c.outcome).where(campaigns.c.id == self.id)
            ).scalar()
        return None if stored is None else dict(json.loads(stored))

    def _advance_if_settled(self) -> None:
        """Look after the commit: of two that settle the last slots at once, one then sees both."""
        with self.database.read() as connection:
            settled = nothing_unsettled(connection, self.id)
        if settled:
            self._advancer.advance(self.clock())

    def _move(self, before: str, after: str) -> None:
        with self.database.write() as connection:
            moved = connection.execute(
                update(campaigns)
                .where(campaigns.c.id == self.id, campaigns.c.state == before)
                .values(state=after)
            )
            if moved.rowcount == 0 and _state(connection, self.id) != after:
                raise InvalidInput(
                    f"the campaign must be {before}", _state(connection, self.id), "nothing to do"
                )

    def _admit(self, connection: Connection, worker: str) -> None:
        if not 1 <= len(worker) <= 200:
            raise InvalidInput(
                "a worker's name must have 1 to 200 characters", repr(worker), "name it"
            )
        now = self.clock()
        who = {"this_campaign": self.id, "this_worker": worker}
        known = connection.execute(_WORKER, who).one_or_none()
        if known is None:
            row = {"campaign": self.id, "name": worker, "joined": now, "seen": now}
            connection.execute(insert(workers).values(row))
        elif known.revoked is not None:
            raise InvalidInput(
                "a worker must be admitted", f"{worker!r}, who was revoked", "ask the owner"
            )
        elif now > known.seen + _SEEN_AGAIN:
            here = (workers.c.campaign == self.id, workers.c.name == worker)
            connection.execute(update(workers).where(*here).values(seen=now))

    def _in_words(self, leases: list[Lease]) -> list[Asked]:
        return [
            Asked(
                id=lease.id,
                item=self.items[lease.item],
                question=self.questions[lease.question],
                expires=lease.expires,
            )
            for lease in leases
        ]


_STATE = select(campaigns.c.state).where(campaigns.c.id == bindparam("this_campaign"))
_WORKER = select(workers.c.seen, workers.c.revoked).where(
    workers.c.campaign == bindparam("this_campaign"), workers.c.name == bindparam("this_worker")
)


def _state(connection: Connection, campaign: int) -> str:
    return str(connection.execute(_STATE, {"this_campaign": campaign}).scalar_one())


def _shown(connection: Connection, query: Select[Any], campaign: int) -> list[Shown]:
    """All items or all questions, in their order. They never change."""
    table = query.get_final_froms()[0]
    rows = connection.execute(query.where(table.c.campaign == campaign).order_by(table.c.number))
    return [Shown(*row) for row in rows]
