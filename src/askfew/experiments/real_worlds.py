"""Worlds made of real data: tables in scikit-learn, and the user's own files.

A table of attributes gives the mean answer of each cell, and a crowd that says yes with that
probability is simulated. Recorded answers are drawn without replacement.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from askfew import oracles
from askfew.errors import InvalidInput, MissingExtra
from askfew.records import Floats, Ints, renumbered
from askfew.simulation import World

__all__ = ["RealWorld", "packaged_worlds", "worlds_in"]

_NOISE = 0.1
"""The chance of a wrong answer about an attribute that is clearly present or absent. A plain
choice."""
_TEN_DIGITS = 300
"""Items of the world of ten digits. A plain choice: all 1797 would take most of the time."""
_PIXELS = 20
"""Questions of the world with few pixels. A plain choice: the pixels with the largest variance."""
_NEEDED = {"attributes": {"y", "means"}, "answers": {"y", "item", "question", "answer"}}
"""The arrays that a file must hold."""


@dataclass(frozen=True, eq=False)
class RealWorld:
    """The items and questions of a table, the classes that a user wants, and the answers."""

    name: str
    means: Floats
    """The true mean answer of every cell (items x questions), between 0 and 1."""
    classes: Ints
    """The class of every item, numbered in the order of their first items."""
    recorded: tuple[tuple[tuple[float, ...], ...], ...] | None = None
    """The recorded answers of every cell, if there are any."""

    @property
    def groups(self) -> int:
        """How many classes there are."""
        return int(self.classes.max()) + 1

    @property
    def per_cell(self) -> int | None:
        """The fewest answers that a cell has; None if answers are simulated."""
        if self.recorded is None:
            return None
        return min(len(cell) for row in self.recorded for cell in row)

    def draw(self, seed: np.random.SeedSequence) -> World:
        """The same world for every seed, but with other answers."""
        rng = np.random.default_rng(seed)
        oracle = (
            oracles.bernoulli(self.means, rng=rng)
            if self.recorded is None
            else oracles.table(self.recorded, rng=rng)
        )
        return World(oracle, self.classes, self._looked_up)

    def _looked_up(self, questions: Ints) -> Floats:
        return np.asarray(self.means[:, questions])


def packaged_worlds() -> Iterator[RealWorld]:
    """Digits by their pixels, tumours by 30 measures, wines by 13: all inside scikit-learn."""
    try:
        from sklearn import datasets
    except ImportError as error:
        raise MissingExtra(
            "the suite real has its tables from scikit-learn",
            "no such package",
            "pip install 'askfew[baselines]'",
        ) from error
    digits = datasets.load_digits()
    ink, digit = digits.data / 16, digits.target  # "is this pixel dark?": the darker, the surer
    two = digit < 2
    yield _world("digits 0/1, 64 pixels", ink[two], digit[two])
    strongest = np.sort(np.argsort(-ink[two].var(axis=0), kind="stable")[:_PIXELS])
    yield _world("digits 0/1, 20 pixels", ink[two][:, strongest], digit[two])
    some = np.sort(np.random.default_rng(0).permutation(len(ink))[:_TEN_DIGITS])
    yield _world("digits 0..9, 64 pixels", ink[some], digit[some])
    cancer, wine = datasets.load_breast_cancer(), datasets.load_wine()
    yield _world("breast cancer, 30 measures", _asked(_ranged(cancer.data)), cancer.target)
    yield _world("wine, 13 measures", _asked(_ranged(wine.data)), wine.target)


def worlds_in(folder: Path) -> Iterator[RealWorld]:
    """One world for every file NAME.npz; two where people answered one question.

    A file holds ``means`` (items x questions, from 0 to 1), or recorded answers as columns
    ``item``, ``question``, ``answer`` and maybe ``worker``; and ``y``, every item's class.
    """
    paths = sorted(folder.glob("*.npz"))
    if not paths:
        raise InvalidInput(
            "--data must be a folder of tables NAME.npz", str(folder), "name another folder"
        )
    for path in paths:
        with np.load(path) as table:
            columns = {name: table[name] for name in table.files}
        if not any(_NEEDED[kind] <= columns.keys() for kind in _NEEDED):
            raise InvalidInput(
                f"{path.name} must hold y and means, or y, item, question and answer",
                ", ".join(columns),
                "see docs/experiments.md",
            )
        if "means" in columns:
            known = columns["y"] >= 0
            yield _world(path.stem, _asked(columns["means"][known]), columns["y"][known])
            continue
        yield _recorded(path.stem, columns, columns["question"])
        if "worker" in columns and not columns["question"].any():
            yield _recorded(f"{path.stem}, person by person", columns, columns["worker"])


def _world(name: str, means: Floats, classes: Ints) -> RealWorld:
    return RealWorld(name, np.asarray(means), renumbered(classes.astype(np.int64)))


def _asked(means: Floats) -> Floats:
    return np.asarray(_NOISE + (1 - 2 * _NOISE) * means)


def _ranged(values: Floats) -> Floats:
    """Scale every measure so that its 5 % quantile is 0 and its 95 % quantile is 1."""
    low, high = np.quantile(values, [0.05, 0.95], axis=0)
    return np.asarray(np.clip((values - low) / (high - low), 0, 1))


def _recorded(name: str, columns: dict[str, Ints], question: Ints) -> RealWorld:
    classes = columns["y"].astype(np.int64)
    cells: list[list[list[float]]] = [
        [[] for _ in range(int(question.max()) + 1)] for _ in range(len(classes))
    ]
    for item, asked, answer in zip(columns["item"], question, columns["answer"], strict=True):
        cells[item][asked].append(float(answer))
    whole = tuple(tuple(tuple(cell) for cell in row) for row in cells)
    means = np.array([[np.mean(cell) for cell in row] for row in whole])
    return RealWorld(name, means, renumbered(classes), whole)
