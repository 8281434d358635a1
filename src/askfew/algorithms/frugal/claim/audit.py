"""The audit of labels that are certified: more answers, which no label depends on.

The labels rest on few questions, and hold only if items of a group are alike on all of them. An
audit asks labelled items other questions too, so that the check of this (``checks.sameness``) has
something to go by. It begins when labels, evidence and status are settled, and has no way to them:
all it keeps is how much was asked.
"""

from __future__ import annotations

import numpy as np

from askfew.algorithms.frugal.claim.ledger import refused
from askfew.plans import Plan
from askfew.records import Audited, Batch, Finding, Ints, Problem, Snapshot, Tally
from askfew.wording import counted

__all__ = ["AuditClaim"]


class AuditClaim:
    """Checks that plans ask labelled items, not too often, and not too much in all."""

    def __init__(
        self,
        problem: Problem,
        found: Finding,
        most: int,
        *,
        per_cell: int | None,
        cells: Ints,
        times: Ints,
    ) -> None:
        self.problem, self.found, self.most, self.per_cell = problem, found, most, per_cell
        self.left = most
        """How many more answers may be asked for."""
        self.over = found.certificate is None or not most
        self._cells, self._times = cells, times
        """How often cells were asked before; a cell is item x questions + question, sorted."""
        self._open: Batch | None = None
        self._answers = 0
        self._questions: set[int] = set()

    def room(self, cells: Ints) -> Ints:
        """How often each of these cells may still be asked."""
        if self.per_cell is None:
            return np.full(len(cells), self.left)
        place = np.searchsorted(self._cells, cells)
        known = np.append(self._cells, -1)[place] == cells
        asked = np.where(known, np.append(self._times, 0)[place], 0)
        return np.asarray(np.maximum(self.per_cell - asked, 0))

    def ask(self, plan: Plan) -> Batch | None:
        """The Batch of a plan, or None if it ends the audit; an unsound plan is refused."""
        if plan.kind == "end":
            self.over = True
            return None
        if plan.kind != "audit":
            raise refused("a plan must audit or end", repr(plan.kind))
        items, questions, repeats = (plan.ints(each) for each in ("items", "questions", "repeats"))
        if not (items.shape == questions.shape == repeats.shape) or not len(items):
            raise refused("an audit must ask something of somebody", f"{len(items)} items")
        if items.min() < 0 or items.max() >= self.problem.items or repeats.min() < 1:
            raise refused("an audit must ask items of the problem at least once", "others")
        if questions.min() < 0 or questions.max() >= self.problem.questions:
            raise refused("an audit must ask questions of the problem", "others")
        if (self.found.labels[items] < 0).any():
            raise refused("an audit must ask items that have a label", "others")
        if repeats.sum() > self.left:
            raise refused(f"an audit may ask for {self.left} more answers", f"{repeats.sum()}")
        cells = items * self.problem.questions + questions
        if len(np.unique(cells)) < len(cells):
            raise refused("an audit must name a cell once", "a cell named twice")
        if (repeats > self.room(cells)).any():
            raise refused(
                f"no cell may be asked more than {self.per_cell} times", "a plan that does"
            )
        expected = float(self.left)
        self._count(cells, repeats)
        whom, what = (
            counted(len(np.unique(items)), "item"),
            counted(len(np.unique(questions)), "question"),
        )
        known = Snapshot(
            "audit",
            self.found.labels,
            self.found.evidence,
            question=self.found.question,
            expected=expected,
        )
        self._open = Batch(items, questions, repeats, f"audit: {whom} on {what}", known)
        return self._open

    def _count(self, cells: Ints, repeats: Ints) -> None:
        self.left -= int(repeats.sum())
        every, place = np.unique(np.concatenate([self._cells, cells]), return_inverse=True)
        times = np.zeros(len(every), dtype=np.int64)
        np.add.at(times, place, np.concatenate([self._times, repeats]))
        self._cells, self._times = every, times

    def settle(self, tally: Tally) -> None:
        """Count the answers of the last Batch, whatever they say."""
        asked, self._open = self._open, None
        assert asked is not None, "settle answers an open Batch"
        self._answers += tally.answers
        self._questions.update(asked.questions[tally.counts > 0].tolist())
        self.over = not self.left

    @property
    def audited(self) -> Audited:
        """What was asked so far."""
        return Audited(self._answers, self.most, tuple(sorted(self._questions)))
