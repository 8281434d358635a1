"""Recorded answers in a data frame, one row each."""

from __future__ import annotations

from typing import Any

import numpy as np

from askfew.answers import AnswerKind, YesNo
from askfew.errors import InvalidAnswer, InvalidInput
from askfew.frames import columns_of
from askfew.oracles.simulated import Seed
from askfew.oracles.table import TableOracle

__all__ = ["from_frame"]


def from_frame(
    frame: Any,
    *,
    item: str = "item",
    question: str = "question",
    answer: str = "answer",
    answers: AnswerKind | None = None,
    rng: Seed = None,
) -> TableOracle:
    """An oracle over a frame of pandas, polars or pyarrow: a row is one answer.

    Items and questions are called by what stands in their columns, also in the outcome.

    >>> import pandas as pd
    >>> rows = {"item": ["owl", "owl", "elk"], "question": ["flies?"] * 3, "answer": [1, 1, 0]}
    >>> from_frame(pd.DataFrame(rows), rng=0).names
    (['owl', 'elk'], ['flies?'])
    """
    kind = YesNo() if answers is None else answers
    items, questions, values = columns_of(frame, (item, question, answer))
    read = []
    for row, value in enumerate(values):
        try:
            read.append(kind.read(value))
        except InvalidAnswer as error:
            expected, got, _ = error.args
            raise InvalidInput(expected, f"{got} in row {row}", "mend the frame") from None
    return TableOracle.of_rows(items, questions, read, kind, np.random.default_rng(rng))
