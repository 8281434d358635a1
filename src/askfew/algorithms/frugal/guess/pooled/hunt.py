"""HUNT: look for a better question for a pair, as long as that is expected to save answers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from askfew.algorithms.frugal.guess.candidates import (
    Pool,
    Posterior,
    graded_posterior,
    plan_round,
    samples_wanted,
)
from askfew.algorithms.frugal.guess.pooled.history import History
from askfew.algorithms.frugal.guess.pooled.search import Pair, Search
from askfew.evidence import nine_digits
from askfew.plans import Plan
from askfew.records import Floats, Ints, Tally
from askfew.wording import counted

__all__ = ["Hunt", "Target"]

# Where no other measurement is named: the values of the prototype. What they cost is shown by
# `askfew bench --suite full`; tests/algorithms/frugal/test_costs.py fails if a change costs more.
_LEAST = 6
"""Samples in the smallest round."""
_USABLE = 3.0
"""Nats in sample that a question must have to be labelled by."""
_NEEDED = 1.0
"""The same where a few items need another question: little is lost if it does not tell them apart.
"""
_PER_QUESTION = 2.5
"""Answers a new question costs on average, with the second looks at the best of them."""
_PROMISING = 0.8
"""Nats in sample from which on a question of the search is hunted first."""
_STOPPED = 2.5
"""Nats by which the pair's question looks better than it is, because the search stopped when it
looked good."""
_BETTER = 1.3
"""Only a gap this many times as large is a better one. It is well below the step of the grid of
gaps (1.5), or the next larger gap would hardly ever count. Graded gaps cost 5,091 answers with
1.25, 4,866 with 1.3, 5,345 with 1.35, 6,144 with 1.4 (100 runs, seeds from 5000). Every other row
of the bench stayed within 3 % of what it cost with 1.45."""
_HOPELESS = 6.0
"""A question is not labelled by if that costs this many times what the pair had promised."""
_CAP = 0.7
"""Hunt only until all answers together reach this share of what labelling seemed to cost."""


@dataclass(frozen=True, eq=False)
class Target:
    """The question to label by, and what the pair's items are expected to answer to it."""

    question: int
    pair: Ints
    counts: Floats
    means: Floats


