"""HUNT: a better question for the representatives, as long as it is worth it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from askfew.algorithms.frugal.course import Course
from askfew.algorithms.frugal.deck import Deck
from askfew.algorithms.frugal.levels import Levels, labelling_cost
from askfew.algorithms.frugal.pool import Pool
from askfew.algorithms.frugal.prospects import Prospects, graded_prospects
from askfew.algorithms.frugal.rounds import plan_round, samples_wanted
from askfew.algorithms.frugal.search import Pair, by_side
from askfew.evidence import nine_digits
from askfew.records import Batch, Floats, Ints, Known, Procedure
from askfew.wording import counted

__all__ = ["Hunt", "hunt"]

_LEAST = 6
"""Samples in the smallest round."""
_USABLE = 3.0
"""Nats, in hindsight, below which a question is not labelled by."""
_PER_QUESTION = 2.5
"""Answers a new question costs on average, with the second looks at the best of them."""
_PROMISING = 0.8
"""Nats, in hindsight, from which on a question of the search is hunted first."""
_STOPPED = 2.5
"""Nats by which the confirmed question looks better than it is, having been stopped at its best."""
_BETTER = 1.45
"""Only a gap this many times as large is a better one: the grid of gaps is no finer."""
_HOPELESS = 6.0
"""A question is not labelled by if that costs this many times what the pair had promised."""
_CAP = 0.7
"""Hunt only until all answers together reach this share of what labelling seemed to cost."""


class Hunt:
    """Questions asked of one pair of items, and how much more may be spent on asking."""

    def __init__(self, course: Course, pair: Pair, searched: Pool, threshold: float) -> None:
        self.course = course
        self.items = pair.items
        self.threshold = threshold
        self.pool = Pool(course.problem.answers)
        self._searched = searched
        self._deck = Deck(course.problem.questions, course.rng, first=_promising(searched))
        self._seen = {pair.question}
        self._trusted = True
        self.needy = False
        """Whether a new question is needed, not only a better one."""
        row = self.pool.add(pair.items[np.newaxis], np.array([pair.question]))
        self.pool.record(row, pair.counts[np.newaxis], pair.sums[np.newaxis])
        self._bring(searched)
        # A wrong pair has no gap and endless labelling costs: the caps are set while it looks good.
        cost = float(self.cost(self.gaps()[0]))
        self._allowance, self._hopeless = _CAP * cost, _HOPELESS * cost
        self.until = self._allowance

    def _bring(self, searched: Pool) -> None:
        """Take over what the search has asked this very pair."""
        same = (searched.items == self.items).all(axis=1) & (searched.samples > 0)
        rows = np.flatnonzero(same & ~np.isin(searched.questions, list(self._seen)))
        rows = rows[np.unique(searched.questions[rows], return_index=True)[1]]
        self._seen.update(searched.questions[rows].tolist())
        here = self.pool.add(searched.items[rows], searched.questions[rows])
        self.pool.record(here, searched.counts[rows], searched.sums[rows])

    @property
    def exhausted(self) -> bool:
        """Whether every question has been asked of the pair."""
        return len(self._seen) >= self.course.problem.questions

    def cost(self, gap: ArrayLike) -> Floats:
        """What labelling would cost at a gap in sigmas."""
        return labelling_cost(gap, self.course.problem.items - len(self.items), self.threshold)

    def gaps(self) -> Floats:
        """Every question's gap in sigmas, as far as its score shows it."""
        return 2 * np.sqrt(np.maximum(self.pool.scores, 0) / np.maximum(self.pool.samples, 1))

    def prospects(self, gap: float) -> Prospects:
        """What each question may save, when labelling by this gap is the other choice."""
        cost = self.cost(gap)

        def payoff(gaps: Floats) -> Floats:
            return np.where(gaps > _BETTER * gap, cost - self.cost(gaps), 0.0)

        now = graded_prospects(self.pool, payoff, self.course.noise, self._searched)
        return replace(now, new=0.0) if self.exhausted else now

    def draw(self, size: int) -> Ints:
        """Up to ``size`` questions not asked of the pair yet."""
        dealt = [each for each in self._deck.deal(size).tolist() if each not in self._seen]
        questions = np.array(list(dict.fromkeys(dealt)), dtype=np.int64)
        self._seen.update(questions.tolist())
        return self.pool.add(np.tile(self.items, (len(questions), 1)), questions)

    def best(self) -> tuple[int | None, float]:
        """The row with the largest gap one may believe in, and that gap.

        A question of the hunt is the best of many; the one the pair was confirmed on is not.
        """
        luck = np.full(self.pool.size, 0.5 + math.log(self.pool.size))
        luck[0] = _STOPPED
        sure = nine_digits(np.maximum(self.pool.scores - luck, self.pool.scores / 4))
        gaps = 2 * np.sqrt(np.maximum(sure, 0) / np.maximum(self.pool.samples, 1))
        usable = self.pool.scores - luck > _USABLE
        usable[0] |= self._trusted
        usable &= self.cost(gaps) < self._hopeless
        row = int(np.argmax(np.where(usable, gaps, -math.inf)))
        return (row, float(gaps[row])) if usable[row] else (None, 0.0)

    def levels(self, row: int, gap: float) -> Levels:
        """The question of this row, with the representatives' answers to it drawn to this gap."""
        shrink = gap / self.gaps()[row]
        return Levels.chosen(
            int(self.pool.questions[row]),
            self.pool.counts[row].copy(),
            self.pool.sums[row].copy(),
            shrink,
        )

    def learn(self, levels: Levels, *, silent: bool) -> None:
        """Believe of a question only what its references said, and allow for another hunt."""
        rows = np.flatnonzero(self.pool.questions == levels.question)
        self.pool.replace(rows, levels.counts[np.newaxis], levels.sums[np.newaxis])
        self._trusted &= 0 not in rows
        self.needy = silent
        if silent:
            self.pool.give_up(rows)
        spend = max(self._allowance, self.course.asked) if silent else self._allowance
        self.until = self.course.asked + spend


