"""What one run of the method carries from phase to phase."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from askfew.algorithms.frugal.noise import Noise
from askfew.algorithms.frugal.options import Options
from askfew.records import Batch, Problem, Procedure, Tally

__all__ = ["Course"]


@dataclass
class Course:
    """The problem, the knobs, two counts (answers asked so far, candidates registered), the noise.

    ``asked`` only paces the rounds. ``registered`` is the q of the proof and never goes back.
    """

    problem: Problem
    rng: np.random.Generator
    options: Options
    delta_pair: float
    asked: int = 0
    registered: int = 0
    noise: Noise = field(init=False)

    def __post_init__(self) -> None:
        self.noise = Noise(self.problem)

    def ask(self, batch: Batch) -> Procedure[Tally]:
        """Yield the Batch and note what it asks, answered or not: rounds grow even in silence."""
        self.asked += batch.answers
        tally = yield batch
        self.noise.record(batch.questions, tally)
        return tally
