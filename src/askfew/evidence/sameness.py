r"""Evidence that items of one group do not have the same mean on a question.

If all items of a group have the mean $p$ on a question, then for any guesses $p_z$ of the items'
own means the product, over all answers $y$ of all items $z$, of

$$\left(\frac{p_z}{p}\right)^{y} \left(\frac{1-p_z}{1-p}\right)^{1-y}$$

is an e-process: for answers between 0 and 1, weighted AM-GM bounds each factor by a function linear
in $y$ with mean 1 at $E y = p$, whatever was asked before and why. Any average over guesses is an
e-process, too. Dividing by the largest value over $p$ instead of the value at the true $p$ only
makes it smaller (universal inference: Wasserman, Ramdas and Balakrishnan 2020). We average over
guesses drawn by beta distributions of several means and strengths. The result depends only on each
cell's count and sum. So the order of the answers is not needed, and yet it holds under adaptive
sampling and whenever one stops: cells may be asked again because they looked odd, and asking may
end when the evidence suffices. For numbers, noise and guesses have normal distributions instead;
the guesses lie around the group's own mean, whose error (a fraction of sigma that falls with the
answers) is not counted.

With a tolerance w the null is that all means of the group lie within some interval of length w. The
largest value is then taken over intervals, and each item has the mean in the interval that fits it
best.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy

from askfew.answers import AnswerKind, Number
from askfew.records import Floats, Ints

__all__ = ["difference_evidence", "nats_of_a_split"]

_CHANCE = 0.01
"""The chance of a false alarm, over all questions and groups. A plain choice: one report in a
hundred may warn for nothing."""
_STRENGTHS = {1.0: 5, 4.0: 7, 12.0: 9, 40.0: 13, 150.0: 21}
"""Strengths of the beta distributions that a group's means may have, from unlike items to nearly
the same ones, and how many means are tried with each: fewer where the distribution is wide."""
_THIRDS = 60
"""Steps of the search for the interval that fits a group best: exact up to rounding."""
_SPREADS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 20.0)
"""Spreads that the means of a group may have where answers are numbers, in sigma. Like the
strengths a plain choice: any that are fixed beforehand are valid, and averaging over seven costs at
most log 7 nats."""


def nats_of_a_split(questions: int, groups: int) -> float:
    """Nats from which on a question is said to split a group, among so many of both."""
    return math.log(questions * groups / _CHANCE)


def difference_evidence(
    kind: AnswerKind, block: Ints, counts: Ints, sums: Floats, tolerance: float = 0.0
) -> Floats:
    """For each block of cells, the nats against "all means are the same".

    With a ``tolerance``, the nats against "no two means differ by more".

    >>> from askfew.answers import YesNo
    >>> evidence = difference_evidence(
    ...     YesNo(), np.array([0, 0, 1, 1]), np.full(4, 20), np.array([1.0, 19.0, 10.0, 10.0]))
    >>> evidence.round(1)
    array([13.3, -3.2])
    """
    if len(block) == 0:
        return np.zeros(0)
    if isinstance(kind, Number):
        return _numbers(kind.sigma, block, counts, sums, tolerance / kind.sigma)
    width = kind.high - kind.low
    share = np.clip((sums / counts - kind.low) / width, 0.0, 1.0)
    return _bounded(block, counts, counts * share, tolerance / width)


def _bounded(block: Ints, counts: Ints, sums: Floats, tolerance: float) -> Floats:
    # Cells of the same count and sum have the same evidence, which is computed once.
    shapes, shape = np.unique(counts + 1j * sums, return_inverse=True)
    c, y = shapes.real, shapes.imag
    total = np.bincount(block, counts)
    yes = np.bincount(block, sums)
    best = scipy.special.xlogy(yes, yes / total) + scipy.special.xlogy(
        total - yes, np.maximum(1 - yes / total, 1e-300)
    )
    if tolerance > 0:
        best = _within(block, sums / counts, tolerance, lambda p: _fit(counts, sums, p))
    guesses = []
    for strength, tried in _STRENGTHS.items():
        for mean in 1 / (1 + np.exp(-np.linspace(-5, 5, tried))):
            a, b = strength * mean, strength * (1 - mean)
            own = scipy.special.betaln(y + a, c - y + b) - scipy.special.betaln(a, b)
            guesses.append(np.bincount(block, own[shape], minlength=len(total)) - math.log(tried))
    return np.asarray(scipy.special.logsumexp(guesses, axis=0) - math.log(len(_STRENGTHS)) - best)


def _fit(counts: Ints, sums: Floats, p: Floats) -> Floats:
    """The log likelihood of each cell at its own mean."""
    inside = np.clip(p, 1e-300, 1 - 1e-16)
    return np.asarray(
        scipy.special.xlogy(sums, inside) + scipy.special.xlogy(counts - sums, 1 - inside)
    )


def _within(
    block: Ints, means: Floats, tolerance: float, fit: Callable[[Floats], Floats]
) -> Floats:
    """The largest fit of each block whose items' means lie in an interval of length ``tolerance``.

    ``fit`` is concave in an item's mean, so its largest value in the interval is concave in the
    interval's lower end: the search that drops a third each time finds it.
    """

    def best(low: Floats) -> Floats:
        own = np.clip(means, low[block], low[block] + tolerance)
        return np.asarray(np.bincount(block, fit(own)), dtype=np.float64)

    low = np.full(int(block.max()) + 1, float(means.min()) - tolerance)
    high = np.full(len(low), float(means.max()))
    for _ in range(_THIRDS):
        third = (high - low) / 3
        left = best(low + third) < best(high - third)
        low, high = np.where(left, low + third, low), np.where(left, high, high - third)
    return best((low + high) / 2)


def _numbers(sigma: float, block: Ints, counts: Ints, sums: Floats, tolerance: float) -> Floats:
    total = np.bincount(block, counts)
    middle = np.bincount(block, sums) / total
    means = (sums / counts - middle[block]) / sigma
    best = -np.bincount(block, counts * means**2) / 2
    if tolerance > 0:
        best = _within(block, means, tolerance, lambda p: -counts * (means - p) ** 2 / 2)
    best = best + np.bincount(block, np.log(counts)) / 2
    guesses = []
    for spread in _SPREADS:
        variance = spread**2 + 1 / counts
        weight = np.bincount(block, 1 / variance)
        centre = np.bincount(block, means / variance) / weight
        apart = np.bincount(block, (means - centre[block]) ** 2 / variance + np.log(variance))
        # The group's own mean is drawn around what was measured, as surely as one answer tells it.
        guesses.append(-(apart + np.log1p(weight) + centre**2 / (1 + 1 / weight)) / 2)
    return np.asarray(scipy.special.logsumexp(guesses, axis=0) - math.log(len(guesses)) - best)
