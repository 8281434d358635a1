"""Families of problems with planted groups, and the worlds that are drawn from them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from askfew.answers import Number, Scale
from askfew.errors import InvalidInput
from askfew.extensions import find, installed
from askfew.oracles import BernoulliOracle, GaussianOracle, ScaleOracle
from askfew.oracles.simulated import Means
from askfew.records import Batch, Floats, Ints, Oracle, Problem, renumbered

__all__ = ["NOISES", "CustomWorlds", "Instance", "World"]

NOISES = ("gaussian", "yes-no", "scale")


@dataclass(frozen=True, eq=False)
class World:
    """One problem: the oracle, and the truth that only a referee may see."""

    oracle: Oracle
    labels: Ints
    """True groups, numbered in the order of their first items: item 0 is in group 0."""
    means: Callable[[Ints], Floats] | None = None
    """Returns the true mean answers of all items (rows) to some questions (columns), in the users'
    units; None if they are not known."""
    levels: Floats | None = None
    """The groups' mean answers (groups x questions), in the users' units, for a yardstick that is
    told them; None if they are not known."""


@dataclass(frozen=True)
class Instance:
    """A family of problems: groups that differ on some questions and not on the others.

    ``gap`` is the difference of the group means on the best question, ``gap / j**decay`` on the
    j-th best; ``useful`` questions differ at all, at random places. Yes/no groups answer yes with
    probability 0.5 + gap/2 and 0.5 - gap/2; a scale has five values from 0 to 4 with the same
    means, rescaled. With more than two ``groups`` (of equal size) each useful question has some of
    them on its low and some on its high side, at random, so that every two differ on some question.
    ``balance`` is the second of two groups' share of the items. Items of a group are the same, or
    differ on every useful question by ``spread * gap`` (a standard deviation, before means are
    clipped to the scale).

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
    groups: int = 2
    spread: float = 0.0

    def __post_init__(self) -> None:
        Problem(self.items, self.questions)  # raises an error for invalid sizes
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
            Number(self.sigma)  # raises an error for an invalid sigma
        if not 0 < self.balance < 1:
            raise InvalidInput(
                "balance, the second group's share, must lie strictly between 0 and 1",
                self.balance,
                "try 0.5",
            )
        if not self.decay >= 0:
            raise InvalidInput("decay must not be negative", self.decay, "0 makes all gaps alike")
        if not (math.isfinite(self.spread) and self.spread >= 0):
            raise InvalidInput(
                "spread, within a group, must be a number, at least 0",
                self.spread,
                "0.1 is a tenth of the gap",
            )
        self._check_groups()

    def _check_groups(self) -> None:
        groups: object = self.groups
        if not isinstance(groups, int) or isinstance(groups, bool) or groups < 2:
            raise InvalidInput(
                "groups must be a whole number from 2", repr(groups), "pass for example 2"
            )
        if groups > self.items:
            raise InvalidInput(
                f"there cannot be more groups than the {self.items} items", groups, "plant fewer"
            )
        if groups > 2 and self.balance != 0.5:
            raise InvalidInput(
                "balance is for two groups; more have equal sizes", self.balance, "leave it out"
            )
        if 2**self.useful < groups:
            raise InvalidInput(
                f"{groups} groups need at least {math.ceil(math.log2(groups))} useful questions,"
                " so that every two of them differ on one",
                self.useful,
                "plant more useful questions, or fewer groups",
            )

    @property
    def second_group(self) -> int:
        """The number of items in the second group, rounded so that neither group is empty."""
        return min(max(round(self.items * self.balance), 1), self.items - 1)

    @property
    def width(self) -> float:
        """The width of the answers, in their units: a scale goes from 0 to 4."""
        return 4.0 if self.noise == "scale" else 1.0

    @property
    def ordered_gaps(self) -> Floats:
        """The gap of every question, the best first."""
        gaps = np.zeros(self.questions)
        gaps[: self.useful] = self.gap / np.arange(1, self.useful + 1) ** self.decay
        return gaps

    def draw(self, seed: np.random.SeedSequence) -> World:
        """Draw a world: shuffle the items, and put the useful questions at random places."""
        for_world, for_answers = seed.spawn(2)
        rng = np.random.default_rng(for_world)
        planted = rng.permutation(self._planted)
        places = rng.permutation(self.questions)
        levels = np.zeros((self.groups, self.questions))  # 0 on the low side, 1 on the high side
        levels[:, places[: self.useful]] = self._sides(rng)
        gaps = np.zeros(self.questions)
        gaps[places] = self.ordered_gaps
        means = self._means(levels, gaps, planted, rng)
        oracle = self._oracle(means, np.random.default_rng(for_answers))
        # As methods number their groups, so that labels can be compared.
        labels = renumbered(planted)
        named = np.zeros(self.groups, dtype=np.int64)
        named[labels] = planted  # from the number of a label to the number that was planted
        return World(oracle, labels, _Truth(means), self._levels(levels, gaps)[named])

    def group_means(self, rng: np.random.Generator) -> Floats:
        """Every group's mean on the useful questions, best first, in one random world.

        The shape is groups x useful questions; bounded answers are rescaled to [0, 1].
        """
        gaps, sides = self.ordered_gaps[: self.useful], self._sides(rng)
        return sides * gaps if self.noise == "gaussian" else 0.5 + (2 * sides - 1) * (gaps / 2)

    @property
    def _planted(self) -> Ints:
        """The group of every item before items are shuffled."""
        if self.groups == 2:
            return (np.arange(self.items) < self.second_group).astype(np.int64)
        return np.arange(self.items) % self.groups

    def _sides(self, rng: np.random.Generator) -> Floats:
        """1 where a group is on the high side of a useful question (groups x useful questions)."""
        if self.groups == 2:
            return np.array([[0.0], [1.0]]).repeat(self.useful, axis=1)
        crowded = self.groups**2 > 2**self.useful
        while True:
            if crowded:  # few questions: start with groups that differ, or it would take too long
                codes = rng.choice(2**self.useful, self.groups, replace=False)
                sides = (codes[:, np.newaxis] >> np.arange(self.useful)) % 2
            else:
                sides = rng.integers(0, 2, (self.groups, self.useful))
                while (alike := sides.min(axis=0) == sides.max(axis=0)).any():
                    sides[:, alike] = rng.integers(0, 2, (self.groups, int(alike.sum())))
            split = (sides.min(axis=0) < sides.max(axis=0)).all()
            if split and len(np.unique(sides, axis=0)) == self.groups:
                return sides.astype(np.float64)

    def _means(
        self, levels: Floats, gaps: Floats, planted: Ints, rng: np.random.Generator
    ) -> Means:
        rows = self._levels(levels, gaps)
        if self.spread == 0:
            return Means(rows, planted)
        # Only where the groups differ: a spread on the other questions would be a split of its own.
        useful = np.flatnonzero(gaps)
        own = rng.standard_normal((self.items, len(useful)))
        own *= self.width * self.spread * self.gap
        own += rows[:, useful][planted]
        if self.noise != "gaussian":
            np.clip(own, 0.0, self.width, out=own)
        return _OwnMeans(rows, planted, useful, own)

    def _levels(self, sides: Floats, gaps: Floats) -> Floats:
        """The groups' mean answers, without the spread of items."""
        if self.noise == "gaussian":
            return np.asarray(sides * gaps)
        return np.asarray(self.width * (0.5 + (2 * sides - 1) * (gaps / 2)))

    def _oracle(self, means: Means, rng: np.random.Generator) -> Oracle:
        if self.noise == "gaussian":
            return GaussianOracle(means, self.sigma, rng)
        if self.noise == "yes-no":
            return BernoulliOracle(means, rng)
        return ScaleOracle(means, Scale(0, 4), rng)

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return asdict(self)

    def __str__(self) -> str:
        gaps = f"gap {self.gap:g}" + (f" / j^{self.decay:g}" if self.decay else "")
        sigma = f" (sigma {self.sigma:g})" if self.noise == "gaussian" else ""
        groups = f"balance {self.balance:g}" if self.groups == 2 else f"{self.groups} groups"
        spread = f", spread {self.spread:g}" if self.spread else ""
        return (
            f"{self.items} items, {self.questions} questions, {self.useful} useful, {gaps},"
            f" {self.noise} answers{sigma}, {groups}{spread}"
        )


