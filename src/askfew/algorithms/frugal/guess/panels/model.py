"""Latent classes of the answers under a cap: the group of each item, the levels of each group.

The numbers here and in ``panel`` were chosen on 30 to 40 worlds (seeds from 1000
on) of 60 items and 40 questions, yes/no, caps 1, 5, 12 and 40.
"""

from __future__ import annotations

import numpy as np

from askfew.algorithms.frugal.claim.ledger import Ledger
from askfew.answers import Number
from askfew.estimates.cells import Mask
from askfew.estimates.classes import CellMeans, fit, log_likelihood
from askfew.evidence import log_evidence
from askfew.records import Floats, Ints

__all__ = ["GroupModel"]

_PRIOR = 1.0
"""Answers at the overall mean that each group is lent on each question."""
DOUBT = 1.0
"""Standard errors by which a gap is reduced before judging whether it is enough."""
_LUCK = 10.0
"""Odds against a question that tells two groups apart, before anything is asked. Tried were 10 and
30."""
_KIND_LUCK = 3.0
"""The same for choosing what to ask, where too much hope costs little."""
_SAME = 0.85
"""A new model is the same split if this share of the items stay where they were."""
_RATIO = 3.0
"""References per answer that are assumed in computing what an answer is worth."""
_EDGE = 0.02
"""Levels on the scale 0 to 1 stay this far from its ends."""


