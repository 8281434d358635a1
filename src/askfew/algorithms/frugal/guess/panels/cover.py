"""Guesses for panels that cover all items: the questions, the items that answer, and the bets.

All answers are fitted by two latent classes. First some items are asked all questions; then every
Batch asks the items without a label the question that tells the classes apart best.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from askfew.algorithms.frugal.claim.cover import Cover
from askfew.answers import Number
from askfew.estimates.classes import CellMeans, fit, normalised
from askfew.evidence import log_evidence, nine_digits
from askfew.plans import Plan
from askfew.records import Batch, Floats, Ints, Tally

__all__ = ["CoverGuesser"]

_ROUNDS = 4
"""Most times that the first Batch is asked, if most of it is not answered."""
# The numbers below were chosen on worlds of 60 items (seeds from 1000 on), yes/no, caps 1 and 5.
_FIRST = 8
"""Answers of every question in the first Batch."""
_EXPLORED = 12
"""Items at most that are asked all questions."""
_SCARCE = 2
"""Answers per cell up to which exploring leaves too little for the explorers' own labels."""
_FIRST_SCARCE, _EXPLORED_SCARCE = 10, 40
"""The same two there: more items, each on fewer questions. With one answer per cell, 12 of 30
questions useful and gap .8 (60 items; 24 worlds, seed 5000), 10 and 24 certified .950 of the items,
10 and 40 .974, 10 and 60 .967, 8 and 24 .919, 12 and 24 .971, 12 and 40 .954, 14 and 60 .965. Their
errors are about .01."""
_PRIOR = 1.0
"""Answers at the overall mean that each group is lent on each question."""
_LUCK = 3.0
"""Odds, before anything is asked, against a question that tells the groups apart."""
_SURE = 0.97
"""Chance of a group from which an item's answers are bet on. With one answer per cell (30 worlds,
seed 2000) .97 certified .885 of the items, .95 .867, .9 .847."""
_TRIED = 0.8
"""Chance of being useful below which a question is tried on some items first."""
_SOME = 0.25
"""The share of the waiting items that try such a question."""
_LEAST = 0.01
"""Nats below which an answer is not asked for."""
_SUPPORT = 6
"""A Batch asks at least this many items of each group, so that no item is compared with fewer."""
_TESTERS = 5
"""Items of each group with a label from which on they try a doubtful question, and no other item
wastes an answer on it. With one answer per cell (30 worlds, seed 2000) that certified .885 of the
items, trying on items that wait .872."""
_TOGETHER = 0.25
"""One Batch asks for this share of the nats that exclude a partition."""
_HOPELESS = 0.7
"""More is asked only if the questions promise this share of the evidence needed. With one answer
per cell 12 useful questions of 30 promised .9 and more of it, none .35 to .75 (4 worlds each)."""
_PATIENCE = 20.0
"""Answers per item, without a single label, after which it is given up."""
_GOLDEN = 0.6180339887498949
"""Multiples of it fill [0, 1) evenly."""