class _OwnMeans(Means):
    """Means of items that differ from their group on some questions, without a full matrix."""

    def __init__(self, rows: Floats, labels: Ints, questions: Ints, own: Floats) -> None:
        super().__init__(rows, labels)
        self._column = np.full(rows.shape[1], -1)
        self._column[questions] = np.arange(len(questions))
        self._own = own

    def of(self, batch: Batch) -> Floats:
        """The mean of each row's cell."""
        means, column = super().of(batch), self._column[batch.questions]
        differs = column >= 0
        means[differs] = self._own[batch.items[differs], column[differs]]
        return means


@dataclass(frozen=True, eq=False)
class _Truth:
    """The true means of some questions, computed when a referee asks for them."""

    means: Means

    def __call__(self, questions: Ints) -> Floats:
        items = self.means.shape[0]
        every, asked = np.repeat(np.arange(items), len(questions)), np.tile(questions, items)
        cells = self.means.of(Batch(every, asked, np.ones_like(every)))
        return cells.reshape(items, len(questions))


@dataclass(frozen=True)
class CustomWorlds:
    """The worlds that ``function(rng)`` draws: a World, or (oracle, the true group of every item).

    The method "rule" is judged by the true means, so it needs a World that knows its ``means``.
    """

    name: str
    function: Callable[[np.random.Generator], Any]

    @classmethod
    def named(cls, name: str) -> CustomWorlds:
        """Find the function by module:function, or by an entry point of askfew.oracles."""
        found = find("askfew.oracles", name)
        if found is None:
            known = ", ".join(installed("askfew.oracles")) or "none"
            raise InvalidInput(
                f"an oracle must be written module:function, or be an installed one ({known})",
                repr(name),
                "write for example crowd:draw",
            )
        try:
            inspect.signature(found).bind("rng")
        except (TypeError, ValueError):  # another number of arguments, or nobody knows how many
            raise InvalidInput(
                f"{name} must be a function of one argument, the random generator",
                repr(found)[:100],
                "write 'def draw(rng)'",
            ) from None
        return cls(name, found)

    def draw(self, seed: np.random.SeedSequence) -> World:
        """Draw the world of this seed."""
        drawn = self.function(np.random.default_rng(seed))
        if not isinstance(drawn, World):
            try:
                oracle, labels = drawn
            except (TypeError, ValueError):
                raise InvalidInput(
                    f"{self.name}(rng) must return (oracle, labels)",
                    type(drawn).__name__,
                    "return who answers, and the true group of every item",
                ) from None
            _, group = np.unique(labels, return_inverse=True)  # labels may be names
            drawn = World(oracle, renumbered(group.ravel()))
        problem = getattr(drawn.oracle, "problem", None)
        if not callable(drawn.oracle) or not isinstance(problem, Problem):
            raise InvalidInput(
                f"the oracle of {self.name} must be callable with a Batch and have a problem",
                repr(drawn.oracle)[:100],
                "return for example askfew.oracles.function(ask, askfew.Problem(items, questions))",
            )
        if drawn.labels.shape != (problem.items,):
            raise InvalidInput(
                f"{self.name}(rng) must return one group for each of {problem.items} items",
                f"labels of shape {drawn.labels.shape}",
                "fix the labels",
            )
        return drawn

    def to_dict(self) -> dict[str, object]:
        """As JSON-ready values."""
        return {"oracle": self.name}

    def __str__(self) -> str:
        return f"worlds of {self.name}"
