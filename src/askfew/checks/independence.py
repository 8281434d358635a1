"""Are repeated answers fresh draws, or the same answer given again?

A certificate counts every answer as new evidence. A judge who errs on the same cells (item,
question) every time repeats itself: its second answer to a cell is worth nothing.

The answers to one question about the items of one group are a *block*. Each answer is a bit (for
yes/no, itself; else above its block's mean or not), and two explanations of a block are compared:

- *copies*: each cell has one answer, which is yes in a share m of the cells. Repeats give the same
  answer again, except for slips of at most 2 %.
- *fresh*: each cell has a mean of its own, and repeats are drawn from it. The means come from a
  beta distribution around the block's mean, with at most half of the block's variance between
  cells. If the promise does not assume that items of a group are alike, there may also be two kinds
  of cells, one that says yes and one that says no, with errors of 5 % or more.

Each explanation gets the m (and for fresh the spread or errors) that fits each block best. The log
likelihoods are added up over blocks, and the answers are suspect if copies are ten times as likely.
A likelihood does not depend on when or why one stopped asking, so the test is fair to adaptive
methods too. A block tells by how much more repeats agree than items of one group do. If all items
of a block answer alike, both explanations fit and it says nothing, with a few slips or without.
Items that merely differ among themselves make repeats differ as well, so they raise no alarm.

Two things no test can see. If the means of all items are close to 0 or 1, a perfect crowd answers
as a judge who copies would. And if one judge alone decides the groups by one question, the groups
are what it said. If repeats hardly ever differ, this is said beside the labels (``quiet``).

The constants are plain choices. Together they name more than 98 % of the judges who err on the same
15 % of fifty cells, and less than 1 % of honest ones (tests/checks/test_independence.py).

>>> cells = [[0, 0]] * 17 + [[1, 1]] * 3
>>> verdict = judge_repeats([cells, cells])
>>> verdict.repeats, verdict.differ, round(verdict.usual, 2), verdict.suspect
(40, 0.0, 0.27, True)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from askfew.answers import AnswerKind, YesNo
from askfew.estimates.cells import CellSums
from askfew.records import Floats, Ints

__all__ = ["Repeats", "judge_cells", "judge_repeats"]

_SLIPS = (0.001, 0.003, 0.01, 0.02)
"""Shares of slips that copies may have. A judge who differs more often is worth asking again."""
_STRENGTHS = (1.0, 2.0, 5.0, 15.0, 60.0, 1e4)
"""Strengths of the beta distributions: 1 / (1 + strength) of the variance lies between cells."""
_ERRORS = (0.05, 0.1, 0.2)
"""Errors of two kinds of cells. They begin well above the slips, or the two would look the same."""
_SHARES = 1 / (1 + np.exp(-np.linspace(-6, 6, 33)))
"""The values of m that are tried, evenly in log odds."""
_NEEDED = math.log(10)
"""Nats from which on answers are suspect: copies are ten times as likely."""
_VARIED = 0.05
"""A group is called varied if answers about two of its items differ at least this often."""
_QUIET = 0.03
"""Repeats are quiet if they differ at most this often."""
_ENOUGH = 20
"""Least repeats for quiet ones to mean something."""
_STEPS = 32
"""Shares of bits within a cell are rounded to multiples of one over this, so that few different
cells are left to compute."""


@dataclass(frozen=True)
class Repeats:
    """How often repeated answers differ, beside answers about two items of one group.

    The comparison uses only questions on which the groups are varied.
    """

    repeats: int
    """Answers to a cell beyond its first."""
    differ: float
    """Share of pairs of answers to one cell that differ."""
    varied: int
    """Repeats on questions that items of one group answer differently."""
    varied_differ: float
    usual: float
    """Share of pairs of answers about two items of a group that differ there."""
    nats: float
    """How much likelier these are copies than fresh draws, as a logarithm."""

    @property
    def suspect(self) -> bool:
        """Whether repeats are copies; or items of a group differ as much as they can."""
        return self.nats >= _NEEDED

    @property
    def quiet(self) -> bool:
        """Whether repeats hardly ever differ, so that they could not show an error."""
        return self.repeats >= _ENOUGH and self.differ <= _QUIET


def judge_repeats(blocks: Iterable[Sequence[Sequence[float]]], *, alike: bool = True) -> Repeats:
    """The verdict over blocks; a block is a list of cells, a cell a list of answers.

    ``alike`` says whether items of a group are assumed to be alike.
    """
    number: list[int] = []
    count: list[int] = []
    ones: list[float] = []
    for place, block in enumerate(blocks):
        middle = np.mean([answer for cell in block for answer in cell])
        number += [place] * len(block)
        count += [len(cell) for cell in block]
        ones += [float((np.asarray(cell) > middle).sum()) for cell in block]
    columns = np.array(number, dtype=np.int64), np.array(count, float), np.array(ones, float)
    return _verdict(*columns, alike)


def judge_cells(kind: AnswerKind, cells: CellSums, groups: Ints, *, alike: bool) -> Repeats:
    """The verdict over cells whose items belong to these groups (-1: left out)."""
    kept = (groups >= 0) & (np.isfinite(cells.square) | (cells.count == 1))
    cells, groups = cells.where(kept), groups[kept]
    if len(cells) == 0:
        return Repeats(0, 0.0, 0, 0.0, 0.0, 0.0)
    _, block = np.unique(groups * (1 + cells.question.max()) + cells.question, return_inverse=True)
    return _verdict(block, cells.count.astype(np.float64), _ones(kind, cells, block), alike)


def _ones(kind: AnswerKind, cells: CellSums, block: Ints) -> Floats:
    """How many answers of each cell lie above their block's mean, as if they were normal."""
    if isinstance(kind, YesNo):
        return cells.sum
    middle = np.bincount(block, cells.sum) / np.bincount(block, cells.count)
    above = cells.mean - middle[block]
    spread = np.sqrt(np.maximum(cells.square / cells.count - cells.mean**2, 0.0))
    # If all answers are the same, rounding may leave a tiny spread.
    spread = np.where(spread > 1e-6 * np.abs(cells.mean), spread, 0.0)
    certain = (above > 0).astype(np.float64)
    return np.asarray(
        cells.count
        * np.where(
            spread > 0, scipy.special.ndtr(above / np.where(spread > 0, spread, 1.0)), certain
        )
    )


