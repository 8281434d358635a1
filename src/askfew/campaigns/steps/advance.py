"""From one step to the next: close, compute, open. Any process may do it, at any time.

The Tally is frozen in one short transaction. The next plans and Batch are computed outside any
transaction, by the live session that this process holds at that step, or by replaying the log into
a fresh one. If several processes try, one opens the step (or ends the campaign), with plans, Batch
and slots in one transaction. The others discard their sessions, whatever those had guessed, and go
on from what the winner wrote. A method without plans must ask the same everywhere, and that is
checked. A crash anywhere leaves a state from which the next caller goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from shlex import quote
from threading import Lock

from askfew.algorithms import CLAIM_VERSIONS
from askfew.campaigns.db.database import Transactions
from askfew.campaigns.db.queries.campaigns import finish, lock_campaign, state_of
from askfew.campaigns.db.queries.handout import give_up_unanswerable
from askfew.campaigns.db.queries.slots import empty_impossible
from askfew.campaigns.db.queries.steps import (
    NewStep,
    Progress,
    find_step,
    lock_step,
    plan_bytes,
    progress_of,
)
from askfew.campaigns.db.queries.workers import ACTIVE_SECONDS, active_count, admitted_count
from askfew.campaigns.inputs import Inputs, new_session
from askfew.campaigns.records import StoredOutcome
from askfew.campaigns.settings import Settings
from askfew.campaigns.steps.log import close_step, open_step, read_log, read_step, same_plans
from askfew.campaigns.steps.reuse import fill_step, taught_by
from askfew.errors import Closed, ReplayMismatch
from askfew.log import Log
from askfew.records import Problem
from askfew.sessions import Session

__all__ = ["GOING", "Advancer", "resumed", "stop_at_close"]

GOING = ("running", "paused")
"""The states in which a campaign still takes answers."""


def resumed(
    settings: Settings, log: Log, inputs: Inputs, at_work: Callable[[], int] | None = None
) -> Session:
    """A session that has replayed the campaign's log; ReplayMismatch if that fails.

    A claim holds only for the claim version and the texts that it was made with.
    """
    recipe = log.recipe
    claim, texts = CLAIM_VERSIONS.get(settings.method), inputs.texts
    if (begun := recipe.get("claim")) != claim:
        began = f"claim version it began with ({begun or 'none'})"
        raise _not_as_begun(log, began, f"{claim}", "use the askfew that began it")
    if recipe.get("texts") not in (texts, None):
        began = "texts of items and questions it began with"
        raise _not_as_begun(log, began, "others", "put them back")
    live = new_session(settings, log, inputs, at_work)
    log.recipe = recipe  # into an empty log new_session writes its own, without a campaign's fields
    return live


def _not_as_begun(log: Log, what: str, got: str, do: str) -> ReplayMismatch:
    return ReplayMismatch(f"step {len(log)} must go on with the {what}", got, do, step=len(log))


def _refused(error: ReplayMismatch, log: Log, campaign: str) -> ReplayMismatch:
    """The error with the campaign's name, and with what its owner can do."""
    expected, got, _ = error.args
    versions = _in_words(log.recipe.get("versions"))
    same = log.recipe.get("claim") == CLAIM_VERSIONS.get(str(log.recipe.get("method")))
    undo = "put back what was changed in the store (a backup or an export has it), " if same else ""
    return ReplayMismatch(
        f"campaign {campaign!r}, written with {versions}: {expected}",
        got,
        f"{undo}run it with those versions, or begin a new campaign on the answers already paid"
        f" for: 'askfew create DIR --reuse {quote(campaign)}'",
        step=error.step,
        asked=error.asked,
        would_ask=error.would_ask,
    )


