"""Measure whether questions in one call influence each other.

Each question is asked alone, alone again, and together with others; the campaign gets none of the
answers. If answers differ more often between "together" and "alone" than between "alone" and "alone
again", the other questions in a call influence them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from askfew.campaigns.campaign import Assignment, Shown
from askfew.workers.desk import Answer
from askfew.workers.llm.answerer import ModelAnswerer

__all__ = ["Influence", "measure_influence"]


@dataclass(frozen=True)
class Influence:
    """How often answers differ, among cells that were answered all three times."""

    cells: int
    together: int
    """Cells that differ between a call of several questions and a call of one."""
    alone: int
    """Cells that differ between two calls of one question."""
    questions: int
    """The number of questions in a call."""

    def __str__(self) -> str:
        if not self.cells:
            return "No cell was answered all three times: nothing can be said."
        more = (self.together - self.alone) / self.cells
        # The standard error of a difference of two counts; enough to see what is noise.
        error = math.sqrt(self.together + self.alone) / self.cells
        return (
            f"{self.together} of {self.cells} answers differ between a call of {self.questions}"
            f" questions and a call of one, {self.alone} of {self.cells} between two calls of one:"
            f" {more:+.1%} (standard error {error:.1%}) is what other questions in a call change."
        )


async def measure_influence(
    model: ModelAnswerer, items: Sequence[Shown], questions: Sequence[Shown], *, seed: int = 0
) -> Influence:
    """Ask as many random questions about each item as go into one call."""
    rng = np.random.default_rng(seed)
    most = min(model.context.config.questions_per_call, len(questions))
    cells = together = alone = 0
    for number, item in enumerate(items):
        chosen = [questions[place] for place in rng.choice(len(questions), most, replace=False)]
        first = [(await model([each]))[0] for each in _asked(f"first-{number}", item, chosen)]
        again = [(await model([each]))[0] for each in _asked(f"again-{number}", item, chosen)]
        all_ = await model(_asked(f"together-{number}", item, chosen))
        for replies in zip(first, again, all_, strict=True):
            values = [each.value for each in replies if isinstance(each, Answer)]
            if len(values) == 3:
                cells += 1
                alone += values[0] != values[1]
                together += values[0] != values[2]
    return Influence(cells, together, alone, most)


def _asked(turn: str, item: Shown, questions: Sequence[Shown]) -> list[Assignment]:
    """Assignments that belong to no campaign; the seeds of the calls come from their ids."""
    return [
        Assignment(f"influence-{turn}-{n}", item, question, 0.0, 0.0)
        for n, question in enumerate(questions)
    ]
