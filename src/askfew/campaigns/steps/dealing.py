"""The order in which a Batch's answers are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from askfew.records import Batch, Ints

__all__ = ["deal"]

Bools = np.ndarray[Any, np.dtype[np.bool_]]


def deal(batch: Batch, *, references: bool) -> list[tuple[int, int, int, bool]]:
    """The slots of a Batch, one for each answer: row, item, question, whether about a reference.

    All first answers come first, question by question; then all second answers, and so on. People
    are faster and more consistent if the question stays for a run of items, and a worker who goes
    through the slots in this order meets many items before one comes again. Without ``references``
    no slot is about a reference.
    """
    rows = np.repeat(np.arange(len(batch)), batch.repeats)
    questions = batch.questions[rows]
    width = int(questions.max(initial=0)) + 1
    repeats = _turns(batch.items[rows] * width + questions)
    # lexsort sorts by its last key first: repeats, then questions, then rows.
    dealt = rows[np.lexsort((rows, questions, repeats))]
    known = _references(batch) if references else np.zeros(len(batch), dtype=np.bool_)
    return list(
        zip(
            dealt.tolist(),
            batch.items[dealt].tolist(),
            batch.questions[dealt].tolist(),
            known[dealt].tolist(),
            strict=True,
        )
    )


def _turns(names: Ints) -> Ints:
    """For each name, how many equal ones come before it: 7 7 3 7 has the turns 0 1 0 2."""
    order = np.argsort(names, kind="stable")
    ordered = names[order]
    first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    lengths = np.diff(np.r_[first, len(names)])
    turns = np.empty(len(names), dtype=np.int64)
    turns[order] = np.arange(len(names)) - np.repeat(first, lengths)
    return turns


def _references(batch: Batch) -> Bools:
    """Which rows are about items that have a label already: those are asked only as references."""
    if batch.known is None:
        return np.zeros(len(batch), dtype=np.bool_)
    return np.asarray(batch.known.labels[batch.items] >= 0)
