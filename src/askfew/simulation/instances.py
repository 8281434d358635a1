"""Families of two-group problems, and worlds drawn from them."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from askfew import oracles
from askfew.answers import Number
from askfew.errors import InvalidInput
from askfew.records import Floats, Ints, Oracle, Problem

__all__ = ["NOISES", "Instance", "World"]

NOISES = ("gaussian", "yes-no", "scale")


@dataclass(frozen=True, eq=False)
class World:
    """One problem: who answers, and the truth that only a referee may see."""

    oracle: Oracle
    labels: Ints
    """True groups, named so that item 0 is in group 0."""


@dataclass(frozen=True)
class Instance:
    """A family of problems: two groups that differ on some questions and on no other.

    ``gap`` is the difference of the group means on the best question, ``gap / j**decay`` on the
    j-th best; ``useful`` questions differ at all, at random places. ``balance`` is the second
    group's share of the items. Yes/no groups answer yes with probability 0.5 + gap/2 and
    0.5 - gap/2; a scale has five values from 0 to 4 with the same means, rescaled.

    >>> world = Instance(items=6, questions=9, useful=2, gap=3).draw(np.random.SeedSequence(0))
    >>> world.labels
    array([0, 0, 1, 1, 1, 0])
    """

    items: int
    questions: int
    useful: int
    gap: float
    noise: str = "gaussian"
    sigma: float = 1.0
    balance: float = 0.5
    decay: float = 0.0

    def __post_init__(self) -> None:
        Problem(self.items, self.questions)  # refuses sizes that are none
        if not 1 <= self.useful <= self.questions:
            raise InvalidInput(
                f"useful questions must be between 1 and all {self.questions}",
                self.useful,
                "choose how many",
            )
        if self.noise not in NOISES:
            raise InvalidInput(
                f"noise must be one of {', '.join(NOISES)}", repr(self.noise), "choose one"
            )
        if not (math.isfinite(self.gap) and self.gap >= 0):
            raise InvalidInput(
                "gap must be a number, at least 0", self.gap, "pass how far groups differ"
            )
        if self.noise != "gaussian" and self.gap > 1:
            raise InvalidInput(
                f"a {self.noise} gap must lie between 0 and 1",
                self.gap,
                "0.7 means .85 against .15",
            )
        if self.noise == "gaussian":
            Number(self.sigma)  # refuses a spread that is none
        if not 0 < self.balance < 1:
            raise InvalidInput(
                "balance, the second group's share, must lie strictly between 0 and 1",
                self.balance,
                "try 0.5",
            )
        if not self.decay >= 0:
            raise InvalidInput("decay must not be negative", self.decay, "0 makes all gaps alike")

    @property
    def second_group(self) -> int:
        """How many items are in the second group: whole items, and neither group empty."""
        return min(max(round(self.items * self.balance), 1), self.items - 1)

    @property
    def ordered_gaps(self) -> Floats:
        """The gap of every question, the best first."""
        gaps = np.zeros(self.questions)
        gaps[: self.useful] = self.gap / np.arange(1, self.useful + 1) ** self.decay
        return gaps

    def draw(self, seed: np.random.SeedSequence) -> World:
        """A world: items shuffled, useful questions at random places, answers from the seed."""
        for_world, for_answers = seed.spawn(2)
        rng = np.random.default_rng(for_world)
        labels = rng.permutation(np.arange(self.items) < self.second_group).astype(np.int64)
        gaps = np.zeros(self.questions)
        gaps[rng.permutation(self.questions)] = self.ordered_gaps
        oracle = self._oracle(gaps, labels, np.random.default_rng(for_answers))
        return World(oracle, (labels != labels[0]).astype(np.int64))

    def _oracle(self, gaps: Floats, labels: Ints, rng: np.random.Generator) -> Oracle:
        if self.noise == "gaussian":
            means = np.stack([np.zeros_like(gaps), gaps])
            return oracles.gaussian(means, self.sigma, labels=labels, rng=rng)
        chances = np.stack([0.5 - gaps / 2, 0.5 + gaps / 2])
        if self.noise == "yes-no":
            return oracles.bernoulli(chances, labels=labels, rng=rng)
        return oracles.scale(4 * chances, 0, 4, labels=labels, rng=rng)

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return asdict(self)

    def __str__(self) -> str:
        gaps = f"gap {self.gap:g}" + (f" / j^{self.decay:g}" if self.decay else "")
        sigma = f" (sigma {self.sigma:g})" if self.noise == "gaussian" else ""
        return (
            f"{self.items} items, {self.questions} questions, {self.useful} useful, {gaps},"
            f" {self.noise} answers{sigma}, balance {self.balance:g}"
        )
