"""Latent classes: which items probably belong together, and how probable that is.

The model: an item belongs to one of K classes, and its answers to different questions are
independent given the class. It is fitted by EM (Dempster, Laird and Rubin 1977) from spectral
starts. Real items of a class differ, so a second answer to the same cell is worth less than an
answer to another question: n answers to one cell weigh ``n / (1 + DISCOUNT (n - 1))``.

``levels`` are the mean answers of the classes (classes x questions). Everything here is an
estimate; nothing certified rests on it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askfew.answers import AnswerKind, Number
from askfew.records import Floats, Ints

__all__ = [
    "DISCOUNT",
    "EDGE",
    "CellMeans",
    "Classes",
    "agreement",
    "fit",
    "log_likelihood",
    "log_likelihood_by_question",
    "normalised",
    "predicted",
]

DISCOUNT = 0.3
"""The correlation that is presumed among answers to one cell: the value of the first experiments on
the real tables of benchmarks/rule.md; not tuned since."""
EDGE = 0.02
"""Levels stay this far from the ends of a scale, so that no single answer rules a class out. Set
with the first experiments of benchmarks/rule.md; not tuned since."""
_PRIOR = 1.0
"""Answers at a question's overall mean that are added to each class: one, as Laplace would."""
_CLAMPED_PRIOR = 0.7
"""The same where some items' classes are known and need less help. Not tuned."""
_ITERATIONS = 60
_CONVERGED = 1e-6
"""EM stops at this relative gain in likelihood, or after ``_ITERATIONS``. Round numbers, not
tuned."""


@dataclass(frozen=True, eq=False)
class CellMeans:
    """The mean answer of some items (rows) to some questions (columns), on the scale 0 to 1.

    Numbers keep their own scale. ``weights`` are counts of answers with repeats discounted;
    ``means`` are 0 where there is no answer.
    """

    weights: Floats
    means: Floats
    sigma: float | None
    """The noise of numbers; None for answers between 0 and 1."""

    @classmethod
    def of(
        cls, kind: AnswerKind, counts: Ints | Floats, sums: Floats, discount: float = DISCOUNT
    ) -> CellMeans:
        """From counts and sums of answers in the user's units."""
        counts = np.asarray(counts, dtype=np.float64)
        means = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
        weights = counts / (1 + discount * np.maximum(counts - 1, 0))
        if isinstance(kind, Number):
            return cls(weights, means, kind.sigma)
        scaled = np.where(counts > 0, (means - kind.low) / (kind.high - kind.low), 0.0)
        return cls(weights, scaled, None)

    def rows(self, chosen: Ints) -> CellMeans:
        """Only some of the items."""
        return CellMeans(self.weights[chosen], self.means[chosen], self.sigma)

    def columns(self, chosen: Ints) -> CellMeans:
        """Only some of the questions."""
        return CellMeans(self.weights[:, chosen], self.means[:, chosen], self.sigma)

    @property
    def overall(self) -> Floats:
        """The mean of each question."""
        total = (self.weights * self.means).sum(axis=0)
        return np.asarray(total / np.maximum(self.weights.sum(axis=0), 1e-9))


@dataclass(frozen=True, eq=False)
class Classes:
    """A fitted model: the mean answers of each class (classes x questions), and its size."""

    levels: Floats
    shares: Floats
    """The part of the items that is in each class."""
    variances: Floats | None
    """The variance of numbers on each question; None for bounded answers."""
    posterior: Floats
    """The probability of each class for the items it was fitted to (items x classes)."""
    likelihood: float

    def log_odds(self, answered: CellMeans) -> Floats:
        """Log probability of each item's answers and class, up to a constant (items x classes)."""
        return log_likelihood(answered, self.levels, self.variances) + np.log(self.shares)

    def probabilities(self, answered: CellMeans) -> Floats:
        """The probability of every class, also for items that the model was not fitted to."""
        return normalised(self.log_odds(answered))


