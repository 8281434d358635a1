"""Latent classes: which items probably belong together, and how probable that is.

The model: an item belongs to one of K classes, and its answers to different questions are
independent given the class. It is fitted by EM (Dempster, Laird and Rubin 1977) from spectral
starts. Real items of a class differ, so a second answer to the same cell is worth less than an
answer to another question: n answers to one cell weigh ``n / (1 + DISCOUNT (n - 1))``.

Everything here is an estimate. Nothing certified rests on it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askfew.answers import AnswerKind, Number
from askfew.records import Floats, Ints

__all__ = ["Answered", "Classes", "Separation", "agreement", "fit", "predicted", "separation"]

DISCOUNT = 0.3
"""Of a repeat: what the first experiments on real tables used; not tuned since."""
_ITERATIONS = 60
_EDGE = 0.02
"""A class is never sure of an answer: levels stay this far from the ends of a scale."""
_PRIOR = 1.0
"""Answers that each class is lent at the overall mean of a question."""
_CLAMPED_PRIOR = 0.7
"""The same where some items' classes are known: they need less help."""
_CONVERGED = 1e-6


@dataclass(frozen=True, eq=False)
class Answered:
    """What some items (rows) answered to some questions (columns), on the scale 0 to 1.

    Numbers keep their own scale. ``weights`` are answers, repeats discounted; ``means`` are 0 where
    there is none.
    """

    weights: Floats
    means: Floats
    sigma: float | None
    """The noise of numbers; None for answers between 0 and 1."""

    @classmethod
    def of(
        cls, kind: AnswerKind, counts: Ints | Floats, sums: Floats, discount: float = DISCOUNT
    ) -> Answered:
        """From counts and sums of answers in the user's units."""
        counts = np.asarray(counts, dtype=np.float64)
        means = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
        weights = counts / (1 + discount * np.maximum(counts - 1, 0))
        if isinstance(kind, Number):
            return cls(weights, means, kind.sigma)
        scaled = np.where(counts > 0, (means - kind.low) / (kind.high - kind.low), 0.0)
        return cls(weights, scaled, None)

    def rows(self, chosen: Ints) -> Answered:
        """Only some of the items."""
        return Answered(self.weights[chosen], self.means[chosen], self.sigma)

    def columns(self, chosen: Ints) -> Answered:
        """Only some of the questions."""
        return Answered(self.weights[:, chosen], self.means[:, chosen], self.sigma)

    @property
    def overall(self) -> Floats:
        """The mean of each question."""
        total = (self.weights * self.means).sum(axis=0)
        return np.asarray(total / np.maximum(self.weights.sum(axis=0), 1e-9))


@dataclass(frozen=True, eq=False)
class Classes:
    """A fitted model: what each class answers (classes x questions), and how large it is."""

    levels: Floats
    shares: Floats
    variances: Floats | None
    """Of numbers, question by question."""
    posterior: Floats
    """Of the items it was fitted to (items x classes)."""
    likelihood: float

    def log_odds(self, answered: Answered) -> Floats:
        """Log probability of each item's answers under each class, and of the class, unscaled."""
        return log_likelihood(answered, self.levels, self.variances) + np.log(self.shares)

    def probabilities(self, answered: Answered) -> Floats:
        """Of every class, for items that need not be those it was fitted to."""
        return _normalised(self.log_odds(answered))


def fit(
    answered: Answered,
    classes: int,
    rng: np.random.Generator,
    *,
    starts: int = 15,
    known: Ints | None = None,
) -> Classes:
    """The likeliest model of several starts; ``known`` clamps items to classes (-1: unknown).

    >>> counts = np.ones((6, 4), dtype=int)
    >>> sums = np.array([[1, 1, 1, 0], [1, 1, 1, 1], [1, 1, 0, 1], [0, 0, 0, 1], [0, 0, 1, 0],
    ...                  [0, 0, 0, 0]], dtype=float)
    >>> from askfew.answers import YesNo
    >>> model = fit(Answered.of(YesNo(), counts, sums), 2, np.random.default_rng(0))
    >>> first, *_, last = model.posterior.argmax(axis=1)
    >>> bool(first != last)
    True
    """
    if known is None:
        begin = _spectral_starts(answered, classes, rng, starts)
        return _em(answered, begin, _PRIOR, None)
    begin = np.full((1, len(known), classes), 1e-6)
    begin[0, known >= 0] = np.eye(classes)[known[known >= 0]]
    return _em(answered, begin, _CLAMPED_PRIOR, known)


def _em(answered: Answered, begin: Floats, prior: float, known: Ints | None) -> Classes:
    """EM from several starts at once (starts x items x classes); the likeliest end wins."""
    weights, means = answered.weights, answered.means
    weighted = weights * means
    overall = answered.overall
    clamped = None if known is None else np.flatnonzero(known >= 0)
    classes = begin.shape[2]
    posterior = begin
    before = np.full(len(begin), -np.inf)
    for turn in range(_ITERATIONS):
        members = posterior.sum(axis=1)
        shares = (members + 1) / (members.sum(axis=1, keepdims=True) + classes)
        turned = posterior.transpose(0, 2, 1)
        levels = (turned @ weighted + prior * overall) / (turned @ weights + prior)
        if answered.sigma is None:
            levels = np.clip(levels, _EDGE, 1 - _EDGE)
            variances = None
        else:
            variances = _variances(answered, posterior, levels)
        odds = log_likelihood(answered, levels, variances) + np.log(shares)[:, np.newaxis]
        highest = odds.max(axis=2, keepdims=True)
        raised = np.exp(odds - highest)
        total = raised.sum(axis=2, keepdims=True)
        likelihood = (highest[..., 0] + np.log(total[..., 0])).sum(axis=1)
        posterior = raised / total
        if clamped is not None and known is not None:
            posterior[:, clamped] = np.eye(classes)[known[clamped]]
        settled = likelihood - before < _CONVERGED * np.abs(likelihood)
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