class GroupModel:
    """Chances of groups by item, and levels of groups by question (on the scale 0 to 1)."""

    def __init__(self, ledger: Ledger, groups: int, root: int, fresh: float) -> None:
        self.ledger, self.groups, self._root = ledger, groups, root
        self._fresh = fresh
        """Answers of a cell that are left for certifying, on average."""
        n, d = ledger.counts.shape
        self.chances = np.full((n, groups), 1 / groups)
        self.levels = np.zeros((groups, d))
        self.errors = np.ones((groups, groups, d))
        self.spread = np.ones(d)
        self._tested = np.zeros((2, groups, d))
        """Answers, and their sum, that came after the group they are counted for was guessed."""
        self._before = ledger.counts.copy(), ledger.sums.copy()
        self._fitted = False

    def explore(self, items: Ints) -> None:
        """Test the last model on the answers that came since, then fit these items anew."""
        before, known = self.chances.copy(), self._fitted
        if known:
            self._test()
        self._fit(items)
        if known:
            self.chances = self.chances[:, _matching(before.T @ self.chances)]
            self._measure()
            seen = self._seen() & (before.max(axis=1) > 1 / self.groups + 1e-9)
            same = before[seen].argmax(axis=1) == self.chances[seen].argmax(axis=1)
            if same.mean() < _SAME:
                self.forget()  # it has become another split

    def forget(self) -> None:
        """Forget what confirmed the split: it must be confirmed again by later answers."""
        self._tested[:] = 0

    def remember(self) -> None:
        """Mark the present: answers that come later are new to the model and can test it."""
        self._before = self.ledger.counts.copy(), self.ledger.sums.copy()

    def certify(self, labels: Ints) -> None:
        """EM from what is known, the labels clamped."""
        seen = labels >= 0
        known = np.eye(self.groups)[labels[seen]]
        if seen.any():  # number the groups as the claim does
            self.chances = self.chances[:, _matching(known.T @ self.chances[seen])]
        answered = self._answered()
        kind, d = self.ledger.problem.kind, len(self.ledger.deck)
        variances = np.full(d, kind.sigma**2) if isinstance(kind, Number) else None
        for _ in range(3):
            self.chances[seen] = known
            self._measure()
            shares = (self.chances.sum(axis=0) + 1) / (len(self.chances) + self.groups)
            odds = log_likelihood(answered, self.levels, variances) + np.log(shares)
            raised = np.exp(odds - odds.max(axis=1, keepdims=True))
            self.chances = raised / raised.sum(axis=1, keepdims=True)
        self.chances[seen] = known
        self._measure()

    def _test(self) -> None:
        counts, sums = self.ledger.counts - self._before[0], self.ledger.sums - self._before[1]
        fresh = CellMeans.of(self.ledger.problem.kind, counts, sums, discount=0.0)
        seen = self._seen()
        total = self.chances[seen].T
        self._tested[0] += total @ fresh.weights[seen]
        self._tested[1] += total @ (fresh.weights * fresh.means)[seen]

    def _fit(self, items: Ints) -> None:
        """Latent classes of these items, from several starts."""
        rng = np.random.default_rng([self._root, self.ledger.answers])
        self.chances[:] = 1 / self.groups
        self.chances[items] = fit(self._answered(items), self.groups, rng).posterior
        self._fitted = True
        self._measure()

    def _seen(self) -> Mask:
        return np.asarray(self.chances.max(axis=1) > 1 / self.groups + 1e-9)

    def _answered(self, items: Ints | slice = slice(None)) -> CellMeans:
        counts, sums = self.ledger.counts[items], self.ledger.sums[items]
        return CellMeans.of(self.ledger.problem.kind, counts, sums, discount=0.0)

    def _measure(self) -> None:
        """Means of the groups on every question, on the scale 0 to 1, and standard errors."""
        answered, known = self._answered(), self._seen()
        weight = self.chances[known].T @ answered.weights[known]
        total = self.chances[known].T @ (answered.weights * answered.means)[known]
        overall = answered.overall
        self.levels = (total + _PRIOR * overall) / (weight + _PRIOR)
        if answered.sigma is None:
            self.levels = np.clip(self.levels, _EDGE, 1 - _EDGE)
            self.spread = np.sqrt(np.maximum(overall * (1 - overall), 0.05))
        else:
            self.spread = np.full(len(overall), answered.sigma)
        inverse = 1 / (weight + 1)
        self.errors = self.spread * np.sqrt(inverse[:, np.newaxis] + inverse)

    def rates(self, doubt: float) -> Floats:
        """Nats an answer about an item of g is worth against h (g x h x questions)."""
        return self._rates_of(self.levels, self.errors, doubt)

    def _rates_of(self, levels: Floats, errors: Floats, doubt: float) -> Floats:
        one, other = levels[:, np.newaxis], levels[np.newaxis]
        gap = other - one
        less = np.sign(gap) * np.minimum(abs(gap), doubt * errors) / 2
        one, other = self.on_scale(one + less), self.on_scale(other - less)
        kind = self.ledger.problem.kind
        return np.asarray(log_evidence(kind, one, other, one, 1.0, _RATIO * other, _RATIO))

    def on_scale(self, levels: Floats) -> Floats:
        """Levels in the user's units."""
        kind = self.ledger.problem.kind
        if isinstance(kind, Number):
            return levels
        return np.asarray(kind.low + (kind.high - kind.low) * levels)

    def likely(self) -> Floats:
        """The chance that two groups differ on a question (g x h x questions)."""
        return self._likely_of(self.levels, self.errors, _KIND_LUCK)

    def _likely_of(self, levels: Floats, errors: Floats, luck: float) -> Floats:
        gap = abs(levels[:, np.newaxis] - levels)
        return np.asarray(1 / (1 + luck * np.exp(-((gap / errors) ** 2) / 2)))

    def promised(self) -> float:
        """Nats that fresh cells seem to carry about an item, by all answers.

        It is too large as a rule: the same answers made the groups. See ``confirmed``.
        """
        return self._carried(self.levels, self.errors, 0.0, _KIND_LUCK)

    def confirmed(self) -> float:
        """The same, by answers that came after the groups were guessed."""
        weight, total = self._tested
        answered = self._answered()
        levels = (total + answered.overall) / (weight + 1)
        if answered.sigma is None:
            levels = np.clip(levels, _EDGE, 1 - _EDGE)
        inverse = 1 / (weight + 1)
        errors = self.spread * np.sqrt(inverse[:, np.newaxis] + inverse)
        return self._carried(levels, errors, DOUBT, _LUCK)

    def _carried(self, levels: Floats, errors: Floats, doubt: float, luck: float) -> float:
        """Nats for the two groups that are hardest to tell apart, weighted by how likely each
        question tells them apart.
        """
        likely = self._likely_of(levels, errors, luck)
        total = (self._rates_of(levels, errors, doubt) * self._fresh * likely).sum(axis=2)
        total[np.arange(self.groups), np.arange(self.groups)] = np.inf
        return float(total.min())


def _matching(together: Floats) -> Ints:
    """The column that belongs to each row, the largest entries first."""
    rest, order = together.astype(np.float64), np.zeros(len(together), dtype=np.int64)
    for _ in order:
        row, column = np.unravel_index(int(np.argmax(rest)), rest.shape)
        order[row] = column
        rest[row], rest[:, column] = -1, -1
    return order