class CoverGuesser:
    """The model of all answers so far, and what follows from it."""

    def __init__(self, cover: Cover, root: int) -> None:
        self.cover, self.ledger, self.root = cover, cover.ledger, root
        n, d = self.ledger.counts.shape
        rng = np.random.default_rng([root, 2])
        first, explored = _FIRST, _EXPLORED
        if self.ledger.per_cell <= _SCARCE:
            first, explored = _FIRST_SCARCE, _EXPLORED_SCARCE
        whole = min(self.ledger.per_cell, first / min(n, explored))
        some = math.ceil(first / min(1.0, whole))
        deals = itertools.zip_longest(*(panel.members.tolist() for panel in cover.panels))
        spread = [item for deal in deals for item in deal if item is not None]
        self.explorers = np.array(spread[:some], dtype=np.int64)
        turn = (rng.permutation(len(self.explorers))[:, np.newaxis] + rng.permutation(d)) % max(
            n, d
        )
        self.turn = (turn * _GOLDEN) % 1.0 < whole
        self.rounds = 0
        self.chances = np.full((n, 2), 0.5)
        """The chances of each item to be in each class, by the fit."""
        self.beliefs = self.chances.copy()
        """The same by what the other items answered: an item's own answers make the fit too sure
        of it, and a bet on the wrong side costs everybody. With one answer per cell (60 worlds,
        seed 1000) bets by these certified .87 of the items, by the fit .84."""
        self.levels = np.zeros((2, d))
        self.likely = np.zeros(d)
        self.rates = np.zeros(d)

    def learn(self, plan: Plan, batch: Batch, tally: Tally) -> None:
        """Fit two classes to all answers, the labels clamped."""
        del plan, batch, tally  # the ledger has them
        if not self.ledger.answers:
            return
        labels = self.cover.labels
        kind = self.ledger.problem.kind
        answered = CellMeans.of(kind, self.ledger.counts, self.ledger.sums, discount=0.0)
        rng = np.random.default_rng([self.root, self.ledger.answers])
        seen = answered.weights.any(axis=1)
        known = labels[seen] if (labels >= 0).any() else None
        model = fit(answered.rows(np.flatnonzero(seen)), 2, rng, known=known)
        self.chances[:] = model.shares
        self.chances[seen] = model.posterior
        self._measure(answered)

    def _measure(self, answered: CellMeans) -> None:
        """The groups' levels, which questions tell them apart, and where each item belongs."""
        given = self.chances[:, :, np.newaxis]
        weight = given * answered.weights[:, np.newaxis]
        total = given * (answered.weights * answered.means)[:, np.newaxis]
        weights, totals = weight.sum(axis=0), total.sum(axis=0)
        self.likely, levels = _levels(answered, weights, totals)
        _, without = _levels(answered, weights - weight, totals - total)
        self.beliefs = _beliefs(answered, without)
        labels = self.cover.labels
        self.beliefs[labels >= 0] = np.eye(2)[labels[labels >= 0]]
        kind = self.ledger.problem.kind
        if not isinstance(kind, Number):
            levels = kind.low + (kind.high - kind.low) * levels
        self.levels = levels
        self.rates = self._rates(levels)

    def _rates(self, levels: Floats) -> Floats:
        """Nats that an answer beside five of the other group is worth, at the least."""
        kind, (one, other) = self.ledger.problem.kind, levels
        there = log_evidence(kind, one, other, one, 1.0, 5 * other, 5)
        back = log_evidence(kind, other, one, other, 1.0, 5 * one, 5)
        return np.minimum(np.asarray(there), np.asarray(back))

    @property
    def carried(self) -> float:
        """Nats that fresh cells of an item seem to carry."""
        return float(self.rates.sum() * self.ledger.per_cell)

    def propose(self) -> Plan:
        """The next Batch, or a plan to end where nothing helps."""
        missing = self.turn & (self.ledger.counts[self.explorers] == 0)
        if not self.rounds or (self.rounds < _ROUNDS and 2 * missing.sum() > self.turn.sum()):
            row, column = np.nonzero(missing)
            return self._plan("explore", self.explorers[row], column, np.ones(len(row)))
        none = not (self.cover.labels >= 0).any()
        needed = self.cover.needed
        scarce = self.ledger.per_cell <= _SCARCE  # else more answers may show another split
        if none and scarce and self.carried < _HOPELESS * needed:
            return self._end()
        if none and self.ledger.answers > self._patience():
            return self._end()
        return self._certify() or self._end()

    def _patience(self) -> float:
        return _PATIENCE * len(self.chances) + _FIRST * len(self.ledger.deck)

    def accept(self, plan: Plan) -> None:
        """Note what was decided, now or in the log."""
        self.rounds += plan.kind == "explore"

    def _end(self) -> Plan:
        useful = int((self.likely > 0.9).sum())
        return Plan("end", {"carried": self.carried, "useful": useful})

    def _certify(self) -> Plan | None:
        """The best question for the undecided items, and others to compare them with."""
        room = self.ledger.open_room
        waiting = self.cover.doubtful
        worth = np.where((room > 0) & (self.rates > _LEAST), self.rates, 0.0)
        value = worth[waiting].sum(axis=0)
        if not value.any():
            return None
        q = int(np.argmax(nine_digits(value)))
        waiting = waiting[worth[waiting, q] > 0]
        if self.likely[q] < _TRIED:  # some first, so that the others' bets are good
            waiting = self._triers(waiting, q, room)
        size = max(1, round(_TOGETHER * self.cover.needed / self.rates[q]))
        rows = {(int(item), q): int(min(size, room[item, q])) for item in waiting}
        self._add_references(rows, q, size, room)
        cells = sorted(rows)
        items, columns = (np.array(each, dtype=np.int64) for each in zip(*cells, strict=True))
        return self._plan("certify", items, columns, np.array([rows[c] for c in cells]))

    def _triers(self, waiting: Ints, q: int, room: Ints) -> Ints:
        """Some of the waiting items; none if enough items with a label can try the question."""
        labels = self.cover.labels[room[:, q] > 0]
        if min((labels == side).sum() for side in (0, 1)) >= _TESTERS:
            return waiting[:0]
        rng = np.random.default_rng([self.root, self.ledger.answers])
        some = math.ceil(len(waiting) * _SOME)
        return np.sort(rng.choice(waiting, some, replace=False))

    def _add_references(
        self, rows: dict[tuple[int, int], int], q: int, size: int, room: Ints
    ) -> None:
        """Add some items of each group to compare the waiting ones with, labelled items first."""
        labelled = self.cover.labels >= 0
        for side in (0, 1):
            mine = self.chances[:, side] > 0.5
            have = sum(many for (item, _), many in rows.items() if mine[item])
            others = [i for i in np.flatnonzero(mine & (room[:, q] > 0)) if (int(i), q) not in rows]
            for item in sorted(others, key=lambda i: (not labelled[i], -int(room[i, q]))):
                if have >= _SUPPORT * size:
                    break
                rows[int(item), q] = int(min(size, room[item, q]))
                have += size

    def _plan(self, kind: str, items: Ints, columns: Ints, repeats: Ints | Floats) -> Plan:
        beliefs = self.beliefs[np.unique(items)]
        guesses = beliefs @ self.levels[:, np.unique(columns)]
        sure = beliefs.max(axis=1) >= _SURE
        scale = self.ledger.problem.kind
        if not self.ledger.answers and not isinstance(scale, Number):
            guesses[:] = (scale.low + scale.high) / 2
        return Plan(
            kind,
            {},
            {
                "items": items,
                "questions": self.ledger.deck[columns],
                "repeats": repeats.astype(np.int64),
                "guesses": guesses.ravel(),
                "bets": sure.astype(np.int64),
            },
        )


