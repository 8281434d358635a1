"""The pilot's answers: what was asked while the rule was learnt.

The guess fits classes to them. The claim counts no evidence from them, but it counts them towards
the caps of the cells; so they are kept here and not in ``guess``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from askfew.records import Batch, Floats, Ints, Problem, Tally

__all__ = ["Screen"]


@dataclass
class Screen:
    """The cells that were asked while learning, with counts and sums of their answers."""

    problem: Problem
    rows: list[tuple[Ints, Ints, Ints, Floats]] = field(default_factory=list)

    def record(self, batch: Batch, tally: Tally) -> None:
        """Add an answered Batch."""
        self.rows.append((batch.items, batch.questions, tally.counts, tally.sums))

    @property
    def answers(self) -> int:
        """How many answers there are."""
        return sum(int(counts.sum()) for _, _, counts, _ in self.rows)

    def table(self) -> tuple[Ints, Ints, Ints, Floats]:
        """The items and questions that were asked, and counts and sums for all their cells."""
        columns = zip(*self.rows, strict=True)
        items, questions, counts, sums = (np.concatenate(each) for each in columns)
        asked, row = np.unique(items, return_inverse=True)
        known, column = np.unique(questions, return_inverse=True)
        shape = len(asked), len(known)
        all_counts, all_sums = np.zeros(shape, dtype=np.int64), np.zeros(shape)
        np.add.at(all_counts, (row, column), counts)
        np.add.at(all_sums, (row, column), sums)
        return asked, known, all_counts, all_sums

    def counts_of(self, questions: Ints) -> Ints:
        """How many answers every item of the problem gave to these questions."""
        counts = np.zeros((self.problem.items, len(questions)), dtype=np.int64)
        # Not by ``table``: a rule of seven questions must not need all items x all questions.
        place = np.full(self.problem.questions, -1)
        place[questions] = np.arange(len(questions))
        for items, asked, given, _ in self.rows:
            here = place[asked] >= 0
            np.add.at(counts, (items[here], place[asked[here]]), given[here])
        return counts