def fit(
    answered: CellMeans,
    classes: int,
    rng: np.random.Generator,
    *,
    starts: int = 15,
    known: Ints | None = None,
) -> Classes:
    """The likeliest model of several starts; ``known`` fixes items' classes (-1: not known).

    >>> counts = np.ones((6, 4), dtype=int)
    >>> sums = np.array([[1, 1, 1, 0], [1, 1, 1, 1], [1, 1, 0, 1], [0, 0, 0, 1], [0, 0, 1, 0],
    ...                  [0, 0, 0, 0]], dtype=float)
    >>> from askfew.answers import YesNo
    >>> model = fit(CellMeans.of(YesNo(), counts, sums), 2, np.random.default_rng(0))
    >>> first, *_, last = model.posterior.argmax(axis=1)
    >>> bool(first != last)
    True
    """
    if known is None:
        begin = _spectral_starts(answered, classes, rng, starts)
        return _em(answered, begin, _PRIOR, None)
    # One start is enough: the known items say where the classes are. The others begin with next
    # to no weight, so that the first levels are those of the known items.
    begin = np.full((1, len(known), classes), 1e-6)
    begin[0, known >= 0] = np.eye(classes)[known[known >= 0]]
    return _em(answered, begin, _CLAMPED_PRIOR, known)


def _em(answered: CellMeans, begin: Floats, prior: float, known: Ints | None) -> Classes:
    """EM from several starts at once (starts x items x classes); the likeliest end wins."""
    weights, means = answered.weights, answered.means
    weighted = weights * means
    overall = answered.overall
    clamped = None if known is None else np.flatnonzero(known >= 0)
    classes = begin.shape[2]
    posterior = begin
    before = np.full(len(begin), -np.inf)
    for turn in range(_ITERATIONS):
        # M step: shares and levels, each with its prior, so that an empty class stays defined.
        members = posterior.sum(axis=1)
        shares = (members + 1) / (members.sum(axis=1, keepdims=True) + classes)
        turned = posterior.transpose(0, 2, 1)
        levels = (turned @ weighted + prior * overall) / (turned @ weights + prior)
        if answered.sigma is None:
            levels = np.clip(levels, EDGE, 1 - EDGE)
            variances = None
        else:
            variances = _variances(answered, posterior, levels)
        # E step, in logs and from the highest, so that long products do not underflow.
        odds = log_likelihood(answered, levels, variances) + np.log(shares)[:, np.newaxis]
        highest = odds.max(axis=2, keepdims=True)
        raised = np.exp(odds - highest)
        total = raised.sum(axis=2, keepdims=True)
        likelihood = (highest[..., 0] + np.log(total[..., 0])).sum(axis=1)
        if variances is not None:
            # All classes share it, so only starts are told apart by it: a wrong one is wider.
            likelihood = likelihood - np.log(variances) @ weights.sum(axis=0) / 2
        posterior = raised / total
        if clamped is not None and known is not None:
            posterior[:, clamped] = np.eye(classes)[known[clamped]]
        settled = likelihood - before < _CONVERGED * np.abs(likelihood)
        # The first turns gain little from a soft start, and are no sign of convergence.
        if turn > 5 and settled.all():
            break
        before = likelihood
    best = int(np.argmax(likelihood))
    return Classes(
        levels[best],
        shares[best],
        None if variances is None else variances[best],
        posterior[best],
        float(likelihood[best]),
    )


def log_likelihood(answered: CellMeans, levels: Floats, variances: Floats | None) -> Floats:
    """The log likelihood of each item's answers under each class (... x items x classes).

    ``levels`` are ... x classes x questions. For numbers the part that all classes share, half the
    log variance of each answer, is left out.
    """
    weights, means = answered.weights, answered.means
    if variances is None:
        yes = weights * means
        return np.asarray(
            yes @ np.log(levels).swapaxes(-1, -2)
            + (weights - yes) @ np.log1p(-levels).swapaxes(-1, -2)
        )
    # sum w (x - m)^2 / 2v, multiplied out so that no items x classes x questions array is made.
    # All is taken from the overall mean, so that large numbers do not cancel.
    centre = answered.overall
    means, levels = np.where(weights > 0, means - centre, 0.0), levels - centre
    inverse = 1 / (2 * variances)[..., np.newaxis, :]
    square = (weights * means**2) @ (np.ones_like(levels) * inverse).swapaxes(-1, -2)
    cross = (weights * means) @ (2 * levels * inverse).swapaxes(-1, -2)
    return np.asarray(cross - square - weights @ (levels**2 * inverse).swapaxes(-1, -2))


