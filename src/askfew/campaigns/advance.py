"""From one step to the next: close, compute, open. Any process may do it, at any time.

The Tally is frozen in one short transaction. The next Batch is computed outside any transaction,
by the live session this process holds at that step, or by replaying the log into a fresh one. It
is inserted under a unique (campaign, step): of several that try, one wins, and the others check
that they would have asked the same. A crash anywhere leaves a state from which the next caller
goes on.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from threading import Lock

from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError

from askfew.campaigns.database import Database
from askfew.campaigns.handout import give_up_unanswerable
from askfew.campaigns.schema import campaigns, steps
from askfew.campaigns.settings import Settings
from askfew.campaigns.steps import close_step, newest_step, open_step, read_batch, read_log
from askfew.clustering import Session, session
from askfew.errors import ReplayMismatch
from askfew.log import Log
from askfew.records import Batch, Problem

__all__ = ["Advancer", "new_session"]


def new_session(settings: Settings, problem: Problem, log: Log) -> Session:
    """The campaign's procedure, standing where the log ends."""
    return session(
        problem.items,
        problem.questions,
        answers=problem.answers,
        delta=settings.delta,
        method=settings.method,
        max_answers=settings.max_answers,
        rng=settings.seed,
        log=log,
        **settings.options,
    )


@dataclass
class Advancer:
    """Moves one campaign on; keeps the session it used, for the next time."""

    database: Database
    campaign: int
    settings: Settings
    problem: Problem
    _live: Session | None = None
    _turn: Lock = field(default_factory=Lock)

    def advance(self, now: float) -> bool:
        """Close the newest step if it is settled and open the next; whether anything moved."""
        with self._turn:
            with self.database.read() as connection:
                newest = newest_step(connection, self.campaign)
            if newest is not None:
                if not self._close(newest.number, newest.opened, now):
                    return False
                number = newest.number + 1
            else:
                number = 0
            live = self._session_at(number)
            batch = live.ask()
            if batch is None:
                self._end(live)
            else:
                self._open(number, batch, now)
            return True

    def _close(self, number: int, opened: float, now: float) -> bool:
        with self.database.write() as connection:
            if now >= opened + self.settings.step_timeout:
                per_cell = self.settings.answers_per_worker_and_cell
                give_up_unanswerable(connection, self.campaign, number, per_cell)
            return close_step(connection, self.campaign, number, now)

    def _session_at(self, number: int) -> Session:
        """A session that has been told all steps before ``number``."""
        with self.database.read() as connection:
            recipe = connection.execute(
                select(campaigns.c.recipe).where(campaigns.c.id == self.campaign)
            ).scalar_one()
            log = read_log(connection, self.campaign, self.problem, json.loads(recipe))
        live = self._live
        if live is not None and len(live.log) == number - 1 and live.ask() is not None:
            tally = log.steps[number - 1].tally
            live.tell(tally.counts, tally.sums, tally.squares)
        elif live is None or len(live.log) != number:
            live = new_session(self.settings, self.problem, log)
        self._live = live
        return live

    def _open(self, number: int, batch: Batch, now: float) -> None:
        try:
            with self.database.write() as connection:
                open_step(connection, self.campaign, number, batch, now)
        except IntegrityError:
            self._check_same(number, batch)

    def _check_same(self, number: int, batch: Batch) -> None:
        """Someone else was first: they must have asked what we would have asked."""
        with self.database.read() as connection:
            row = connection.execute(
                select(steps).where(steps.c.campaign == self.campaign, steps.c.number == number)
            ).one()
        theirs = read_batch(row)
        if not theirs.asks_the_same_as(batch):
            raise ReplayMismatch(
                f"step {number} must be the same on every machine of a campaign: {theirs}",
                batch,
                "let machines with the same versions of askfew and NumPy serve it",
                step=number,
                asked=theirs,
                would_ask=batch,
            )

    def _end(self, live: Session) -> None:
        outcome = live.outcome
        assert outcome is not None
        with self.database.write() as connection:
            connection.execute(
                update(campaigns)
                .where(
                    campaigns.c.id == self.campaign, campaigns.c.state.in_(("running", "paused"))
                )
                .values(state="ended", outcome=json.dumps(outcome.to_dict()))
            )
