"""EVALUATE: apply the rule to single answers, because a judge who repeats itself has no others.

Nothing statistical is claimed. Answers that taught the rule may be used again, because asking again
would give the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from askfew.algorithms.rule.claim.rounds import TRIES
from askfew.records import Batch, Floats, Ints, Problem, Snapshot, Tally
from askfew.rule import Rule
from askfew.wording import counted

__all__ = ["Evaluation"]


@dataclass
class Evaluation:
    """The one answer of every cell that the rule looks at; NaN where it is missing."""

    problem: Problem
    rule: Rule
    questions: Ints
    certifying: Ints
    values: Floats
    """Items x the rule's questions."""
    room: Floats
    """The caps of those cells; a cell with 0 is never asked."""
    tries: int = field(init=False, default=0)
    _cells: tuple[Ints, Ints] = field(init=False)

    def ask(self) -> Batch | None:
        """The Batch of all missing answers that may be asked; None if there are none, or after
        ``TRIES`` Batches.
        """
        missing = np.isnan(self.values) & (self.room >= 1)
        row, column = np.nonzero(missing[self.certifying])
        if not len(row) or self.tries >= TRIES:
            return None
        self._cells = self.certifying[row], column
        return Batch(
            self._cells[0],
            self.questions[column],
            np.ones(len(row), dtype=np.int64),
            f"evaluate: {counted(len(row), 'answer')} that the rule looks at",
            self.known(),
        )

    def take(self, tally: Tally) -> None:
        """Keep the answers that came."""
        items, columns = self._cells
        came = tally.counts > 0
        self.values[items[came], columns[came]] = tally.sums[came]
        self.tries += 1

    @property
    def complete(self) -> Ints:
        """Items that have all their answers."""
        whole = ~np.isnan(self.values[self.certifying]).any(axis=1)
        return self.certifying[whole]

    @property
    def labels(self) -> Ints:
        """The group of each item by the rule; -1 on a cut, or if an answer is missing."""
        labels = np.full(self.problem.items, -1)
        labels[self.complete] = self.rule.apply(self.values[self.complete])
        return labels

    def known(self) -> Snapshot:
        """What is known so far, for people."""
        return Snapshot("evaluate", self.labels)