def _variances(answered: CellMeans, posterior: Floats, levels: Floats) -> Floats:
    """The variance of numbers around their class's level (starts x questions)."""
    assert answered.sigma is not None
    weights, centre = answered.weights, answered.overall
    means, levels = np.where(weights > 0, answered.means - centre, 0.0), levels - centre
    turned = posterior.transpose(0, 2, 1)
    square = turned @ (weights * means**2) - 2 * levels * (turned @ (weights * means))
    square = (square + levels**2 * (turned @ weights)).sum(axis=1)
    total = (turned @ weights).sum(axis=1)
    # Never below half of the noise: a class of one item would otherwise shrink to a point.
    return np.asarray(np.maximum(square / np.maximum(total, 1e-9), answered.sigma**2 / 2))


def _spectral_starts(
    answered: CellMeans, classes: int, rng: np.random.Generator, starts: int
) -> Floats:
    """Soft memberships by k-means, started as k-means++, on the leading singular vectors."""
    centred = np.where(answered.weights > 0, answered.means - answered.overall, 0.0)
    if answered.sigma is not None:
        spread = (answered.weights * centred**2).sum(axis=0)
        spread = spread / np.maximum(answered.weights.sum(axis=0), 1e-9)
        centred = centred / np.sqrt(np.maximum(spread, 1e-9))
    left, size, _ = np.linalg.svd(centred, full_matrices=False)
    kept = max(classes, 2)
    scores = left[:, :kept] * size[:kept]
    return np.stack([_soft_kmeans(scores, classes, rng) for _ in range(starts)])


def _soft_kmeans(scores: Floats, classes: int, rng: np.random.Generator) -> Floats:
    n = len(scores)
    centres = scores[rng.integers(n)][np.newaxis]
    while len(centres) < classes:
        far = _distances(scores, centres).min(axis=1)
        chance = far / far.sum() if far.sum() > 0 else None
        centres = np.vstack([centres, scores[rng.choice(n, p=chance)]])
    for _ in range(8):
        nearest = _distances(scores, centres).argmin(axis=1)
        for group in range(classes):
            inside = nearest == group
            centres[group] = (
                scores[inside].mean(axis=0) if inside.any() else scores[rng.integers(n)]
            )
    # Soft, so that EM can still move an item that k-means put into the wrong class.
    return np.asarray(np.eye(classes)[nearest] * 0.9 + 0.1 / classes)


def _distances(scores: Floats, centres: Floats) -> Floats:
    return np.asarray(((scores[:, np.newaxis] - centres) ** 2).sum(axis=2))


def normalised(odds: Floats) -> Floats:
    """Probabilities of the classes (last axis) from their log odds."""
    raised = np.exp(odds - odds.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def predicted(answered: CellMeans, model: Classes) -> float:
    """Log probability of each answer given the item's other answers, added up.

    On items that the model was not fitted to this is a cross-validated score of the number of
    classes.
    """
    one = log_likelihood_by_question(answered, model.levels, model.variances)
    rest = one.sum(axis=1, keepdims=True) - one + np.log(model.shares)
    total = float(np.log((normalised(rest) * np.exp(one)).sum(axis=2)).sum())
    if model.variances is None:
        return total
    return total - float(answered.weights.sum(axis=0) @ np.log(model.variances)) / 2


def log_likelihood_by_question(
    answered: CellMeans, levels: Floats, variances: Floats | None
) -> Floats:
    """The log likelihood of each cell under each class (items x questions x classes).

    As in ``log_likelihood``, without the part that all classes share.
    """
    weights, means = answered.weights[..., np.newaxis], answered.means[..., np.newaxis]
    if variances is None:
        return np.asarray(weights * (means * np.log(levels.T) + (1 - means) * np.log1p(-levels.T)))
    return np.asarray(-weights * (means - levels.T) ** 2 / (2 * variances[:, np.newaxis]))


def agreement(one: Ints, other: Ints) -> float:
    """Adjusted Rand index of two labellings: 1 for the same groups, 0 for what chance gives.

    >>> agreement(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    1.0
    """
    table = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(table, (one, other), 1)
    together, rows, columns, total = (
        (x * (x - 1) / 2).sum()
        for x in (table, table.sum(axis=1), table.sum(axis=0), np.array([len(one)]))
    )
    chance = rows * columns / max(total, 1)
    most = (rows + columns) / 2
    return float((together - chance) / (most - chance)) if most > chance else 1.0