def _levels(answered: CellMeans, weight: Floats, total: Floats) -> tuple[Floats, Floats]:
    """The chance that each question tells the groups apart, and the groups' levels on it.

    ``weight`` and ``total`` are answers and their sums (... x groups x questions). The less likely
    a question is to tell, the nearer its levels are drawn to the overall mean.
    """
    overall, sigma = answered.overall, answered.sigma
    spread = np.sqrt(np.maximum(overall * (1 - overall), 0.05)) if sigma is None else sigma
    levels = (total + _PRIOR * overall) / (weight + _PRIOR)
    error = spread * np.sqrt((1 / (weight + 1)).sum(axis=-2))
    ratio = abs(levels[..., 0, :] - levels[..., 1, :]) / error
    likely = 1 / (1 + _LUCK * np.exp(-(ratio**2) / 2))
    # A bet on a useless question loses, so a doubtful question is bet on less.
    levels = overall + likely[..., np.newaxis, :] * (levels - overall)
    return likely, levels if sigma is not None else np.clip(levels, 0.02, 0.98)


def _beliefs(answered: CellMeans, levels: Floats) -> Floats:
    """The chance of each group for each item; ``levels`` leaves out the item's own answers."""
    weights, means = answered.weights[:, np.newaxis], answered.means[:, np.newaxis]
    if answered.sigma is None:
        cells = weights * (means * np.log(levels) + (1 - means) * np.log1p(-levels))
    else:
        cells = -weights * (means - levels) ** 2 / (2 * answered.sigma**2)
    return normalised(cells.sum(axis=2))
