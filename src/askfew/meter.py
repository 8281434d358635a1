"""The meter: how much was answered, and whether the cap allows more. Nothing else counts cost."""

from __future__ import annotations

from numbers import Real

from askfew.errors import BudgetReached, InvalidInput
from askfew.records import Batch, Tally

__all__ = ["Meter"]


class Meter:
    """Counts answers, cells (rows asked) and batches; refuses a Batch that would cross the cap.

    Algorithms never count their own cost, and oracles need not. Every Batch and Tally passes
    through the driver, which hands them to its meter.
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