def log_likelihood(answered: Answered, levels: Floats, variances: Floats | None) -> Floats:
    """Of each item's answers under each class (... x items x classes), for levels (... x classes x
    questions).
    """
    weights, means = answered.weights, answered.means
    if variances is None:
        yes = weights * means
        return np.asarray(
            yes @ np.log(levels).swapaxes(-1, -2)
            + (weights - yes) @ np.log1p(-levels).swapaxes(-1, -2)
        )
    # sum w (x - m)^2 / 2v, multiplied out so that no items x classes x questions array is made;
    # taken from the overall mean, so that large numbers do not cancel.
    centre = answered.overall
    means, levels = np.where(weights > 0, means - centre, 0.0), levels - centre
    inverse = 1 / (2 * variances)[..., np.newaxis, :]
    square = (weights * means**2) @ (np.ones_like(levels) * inverse).swapaxes(-1, -2)
    cross = (weights * means) @ (2 * levels * inverse).swapaxes(-1, -2)
    return np.asarray(cross - square - weights @ (levels**2 * inverse).swapaxes(-1, -2))


def _variances(answered: Answered, posterior: Floats, levels: Floats) -> Floats:
    """Spread of numbers around their class's level, question by question (starts x questions)."""
    assert answered.sigma is not None
    weights, centre = answered.weights, answered.overall
    means, levels = np.where(weights > 0, answered.means - centre, 0.0), levels - centre
    turned = posterior.transpose(0, 2, 1)
    square = turned @ (weights * means**2) - 2 * levels * (turned @ (weights * means))
    square = (square + levels**2 * (turned @ weights)).sum(axis=1)
    total = (turned @ weights).sum(axis=1)
    return np.asarray(np.maximum(square / np.maximum(total, 1e-9), answered.sigma**2 / 2))


def _spectral_starts(
    answered: Answered, classes: int, rng: np.random.Generator, starts: int
) -> Floats:
    """Soft memberships from k-means++ on the leading singular vectors."""
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
    return np.asarray(np.eye(classes)[nearest] * 0.9 + 0.1 / classes)


def _distances(scores: Floats, centres: Floats) -> Floats:
    return np.asarray(((scores[:, np.newaxis] - centres) ** 2).sum(axis=2))


def _normalised(odds: Floats) -> Floats:
    raised = np.exp(odds - odds.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Separation:
    """How far classes lie apart on each question, measured honestly.

    ``levels`` (classes x questions) come from assigning each item by all *other* questions, so that
    a question does not vote for itself; ``spread`` is the standard deviation of one answer within a
    class; ``errors`` (classes x classes x questions) are standard errors of a difference, in
    spreads.
    """

    levels: Floats
    spread: Floats
    errors: Floats
    members: Floats
    """Answers that each class's level rests on (classes x questions)."""

    @property
    def distances(self) -> Floats:
        """Of every pair of classes on every question, in spreads."""
        gap = np.abs(self.levels[:, np.newaxis] - self.levels)
        return np.asarray(gap / self.spread)


def predicted(answered: Answered, model: Classes) -> float:
    """Log probability of each answer given the item's other answers, added up.

    For items that the model was not fitted to it says how many classes are worth having.
    """
    one = _by_question(answered, model.levels, model.variances)
    rest = one.sum(axis=1, keepdims=True) - one + np.log(model.shares)
    return float(np.log((_normalised(rest) * np.exp(one)).sum(axis=2)).sum())


def separation(answered: Answered, model: Classes, known: Ints | None = None) -> Separation:
    """Honest levels and separations of a fitted model on the answers it was fitted to."""
    weights, means = answered.weights, answered.means
    one = _by_question(answered, model.levels, model.variances)
    rest = one.sum(axis=1, keepdims=True) - one + np.log(model.shares)
    others = _normalised(rest)
    if known is not None:
        others[known >= 0] = np.eye(len(model.shares))[known[known >= 0]][:, np.newaxis]
    share = others * weights[:, :, np.newaxis]
    members = share.sum(axis=0).T
    levels = (share * means[:, :, np.newaxis]).sum(axis=0).T / np.maximum(members, 1e-9)
    square = (share * (means[:, :, np.newaxis] - levels.T) ** 2).sum(axis=(0, 2))
    least = 0.17**2 if answered.sigma is None else 0.25 * answered.sigma**2
    spread = np.sqrt(np.maximum(square / np.maximum(members.sum(axis=0), 1e-9), least))
    inverse = 1 / np.maximum(members, 0.3)
    errors = np.sqrt(inverse[:, np.newaxis] + inverse)
    return Separation(levels, spread, errors, members)


def _by_question(answered: Answered, levels: Floats, variances: Floats | None) -> Floats:
    """Log likelihood question by question (items x questions x classes)."""
    weights, means = answered.weights[..., np.newaxis], answered.means[..., np.newaxis]
    if variances is None:
        return np.asarray(weights * (means * np.log(levels.T) + (1 - means) * np.log1p(-levels.T)))
    return np.asarray(-weights * (means - levels.T) ** 2 / (2 * variances[:, np.newaxis]))


def agreement(one: Ints, other: Ints) -> float:
    """Adjusted Rand index of two labellings: 1 the same groups, 0 what chance gives.

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
