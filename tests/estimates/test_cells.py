"""Answers added up by cell are the same however often the cells were merged in between."""

from __future__ import annotations

import numpy as np
import pytest

from askfew import Number, YesNo
from askfew.answers import AnswerKind
from askfew.estimates.cells import Cells
from askfew.records import Batch, Problem, Tally


@pytest.mark.parametrize("kind", [YesNo(), Number(1.0)])
@pytest.mark.parametrize("items", [5, 200_000])  # 200 000 rows a Batch are merged at once
def test_every_answer_is_counted_once(kind: AnswerKind, items: int) -> None:
    """New cells, cells asked again, and a cell that is named twice in one Batch."""
    rng, cells = np.random.default_rng(1), Cells(Problem(items, 2, kind))
    counts, sums = np.zeros((2, items, 2))
    for question in (0, 1, 0, 1):
        who = rng.integers(items, size=items)
        asked = np.full(items, question)
        heard = rng.integers(0, 3, items)
        total = heard.astype(np.float64)
        cells.add(Batch(who, asked, np.full(items, 2)), Tally(heard, total, 2 * total))
        np.add.at(counts, (who, asked), heard)
        np.add.at(sums, (who, asked), total)
    found = cells.sums()
    cell = np.nonzero(counts)
    np.testing.assert_array_equal([found.item, found.question], cell)
    np.testing.assert_array_equal(found.count, counts[cell])
    np.testing.assert_array_equal(found.sum, sums[cell])
    twice = 1 if isinstance(kind, YesNo) else 2
    np.testing.assert_array_equal(found.square, twice * found.sum)


def test_what_was_told_stays_as_it_was() -> None:
    """Adding in place changes no array of a Tally: the log holds the same ones."""
    cells, tally = Cells(Problem(2, 1)), Tally(np.array([1]), np.array([1.0]))
    for _ in range(3):
        cells.add(Batch(np.array([0]), np.array([0]), np.array([1])), tally)
        cells.sums()
    assert cells.sums().count.tolist() == [3]
    assert tally.sums.tolist() == [1.0]
