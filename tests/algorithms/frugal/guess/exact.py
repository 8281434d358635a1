"""Answers without noise: what a guess learns from them can be said beforehand."""

from __future__ import annotations

import numpy as np

from askfew.plans import Plan
from askfew.records import Floats, Ints, Tally


def exact(plan: Plan, means: Floats, questions: Ints | None = None) -> Tally:
    """Every row of the plan answered by its cell's mean (means: items x questions)."""
    asked = plan.ints("questions") if questions is None else questions
    repeats = plan.ints("repeats")
    level = means[plan.ints("items"), asked]
    return Tally(repeats, repeats * level, repeats * level**2)


def useful(items: int, questions: int, gaps: dict[int, float]) -> Floats:
    """Items of odd number lie higher by the gap of the question."""
    means = np.zeros((items, questions))
    for question, gap in gaps.items():
        means[1::2, question] = gap
    return means