def _verdict(block: Ints, count: Floats, ones: Floats, alike: bool) -> Repeats:
    again = count > 1
    repeats = float((count[again] - 1).sum())
    if repeats == 0:
        return Repeats(0, 0.0, 0, 0.0, 0.0, 0.0)
    within = 2 * ones * (count - ones) / np.maximum(count * (count - 1), 1)  # of a pair in a cell
    differ = float((within * (count - 1))[again].sum() / repeats)
    usual = _usual(block, count, ones)
    seen = np.bincount(block[again], (count - 1)[again], minlength=len(usual))
    own = np.bincount(block[again], (within * (count - 1))[again], minlength=len(usual))
    varied = (usual >= _VARIED) & (seen > 0)
    weight = float(seen[varied].sum())
    return Repeats(
        int(repeats),
        differ,
        int(weight),
        float(own[varied].sum() / weight) if weight else 0.0,
        float((usual * seen)[varied].sum() / weight) if weight else 0.0,
        _log_odds(block, count, ones, alike),
    )


def _usual(block: Ints, count: Floats, ones: Floats) -> Floats:
    """By block: how often answers about two different items differ."""
    n, k = np.bincount(block, count), np.bincount(block, ones)
    # Pairs of answers that differ, all but those within one cell.
    apart = k * (n - k) - np.bincount(block, ones * (count - ones))
    pairs = (n**2 - np.bincount(block, count**2)) / 2
    return np.divide(apart, pairs, out=np.zeros_like(n), where=pairs > 0)


def _log_odds(block: Ints, count: Floats, ones: Floats, alike: bool) -> float:
    """How much likelier copies are than fresh draws, over all blocks."""
    whole = not (ones % 1).any()
    yes = np.rint(ones if whole else _STEPS * ones / count).astype(np.int64)
    most = int(yes.max()) + 1
    shapes, shape = np.unique(count.astype(np.int64) * most + yes, return_inverse=True)
    c, s = (each.astype(np.float64) for each in np.divmod(shapes, most))
    s = s if whole else c * s / _STEPS
    # How many cells of each shape each block has: few, so that all of this is small.
    keys, times = np.unique(block * len(c) + shape, return_counts=True)
    at, of = np.divmod(keys, len(c))

    def added(likelihood: Floats) -> Floats:
        """Shares x shapes, added up to shares x blocks."""
        total = np.zeros((len(likelihood), block.max() + 1))
        for row, each in enumerate(likelihood):
            total[row] = np.bincount(at, each[of] * times, minlength=total.shape[1])
        return total

    m = _SHARES[:, np.newaxis]

    def two_kinds(error: float) -> Floats:
        """Log likelihoods of blocks where some cells say yes and others no, but for errors."""
        right, wrong = math.log1p(-error), math.log(error)
        yes = np.log(m) + s * right + (c - s) * wrong
        no = np.log1p(-m) + (c - s) * right + s * wrong
        return np.asarray(added(np.logaddexp(yes, no)).max(axis=0))

    def drawn(k: float) -> Floats:
        """Log likelihoods of blocks whose cells' means have a beta distribution like this."""
        own = scipy.special.betaln(s + m * k, c - s + (1 - m) * k) - scipy.special.betaln(
            m * k, (1 - m) * k
        )
        return np.asarray(added(own).max(axis=0))

    unlike = () if alike else _ERRORS
    fresh = np.max([*map(drawn, _STRENGTHS), *map(two_kinds, unlike)], axis=0)
    return float(max((two_kinds(slip) - fresh).sum() for slip in _SLIPS))