def hunt(course: Course, state: Hunt) -> Procedure[Levels | None]:
    """Ask the pair more questions while that is expected to save more than it costs.

    Returns None if no question tells the representatives apart any more.
    """
    while True:
        row, gap = state.best()
        chosen = None if row is None else state.levels(row, gap)
        if chosen is None and not state.needy:
            return None
        now = state.prospects(gap)
        if course.asked >= state.until or not _worthwhile(state, now):
            return chosen
        budget = max(_LEAST, math.ceil(course.options.growth * course.asked / 2))
        rows, sizes, _ = plan_round(state.pool, now, budget if state.exhausted else budget // 2)
        fresh = state.draw(budget - int(sizes.sum()))
        rows, sizes = np.append(rows, fresh), np.append(sizes, np.ones_like(fresh))
        if len(rows) == 0 and state.exhausted:
            return chosen
        if len(rows):
            tally = yield from course.ask(_batch(state, rows, sizes, chosen))
            state.pool.record(rows, *by_side(tally))


def _worthwhile(state: Hunt, now: Prospects) -> bool:
    """Whether some question, asked or not, is expected to save more answers than it costs."""
    again = (now.values / (2 * np.maximum(samples_wanted(state.pool, now), 1))).max()
    new = 2 * now.new / _PER_QUESTION
    return bool(nine_digits(state.course.options.hunt * max(again, new)) >= 1)


def _promising(searched: Pool) -> Ints:
    """Questions that looked good in the search, the best first."""
    rows = np.flatnonzero(searched.scores > _PROMISING)
    rows = rows[np.argsort(-searched.scores[rows], kind="stable")]
    return searched.questions[rows]


def _batch(state: Hunt, rows: Ints, sizes: Ints, chosen: Levels | None) -> Batch:
    question = None if chosen is None else chosen.question
    return Batch(
        np.repeat(state.items, len(rows)),
        np.tile(state.pool.questions[rows], 2),
        np.tile(sizes, 2),
        f"hunt: {counted(len(rows), 'question')} on items {state.items.tolist()},"
        f" best so far {question}",
        Known("hunt", np.full(state.course.problem.items, -1), question=question),
    )
