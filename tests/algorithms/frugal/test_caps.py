"""Two groups and a cap on the answers of a cell, from 20 on: one question after the other."""

from __future__ import annotations

import numpy as np
import pytest

from askfew.records import Batch, Oracle, Tally

from .worlds import play, yes_no


class Counting:
    """An oracle that refuses to be asked about a cell more often than the cap."""

    def __init__(self, oracle: Oracle, cap: int) -> None:
        self.problem, self.cap, self._oracle = oracle.problem, cap, oracle
        self._asked = np.zeros((self.problem.items, self.problem.questions), dtype=np.int64)

    def __call__(self, batch: Batch, /) -> Tally:
        np.add.at(self._asked, (batch.items, batch.questions), batch.repeats)
        assert self._asked.max() <= self.cap
        return self._oracle(batch)


def test_labels_go_on_with_another_question_when_cells_are_full() -> None:
    labels = np.arange(40) % 2
    done = []
    for seed in range(4):
        oracle = yes_no(seed, 0.85, 4, 10, labels)
        found = play(Counting(oracle, 25), seed, per_cell=25).result
        assert found is not None
        sure = found.labels >= 0
        assert np.array_equal(found.labels[sure], labels[sure])
        done.append(sure.mean())
    assert np.mean(done) > 0.9


@pytest.mark.parametrize(("items", "questions"), [(3, 1), (10, 3), (30, 12)])
def test_questions_that_tell_nothing_end_it_with_what_would_help(
    items: int, questions: int
) -> None:
    """It used to end in an IndexError, or to ask a third of all cells first."""
    oracle = yes_no(0, 0.5, 0, questions, np.arange(items) % 2)
    found = play(Counting(oracle, 40), per_cell=40).result
    assert found is not None
    assert found.status == "undecided"
    assert (found.labels == -1).all()
    assert "a larger per_cell, or the method rule" in found.reason