class Hunt:
    """Questions asked of one pair of items, and how much more may be spent on asking."""

    def __init__(self, history: History, search: Search, pair: Pair) -> None:
        self.history = history
        self.items = pair.items
        self.pool = Pool(history.problem.kind, history.tolerance)
        self.needy = False
        """Whether a new question is needed, not only a better one."""
        self.tries = 0
        """Questions that disappointed."""
        self._search = search
        self._seen = {pair.question}
        self._first = search.promising(_PROMISING)
        self._trusted = True
        row = self.pool.add(pair.items[np.newaxis], np.array([pair.question]))
        self.pool.record(row, pair.counts[np.newaxis], pair.sums[np.newaxis])
        self._bring(search.pool)
        # A wrong pair has no gap and endless labelling costs: the caps are set while it looks good.
        cost = float(history.labelling_cost(self._gaps()[0]))
        self._allowance, self._hopeless = _CAP * cost, _HOPELESS * cost
        self._until = self._allowance

    def _bring(self, searched: Pool) -> None:
        """Take over what the search has asked this very pair."""
        same = (searched.items == self.items).all(axis=1) & (searched.samples > 0)
        rows = np.flatnonzero(same & (searched.questions != self.pool.questions[0]))
        self._seen.update(searched.questions[rows].tolist())
        here = self.pool.add(searched.items[rows], searched.questions[rows])
        self.pool.record(here, searched.counts[rows], searched.sums[rows])

    def target(self) -> Target | None:
        """The question with the largest credible gap; None if there is none.

        The means are drawn together, to the gap that is left after the deduction for luck.
        """
        row, gap = self._best()
        if row is None:
            return None
        counts, sums = self.pool.counts[row], self.pool.sums[row]
        means = sums / np.maximum(counts, 1)
        means = means.mean() + gap / self._gaps()[row] * (means - means.mean())
        return Target(int(self.pool.questions[row]), self.items, counts.copy(), means)

    def goes_on(self) -> bool:
        """Whether asking more questions is expected to save more than it costs."""
        row, gap = self._best()
        if row is None and not self.needy:
            return False
        if self.history.asked >= self._until:
            return False
        now = self._posterior(gap)
        again = (now.values / (2 * np.maximum(samples_wanted(self.pool, now), 1))).max()
        new = 2 * now.new / _PER_QUESTION
        if nine_digits(self.history.tuning.hunt * max(again, new)) < 1:
            return False
        rows, _, questions = self._round()
        return len(rows) + len(questions) > 0

    def propose(self) -> Plan:
        """The next round: promising questions again, and new ones."""
        rows, sizes, new = self._round()
        questions = np.append(self.pool.questions[rows], new)
        repeats = np.append(sizes, np.ones_like(new))
        target = self.target()
        best = None if target is None else target.question
        why = f"hunt: {counted(len(questions), 'question')} on items {self.items.tolist()}"
        return Plan(
            "hunt",
            {"why": f"{why}, best so far {best}", "best": best, "pair": self.items.tolist()},
            {
                "items": np.repeat(self.items, len(questions)),
                "questions": np.tile(questions, 2),
                "repeats": np.tile(repeats, 2),
            },
        )

    def learn(self, plan: Plan, tally: Tally) -> None:
        """Add what the pair answered, on questions known or new."""
        half = len(tally.counts) // 2
        questions = plan.ints("questions")[:half]
        known = {int(question): row for row, question in enumerate(self.pool.questions)}
        new = np.array([each for each in questions if int(each) not in known], dtype=np.int64)
        added = self.pool.add(np.tile(self.items, (len(new), 1)), new)
        known.update(zip(new.tolist(), added.tolist(), strict=True))
        rows = np.array([known[int(question)] for question in questions], dtype=np.int64)
        counts = tally.counts.reshape(2, -1).T.astype(np.float64)
        self.pool.record(rows, counts, tally.sums.reshape(2, -1).T)
        self._seen.update(questions.tolist())

    def disappoint(self, question: int, counts: Floats, sums: Floats, *, silent: bool) -> None:
        """Believe of a question only what its labelling heard, and allow for another hunt."""
        rows = np.flatnonzero(self.pool.questions == question)
        self.pool.believe(rows, counts[np.newaxis], sums[np.newaxis])
        self._trusted &= 0 not in rows
        self.tries += 1
        self.needy = silent
        if silent:
            self.pool.give_up(rows)
        spend = max(self._allowance, self.history.asked) if silent else self._allowance
        self._until = self.history.asked + spend

    @property
    def _exhausted(self) -> bool:
        """Whether every question has been asked of the pair."""
        return len(self._seen) >= self.history.problem.questions

    def _gaps(self) -> Floats:
        """Every question's gap in sigmas: the score is about samples * gap² / 4."""
        return 2 * np.sqrt(np.maximum(self.pool.scores, 0) / np.maximum(self.pool.samples, 1))

    def _best(self) -> tuple[int | None, float]:
        """The row of the question with the largest credible gap, and that gap."""
        # Without a gap, a score in sample is 1/2 on average, and the best of m is larger by about
        # log m. The pair's own question (row 0) was stopped by its score, hence its own deduction.
        luck = np.full(self.pool.size, 0.5 + math.log(self.pool.size))
        luck[0] = _STOPPED
        scores = self.pool.scores
        sure = nine_digits(np.maximum(scores - luck, scores / 4))
        gaps = 2 * np.sqrt(np.maximum(sure, 0) / np.maximum(self.pool.samples, 1))
        usable = scores - luck > (_NEEDED if self.needy else _USABLE)
        usable[0] |= self._trusted
        usable &= self.history.labelling_cost(gaps) < self._hopeless
        row = int(np.argmax(np.where(usable, gaps, -math.inf)))
        return (row, float(gaps[row])) if usable[row] else (None, 0.0)

    def _posterior(self, gap: float) -> Posterior:
        """What each question may save, compared with labelling by this gap."""
        cost = self.history.labelling_cost(gap)

        def payoff(gaps: Floats) -> Floats:
            return np.where(gaps > _BETTER * gap, cost - self.history.labelling_cost(gaps), 0.0)

        now = graded_posterior(self.pool, payoff, self.history.noise, self._search.pool)
        if self.history.explore is not None:
            now.values[self._room() < 1] = -math.inf
        return replace(now, new=0.0) if self._exhausted else now

    def _round(self) -> tuple[Ints, Ints, Ints]:
        """Rows to ask again and how often, and new questions to ask once."""
        budget = max(_LEAST, math.ceil(self.history.tuning.growth * self.history.asked / 2))
        now = self._posterior(self._best()[1])
        rows, sizes, _ = plan_round(
            self.pool,
            now,
            budget if self._exhausted else budget // 2,
            self.history.explore or math.inf,
        )
        if self.history.explore is not None:
            sizes = np.minimum(sizes, self._room()[rows]).astype(np.int64)
            rows, sizes = rows[sizes > 0], sizes[sizes > 0]
        return rows, sizes, self._unasked(budget - int(sizes.sum()))

    def _room(self) -> Floats:
        """How often the pair may still be asked each question of the pool."""
        pair = self.items.tolist()
        return np.array([self.history.room(pair, each) for each in self.pool.questions.tolist()])

    def _unasked(self, size: int) -> Ints:
        """Up to ``size`` questions not asked of the pair: the search's best first, then any."""
        # The search deals the same deck from its front: the last cards are those it saw least.
        deck = np.append(self._first, self.history.deck(0)[::-1])
        pair = self.items.tolist()
        left = (
            each
            for each in dict.fromkeys(deck.tolist())
            if each not in self._seen and self.history.room(pair, each) >= 1
        )
        return np.array([each for each, _ in zip(left, range(size), strict=False)], dtype=np.int64)
