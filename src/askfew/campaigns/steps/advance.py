"""From one step to the next: close, compute, open. Any process may do it, at any time.

The Tally is frozen in one short transaction. The next Batch is computed outside any transaction,
by the live session this process holds at that step, or by replaying the log into a fresh one. It
is inserted under a unique (campaign, step): of several that try, one wins, and the others check
that they would have asked the same. A crash anywhere leaves a state from which the next caller
goes on.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from shlex import quote
from threading import Lock
from typing import Any

from sqlalchemy import bindparam, or_, select, update
from sqlalchemy.exc import IntegrityError

from askfew.campaigns.settings import Settings
from askfew.campaigns.slots.handout import give_up_unanswerable
from askfew.campaigns.slots.impossible import empty_impossible
from askfew.campaigns.slots.states import any_leased, any_open
from askfew.campaigns.steps.log import (
    close_step,
    lock_step,
    open_step,
    read_batch,
    read_log,
    read_step,
)
from askfew.campaigns.tables.database import Transactions
from askfew.campaigns.tables.schema import campaigns, steps
from askfew.clustering import Session, session
from askfew.errors import ReplayMismatch
from askfew.log import Log
from askfew.records import Batch, Problem

__all__ = ["GOING", "Advancer", "new_session"]

GOING = ("running", "paused")
"""The states in which a campaign still takes answers."""

_HERE = steps.c.campaign == campaigns.c.id
_WAITING = or_(any_open(campaigns.c.id), any_leased(campaigns.c.id))
_NEWEST = (
    select(
        campaigns.c.state,
        steps.c.number,
        steps.c.opened,
        steps.c.closed,
        _WAITING.label("waiting"),
    )
    .outerjoin(steps, _HERE)
    .where(campaigns.c.id == bindparam("this_campaign"))
    .order_by(steps.c.number.desc())
    .limit(1)
)


def new_session(
    settings: Settings,
    problem: Problem,
    log: Log,
    names: tuple[Sequence[str], Sequence[str]] | None = None,
) -> Session:
    """The campaign's procedure, standing where the log ends; it speaks of items and questions by
    their ``names``.
    """
    items, questions = names or (range(problem.items), range(problem.questions))
    return session(
        items,
        questions,
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

    database: Transactions
    campaign: int
    settings: Settings
    problem: Problem
    names: tuple[Sequence[str], Sequence[str]]
    """Of items and of questions."""
    _live: Session | None = None
    _look_again: float = 0.0
    _turn: Lock = field(default_factory=Lock)

    def advance(self, now: float) -> bool:
        """Close the newest step if it is settled and open the next; whether anything moved."""
        with self._turn:
            with self.database.read() as connection:
                here = connection.execute(_NEWEST, {"this_campaign": self.campaign}).one()
            if here.state not in GOING:
                return False
            if here.number is None:
                number = 0
            elif here.closed is not None or self._close(here, now):
                number = here.number + 1
            else:
                return False
            live = self._session_at(number)
            batch = live.ask()
            if batch is None:
                self._end(live)
            else:
                self._open(number, batch, now)
            return True

    def _close(self, here: Any, now: float) -> bool:
        """Freeze the step if nothing of it waits any more; slots nobody may take are given up."""
        overtime = now >= here.opened + self.settings.step_timeout
        if here.waiting and not (overtime and time.perf_counter() >= self._look_again):
            return False
        began = time.perf_counter()
        with self.database.write() as connection:
            step = lock_step(connection, self.campaign, here.number)
            if step.closed is not None:
                return True
            if overtime:
                per_cell = self.settings.answers_per_worker_and_cell
                give_up_unanswerable(connection, self.campaign, here.number, per_cell)
            empty_impossible(connection, self.campaign, here.number, self.settings.answers)
            closed = close_step(connection, step, now)
        # Who asks for nothing again and again must not keep everybody else waiting.
        self._look_again = time.perf_counter() + 20 * (time.perf_counter() - began)
        return closed

    def _session_at(self, number: int) -> Session:
        """A session that has been told all steps before ``number``."""
        live = self._live
        if live is None or not self._tell_last(live, number):
            with self.database.read() as connection:
                recipe = connection.execute(
                    select(campaigns.c.recipe).where(campaigns.c.id == self.campaign)
                ).scalar_one()
                log = read_log(
                    connection, self.campaign, self.problem, json.loads(recipe), before=number
                )
            try:
                live = new_session(self.settings, self.problem, log, self.names)
            except ReplayMismatch as error:
                raise self._refused(error, log) from error
        self._live = live
        return live

    def _refused(self, error: ReplayMismatch, log: Log) -> ReplayMismatch:
        """Which campaign it is, and what its owner can do."""
        expected, got, _ = error.args
        name = self.settings.name
        return ReplayMismatch(
            f"campaign {name!r}, written with {_in_words(log.recipe.get('versions'))}: {expected}",
            got,
            "put back what was changed in the store (a backup or an export has it), run it with"
            " those versions, or begin a new campaign on the answers already paid for:"
            f" 'askfew create DIR --reuse {quote(name)}'",
            step=error.step,
            asked=error.asked,
            would_ask=error.would_ask,
        )

    def _tell_last(self, live: Session, number: int) -> bool:
        """Bring a session that is one step behind up to date; whether it then is."""
        asked = live.ask()
        if asked is not None and len(live.log) == number - 1:
            with self.database.read() as connection:
                last = read_step(connection, self.campaign, number - 1)
            if last.batch.asks_the_same_as(asked):
                live.tell(last.tally.counts, last.tally.sums, last.tally.squares)
        return len(live.log) == number

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
                .where(campaigns.c.id == self.campaign, campaigns.c.state.in_(GOING))
                .values(state="ended", outcome=json.dumps(outcome.to_dict()))
            )


def _in_words(versions: object) -> str:
    if not isinstance(versions, dict):
        return "unknown versions"
    return ", ".join(f"{name} {number}" for name, number in versions.items())
