"""The only file that resumes an algorithm: ask and tell, run to the end, replay a log.

It knows no algorithm by name. It checks every Batch and every Tally, counts them (``Meter``), keeps
the log, and ends a run that is out of budget, out of answers, or that nobody answers any more. A
procedure that wants a Plan gets a new one or, in a replay, the one in the log.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Generic, TypeVar

from numpy.typing import ArrayLike

from askfew.errors import (
    AskfewError,
    BudgetReached,
    EndOfAnswers,
    InvalidInput,
    InvalidPlan,
    InvalidTally,
    OutOfTurn,
    ReplayMismatch,
    Stalled,
)
from askfew.estimates.cells import Cells
from askfew.log import Log, merged, rest_of
from askfew.plans import Guess, Plan
from askfew.records import (
    Batch,
    Oracle,
    Problem,
    Procedure,
    Snapshot,
    Status,
    Tally,
    checked_batch,
    checked_tally,
)

__all__ = ["AskTell", "Meter", "RunEnd", "replay", "run"]

T = TypeVar("T")

STALLED_AFTER = 3
"""A run ends after this many Batches in a row without a single answer. A plain choice: one silent
Batch may be an accident, and a run can go on from its log."""


@dataclass(frozen=True)
class RunEnd(Generic[T]):
    """How a run ended: its status and why, the result if there is one, and what was known last."""

    status: Status
    reason: str
    result: T | None
    known: Snapshot | None
    meter: Meter
    cells: Cells | None = None
    """All answers by cell, if the run was told to keep them."""


class AskTell(Generic[T]):
    """One procedure, one Batch at a time.

    >>> import numpy as np
    >>> from askfew.algorithms.paper import candidate_row
    >>> problem = Problem(items=4, questions=2)
    >>> session = AskTell(candidate_row(problem, 0.1, np.random.default_rng(0)), problem)
    >>> session.ask()
    Batch(4 rows, 4 answers: CR k=1, CSH L=1, halving 1 of 1: compare 2 pairs)
    >>> session.tell(counts=[1, 1, 1, 1], sums=[0, 0, 1, 1])
    """

    def __init__(
        self,
        procedure: Procedure[T],
        problem: Problem,
        *,
        max_answers: int | None = None,
        log: Log | None = None,
        keep: bool = False,
    ) -> None:
        self.problem = problem
        self.meter = Meter(max_answers)
        self.cells = Cells(problem) if keep else None
        self.log: Log | None = None
        self.known: Snapshot | None = None
        self.plans: tuple[Plan, ...] = ()
        """Plans made since the last step; they led to the open Batch, or to the end."""
        self.ended: RunEnd[T] | None = None
        self._procedure = procedure
        self._open: Batch | None = None
        self._unanswered = 0
        self._replaying = False
        if log is None:
            self._advance(None)
        else:
            self._resume_from(log, max_answers)

    def ask(self) -> Batch | None:
        """The Batch that waits for its Tally; None when the run has ended (see ``ended``).

        If an interrupted run had already got some of the answers, only the rest is asked.
        """
        if self._open is None or self._partial is None:
            return self._open
        return rest_of(self._open, self._partial)

    def tell(self, counts: ArrayLike, sums: ArrayLike, squares: ArrayLike | None = None) -> None:
        """Answer what was asked, row by row; if the answers are refused, nothing changes."""
        asked = self.ask()
        if asked is None or self._open is None:
            raise OutOfTurn("tell answers an open Batch", "none is open", "ask() first")
        tally = checked_tally(asked, self.problem.kind, counts, sums, squares)
        if self._partial is not None:
            tally = merged(self._open, self._partial, tally)
        self._accept(self._open, tally)

    def keep_partial(self, partial: Tally) -> None:
        """Keep answers to a part of the Batch in the log, for a run that resumes from it."""
        if self.log is not None and self._open is not None:
            before = self._partial
            self.log.partial = partial if before is None else merged(self._open, before, partial)

    def stop(self, end: EndOfAnswers) -> None:
        """End the run here. The procedure is told why, and may still return what it found."""
        result: T | None = None
        try:
            self._procedure.throw(end)
        except StopIteration as returned:
            result = returned.value
        except EndOfAnswers:  # it has nothing to add
            pass
        else:
            self._procedure.close()
        self._end(end.status, str(end), result)

    @property
    def _partial(self) -> Tally | None:
        return None if self.log is None else self.log.partial

    def _accept(self, batch: Batch, tally: Tally) -> None:
        # The log comes first: if the method fails on these answers, they are not lost.
        if self.log is not None:
            self.log.append(batch, tally)
        self._count(batch, tally)
        self._advance(tally)

    def _count(self, batch: Batch, tally: Tally) -> None:
        answered = self.meter.record(batch, tally)
        if self.cells is not None:
            self.cells.add(batch, tally)
        self._unanswered = 0 if answered else self._unanswered + 1

    def _advance(self, tally: Tally | None, recorded: Sequence[Plan] = ()) -> None:
        """Send the Tally, then open the next Batch or end the run.

        ``recorded`` are the plans of the log for this step; they are used before new ones are made.
        """
        self._open = None
        self.plans = ()
        if self._unanswered == STALLED_AFTER:
            self.stop(
                Stalled(
                    "a batch must bring answers",
                    f"{STALLED_AFTER} batches in a row without any",
                    "see who answers, and go on from the log",
                )
            )
            return
        handed_back = deque(recorded)
        sent: Any = tally
        try:
            while isinstance(yielded := self._procedure.send(sent), Guess):
                sent = self._plan(yielded, handed_back)
        except StopIteration as end:
            self._end("done", "the method stopped by itself", end.value)
            return
        if handed_back:
            raise _unwanted(handed_back[0])
        batch = checked_batch(yielded, self.problem)
        # A Batch without a Snapshot does not erase what was known before.
        self.known = batch.known or self.known
        self._open = batch
        if not self._replaying:
            self._admit(batch)

    def _plan(self, guess: Guess, handed_back: deque[Plan]) -> Plan:
        """The next plan of the log, or a new one, which is logged before anything is asked.

        So a run that is interrupted before the answers come goes on with the same plan.
        """
        if handed_back:
            plan = handed_back.popleft()
        elif self._replaying:
            raise _missing()
        else:
            plan = guess.make()
        self.plans = (*self.plans, plan)
        if self.log is not None:
            self.log.pending = self.plans
        return plan

    def _admit(self, batch: Batch) -> None:
        try:
            self.meter.admit(batch)
        except BudgetReached as reached:
            self.stop(reached)

    def _resume_from(self, log: Log, max_answers: int | None) -> None:
        """Replay the log; the cap holds only afterwards, because it may differ between two runs."""
        self._replaying = True
        self.meter.limit(None)
        tally: Tally | None = None
        for index in range(len(log)):
            step = log.verify(index)
            self._replay_to(index, tally, step.plans)
            if self._open is None or not self._open.asks_the_same_as(step.batch):
                raise _mismatch(index, step.batch, self._open)
            told = step.tally
            tally = checked_tally(
                self._open, self.problem.kind, told.counts, told.sums, told.squares
            )
            self._count(self._open, tally)
        # The log is attached only now: plans that were handed back must not overwrite its pending
        # ones.
        self._replaying = False
        self.log = log
        self.meter.limit(max_answers)
        self._replay_to(len(log), tally, log.pending)
        if log.complete and self._open is not None:
            raise _mismatch(len(log), None, self._open)
        # All answers had come when the run was interrupted: there is nothing left to ask for.
        if self._open is not None and self._partial is not None and self.ask() is None:
            self._accept(self._open, self._partial)

    def _replay_to(self, index: int, tally: Tally | None, plans: Sequence[Plan]) -> None:
        try:
            self._advance(tally, plans)
        except InvalidPlan as error:
            expected, got, _ = error.args
            raise ReplayMismatch(
                f"step {index} of the log must follow a plan that the claim accepts: {expected}",
                got,
                "replay with the method, options and claim version of the recorded run",
                step=index,
            ) from error

    def _end(self, status: Status, reason: str, result: T | None) -> None:
        self._open = None
        if self.log is not None:
            # A run that was stopped may go on from its log, with a larger cap or more answers.
            self.log.complete = status == "done"
        self.ended = RunEnd(status, reason, result, self.known, self.meter, self.cells)


def run(
    procedure: Procedure[T],
    oracle: Oracle,
    *,
    max_answers: int | None = None,
    log: Log | None = None,
    keep: bool = False,
) -> RunEnd[T]:
    """Drive a procedure to its end with answers from an oracle.

    What a ``log`` already holds is replayed, not asked again; what is new is appended to it. If
    the oracle fails, the exception that leaves here carries the log. ``keep`` adds answers up cell
    by cell, for guesses and checks.
    """
    problem = oracle.problem if log is None else log.problem
    session = AskTell(procedure, problem, max_answers=max_answers, log=log, keep=keep)
    while (batch := session.ask()) is not None:
        try:
            tally = oracle(batch)
            if not isinstance(tally, Tally):
                raise _no_tally(tally)
            session.tell(tally.counts, tally.sums, tally.squares)
        except EndOfAnswers as end:
            session.stop(end)
        except AskfewError as error:
            # The answers of all closed steps are in it: whoever catches the error can go on from
            # there.
            error.log = log
            if error.partial is not None:
                session.keep_partial(error.partial)
            raise
    assert session.ended is not None
    return session.ended


def replay(
    procedure: Procedure[T], log: Log, *, max_answers: int | None = None, keep: bool = False
) -> AskTell[T]:
    """A session that continues where the log ends, and appends to it.

    Every Batch must be the one in the log, and the log must be as it was written: otherwise
    ReplayMismatch names the first step that differs.
    """
    return AskTell(procedure, log.problem, max_answers=max_answers, log=log, keep=keep)


def _no_tally(answer: object) -> InvalidTally:
    return InvalidTally(
        "an oracle must answer a Batch with a Tally",
        type(answer).__name__,
        "return askfew.Tally(counts, sums)",
    )


def _mismatch(step: int, asked: Batch | None, would_ask: Batch | None) -> ReplayMismatch:
    return ReplayMismatch(
        f"step {step} of the log must be what the procedure asks: {asked or 'the end of the run'}",
        would_ask or "the end of the run",
        "replay with the method, options, seed and versions of the recorded run",
        step=step,
        asked=asked,
        would_ask=would_ask,
    )


def _unwanted(plan: Plan) -> InvalidPlan:
    return InvalidPlan("no further plan is wanted before the Batch", plan, "fix the log")


def _missing() -> InvalidPlan:
    return InvalidPlan("the log must hold a plan for this step", "none", "fix the log")


class Meter:
    """Counts answers, cells (rows asked) and batches; refuses a Batch that would cross the cap.

    Nothing else counts cost: algorithms must not, and oracles need not.
    """

    def __init__(self, max_answers: int | None = None) -> None:
        self.limit(max_answers)
        self.answers = 0
        self.cells = 0
        self.batches = 0
        self.by_phase: dict[str, int] = {}

    def limit(self, max_answers: int | None) -> None:
        """Set the cap, or lift it."""
        if max_answers is not None and not (isinstance(max_answers, Real) and max_answers >= 0):
            raise InvalidInput(
                "max_answers must be a number, at least 0", repr(max_answers), "pass a cap, or None"
            )
        self.max_answers = max_answers

    def admit(self, batch: Batch) -> None:
        """Raise BudgetReached if this Batch, answered in full, would cross the cap."""
        if self.max_answers is None:
            return
        wanted = batch.answers
        # Refused as a whole: half of a Batch would be another Batch, which no method has asked for.
        if self.answers + wanted > self.max_answers:
            raise BudgetReached(
                f"the cap is {self.max_answers:,} answers and {self.answers:,} are spent",
                f"a batch of {wanted:,} more",
                "raise max_answers to go on",
            )

    def record(self, batch: Batch, tally: Tally) -> int:
        """Count one answered Batch; returns how many answers it brought."""
        answers = tally.answers
        self.answers += answers
        self.cells += len(batch)
        self.batches += 1
        phase = batch.known.phase if batch.known else ""
        self.by_phase[phase] = self.by_phase.get(phase, 0) + answers
        return answers

    def __repr__(self) -> str:
        return (
            f"Meter({self.answers:,} answers in {self.cells:,} cells and {self.batches:,} batches)"
        )