@dataclass
class Advancer:
    """Moves one campaign on, and keeps the session for the next time.

    A kept session spares replaying the whole log at every step.
    """

    database: Transactions
    campaign: int
    settings: Settings
    problem: Problem
    _live: Session | None = None
    _now: float = 0.0
    _look_again: float = 0.0
    _turn: Lock = field(default_factory=Lock)

    def advance(self, now: float) -> bool:
        """Close the newest step if it is settled, and open the next; True if anything changed."""
        # One thread at a time: they share the session.
        with self._turn:
            self._now = now
            with self.database.read() as connection:
                here = progress_of(connection, self.campaign)
            if here.state not in GOING:
                return False
            if here.number is None:
                number = 0
            elif here.closed is not None or self._close(here, now):
                number = here.number + 1
            else:
                return False
            live = self._session_at(number)
            if not self._write(live, number, now):
                self._lose(live, number)
            return True

    def end(self) -> None:
        """Close the campaign, even if a step is open. Its outcome is that of the closed steps.

        A campaign whose log cannot be replayed is closed without an outcome.
        """
        with self._turn:
            self._live = None
            # A step that closes or opens between reading the log and writing the outcome would
            # make the outcome wrong, so try again until nothing came between.
            while not self._ended():
                pass

    def _ended(self) -> bool:
        """Try to close the campaign; False if a step was closed or opened in between."""
        with self.database.read() as connection:
            here = progress_of(connection, self.campaign)
            if here.state not in GOING:
                return True
            inputs = Inputs.read(connection, self.campaign)
            log = read_log(connection, self.campaign, self.problem)
        outcome: StoredOutcome | None = None
        plans: bytes | None = None
        try:
            live = resumed(self.settings, log, inputs)
            stop_at_close(live)
            outcome = self._outcome(live)
            if len(log) == (0 if here.number is None else here.number + 1):
                plans = plan_bytes(live.log.pending)  # otherwise the open step has them already
        except ReplayMismatch:
            pass  # an owner must be able to close what this askfew cannot replay
        with self.database.write() as connection:
            # The locks that opening and closing a step take: neither happens before the commit.
            lock_campaign(connection, self.campaign)
            if here.number is not None:
                lock_step(connection, self.campaign, here.number)
            now = progress_of(connection, self.campaign)
            if (now.state, now.number, now.closed) != (here.state, here.number, here.closed):
                return False
            finish(connection, self.campaign, "closed", outcome, plans)
        return True

    def _close(self, here: Progress, now: float) -> bool:
        """Freeze the step if none of its slots waits; True if it is closed then.

        When the step has waited long enough, the slots that nobody may take are given up first.
        """
        assert here.number is not None
        assert here.opened is not None
        if here.waiting and time.perf_counter() < self._look_again:
            return False
        overtime = now >= here.opened + self.settings.step_timeout or self._all_have_come()
        if here.waiting and not overtime:
            return False
        began = time.perf_counter()
        with self.database.write() as connection:
            step = lock_step(connection, self.campaign, here.number)
            if step.closed is not None:
                return True  # another process has closed it
            if state_of(connection, self.campaign) not in GOING:
                return False  # the campaign was closed, and its outcome is without this step
            if overtime:
                per_cell = self.settings.answers_per_worker_and_cell
                give_up_unanswerable(connection, self.campaign, here.number, per_cell)
            empty_impossible(connection, self.campaign, here.number, self.settings.answers)
            closed = close_step(connection, step, self.problem, now)
        # Workers who ask in vain call this again and again, and it holds the writers' lock. 20
        # times as long a pause keeps it below a twentieth of the time, however large the step is.
        self._look_again = time.perf_counter() + 20 * (time.perf_counter() - began)
        return closed

    def _all_have_come(self) -> bool:
        """Whether all expected people are here.

        Then nobody else will come for a slot that none of them may take, so the step need not wait.
        """
        if self.settings.people is None:
            return False
        with self.database.read() as connection:
            return admitted_count(connection, self.campaign) >= self.settings.people

    def _session_at(self, number: int) -> Session:
        """A session that has been told all steps before ``number``."""
        live = self._live
        if live is None or not self._tell_last(live, number):
            with self.database.read() as connection:
                inputs = Inputs.read(connection, self.campaign)
                log = read_log(connection, self.campaign, self.problem, before=number)
            try:
                live = resumed(self.settings, log, inputs, self._at_work)
            except ReplayMismatch as error:
                raise _refused(error, log, self.settings.name) from error
        self._live = live
        return live

    def _at_work(self) -> int:
        """How many workers were active in the last ``ACTIVE_SECONDS``."""
        with self.database.read() as connection:
            return active_count(connection, self.campaign, self._now - ACTIVE_SECONDS)

    def _tell_last(self, live: Session, number: int) -> bool:
        """Tell the session the step before ``number``; whether it is up to date then.

        A session that would have asked or planned something else than the stored step is not told:
        the caller replays the log instead.
        """
        asked = live.ask()
        if asked is not None and len(live.log) == number - 1:
            with self.database.read() as connection:
                last = read_step(connection, self.campaign, number - 1)
            same = last.batch.asks_the_same_as(asked)
            if same and same_plans(last.plans, live.log.pending):
                live.tell(last.tally.counts, last.tally.sums, last.tally.squares)
        return len(live.log) == number

    def _write(self, live: Session, number: int, now: float) -> bool:
        """Open the step or end the campaign, in one transaction; False if somebody was first."""
        batch, plans = live.ask(), live.log.pending
        outcome = None if batch is not None else self._outcome(live)
        with self.database.write() as connection:
            # The lock on the campaign's row decides the race: the next one finds the step there.
            row = lock_campaign(connection, self.campaign)
            if row.state not in GOING or find_step(connection, self.campaign, number) is not None:
                return False
            if batch is not None:
                open_step(connection, NewStep(self.campaign, number, batch, plans, now))
                if row.reused is not None:
                    fill_step(connection, self.campaign, number, row.reused, self.settings)
            else:
                finish(connection, self.campaign, "ended", outcome, plan_bytes(plans))
        return True

    def _lose(self, live: Session, number: int) -> None:
        """Somebody else opened the step first: keep the session only if it wanted the same.

        Otherwise it is discarded, and the stored log is replayed the next time.
        """
        with self.database.read() as connection:
            row = find_step(connection, self.campaign, number)
        batch, plans = live.ask(), live.log.pending
        if row is None:  # the campaign ended or was closed
            self._live = None
            return
        theirs = row.batch
        same = batch is not None and theirs.asks_the_same_as(batch)
        if same and same_plans(row.plan_list, plans):
            return
        self._live = None
        if row.plans is None and not plans:
            raise ReplayMismatch(
                f"step {number} must be the same on every machine of a campaign: {theirs}",
                batch or "the end of the run",
                "let machines with the same versions of askfew and NumPy serve it",
                step=number,
                asked=theirs,
                would_ask=batch,
            )

    def _outcome(self, live: Session) -> StoredOutcome:
        """The outcome; its rule names the seals of the steps that taught it."""
        outcome = live.outcome
        assert outcome is not None
        if outcome.rule is not None:
            with self.database.read() as connection:
                taught = taught_by(connection, self.campaign, live.log)
            learnt = tuple(dict.fromkeys([*outcome.rule.learnt_from, *taught]))
            outcome = replace(outcome, rule=replace(outcome.rule, learnt_from=learnt))
        return StoredOutcome.of(outcome)


def stop_at_close(live: Session) -> None:
    """End a session as if its owner closed the campaign."""
    live.stop(
        Closed(
            "a campaign asks until every item is certified or given up",
            "its owner's word to close it",
            "a new one with --reuse goes on with its answers",
        )
    )


def _in_words(versions: object) -> str:
    if not isinstance(versions, dict):
        return "unknown versions"
    return ", ".join(f"{name} {number}" for name, number in versions.items())
