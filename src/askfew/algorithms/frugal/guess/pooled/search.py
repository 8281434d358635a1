"""SEARCH: two items and a question that look different.

Candidates are drawn at random and compete. Nothing is certified: the search hands over a pair as
soon as it is likely to differ, and a pair that does not costs a short labelling.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from askfew.algorithms.frugal.guess.candidates import Pool, Posterior, plan_round, posterior
from askfew.algorithms.frugal.guess.pooled.history import History
from askfew.answers import Number
from askfew.plans import Plan
from askfew.records import Floats, Ints, Tally
from askfew.wording import counted

__all__ = ["Pair", "Search"]

# Where no other measurement is named: the values of the prototype. What they cost is shown by
# `askfew bench --suite full`; tests/algorithms/frugal/test_costs.py fails if a change costs more.
_LEAST = 6
"""Samples in the smallest round."""
_MOST = 2**16
"""Candidates kept; beyond it new ones take the place of the least promising."""
_NEW = 0.2
"""Share of a round that always goes to new candidates: what looks promising may be luck."""
_PATIENCE = 0.3
"""How much the cost of labelling by a small gap counts against it in the search."""
_SHALLOW = 16
"""Samples that any candidate may be given."""
_DEEP = 5.0
"""A candidate may get more samples than that: this many times the answers asked per item so far.

A pair that needs many samples promises a long labelling. So others are looked at first."""
_SURE = 0.9
"""The chance of a difference at which a pair is handed over."""
_LIKELY = 0.5
"""The chance at which a pair is handed over if it must not be asked more often."""
_LONGEST = 100
"""Answers per question, under a cap on cells, after which the search ends and says so. With one of
40 questions useful (60 items, cap 40, gap .7, 12 worlds) it took up to 48, and 50 lost one world in
twelve; without an end it asked a third of all cells, eight times as much."""
_MANY = 200
"""Questions from which on a second look asks one item only (see ``_beside``)."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two items that look different on a question, and their answers to it."""

    items: Ints
    question: int
    counts: Floats
    sums: Floats


@dataclass(frozen=True)
class _Candidate:
    """Two items and a question; ``alone`` asks the second item only."""

    first: int
    second: int
    question: int
    samples: int = 1
    alone: bool = False


class Search:
    """Candidates and what they answered."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.pool = Pool(history.problem.kind, history.tolerance)
        self.asked = 0
        self._dealt = 0
        self._rows: dict[int, int] = {}
        self._first: dict[int, int] = {}
        """The row of the first candidate on each question."""
        self._seen: dict[int, set[int]] = {}
        """Items asked on each question."""
        self._full = np.zeros(0, dtype=np.int64)
        """Candidates whose cells search and hunt must not ask any more, as rows of the pool."""
        self._deck: tuple[int, Ints] = (0, history.deck(0))
        self._now: Posterior | None = None

    def sure_pair(self) -> Pair | None:
        """The pair with the largest gap among those that very likely differ."""
        if not self.pool.size:
            return None
        now = self._posterior()
        sure = (now.chances > _SURE) & (self.pool.scores > -math.inf)
        # A pair that may not be asked again cannot become surer, so less is enough.
        sure[self._full] |= now.chances[self._full] > _LIKELY
        sure &= self.pool.scores > -math.inf
        gaps = np.where(sure, self.pool.scores / np.maximum(self.pool.samples, 1), -math.inf)
        row = int(np.argmax(gaps))
        if not sure[row]:
            return None
        pool = self.pool
        return Pair(
            pool.items[row].copy(),
            int(pool.questions[row]),
            pool.counts[row].copy(),
            pool.sums[row].copy(),
        )

    def propose(self) -> Plan | None:
        """The next round: the best candidates again, and new ones; None if a cap ends it."""
        pool, leader = self.pool, None
        if self._over():
            return None
        budget = max(_LEAST, math.ceil(self.history.tuning.growth * self.asked / 2))
        candidates: list[_Candidate] = []
        if pool.size:
            most = max(_SHALLOW, _DEEP * self.asked / self.history.problem.items)
            most = min(most, self.history.explore or math.inf)
            again = math.ceil((1 - _NEW) * budget)
            rows, sizes, leader = plan_round(pool, self._posterior(), again, most)
            for row, size in zip(rows.tolist(), sizes.tolist(), strict=True):
                first, second = pool.items[row].tolist()
                candidates.append(_Candidate(first, second, int(pool.questions[row]), size))
            budget -= int(sizes.sum())
        new = self._new(budget, leader)
        candidates = self._with_room(candidates + new)
        if not candidates:
            return None
        return _plan(candidates, len(new), self._why(len(candidates), leader))

    def _over(self) -> bool:
        """Whether a search under a cap has taken longer than it should where there is something."""
        capped = self.history.explore is not None
        return capped and self.asked > _LONGEST * self.history.problem.questions

    def learn(self, plan: Plan, tally: Tally) -> None:
        """Add what a round heard to its candidates, known or new."""
        items, mates, questions = plan.ints("items"), plan.ints("mates"), plan.ints("questions")
        n, d = self.history.problem.items, self.history.problem.questions
        # The smaller item comes first, so that (a, b) and (b, a) are one candidate.
        second = items > mates
        keys = (np.minimum(items, mates) * n + np.maximum(items, mates)) * d + questions
        keys, candidate = np.unique(keys, return_inverse=True)
        counts, sums = np.zeros((2, len(keys), 2))
        np.add.at(counts, (candidate, second.astype(np.int64)), tally.counts)
        np.add.at(sums, (candidate, second.astype(np.int64)), tally.sums)
        rows = np.array([self._rows.get(key, -1) for key in keys.tolist()], dtype=np.int64)
        rows[rows < 0] = self._add(keys[rows < 0])
        self.pool.record(rows, counts, sums)
        self._now = None
        if self.history.explore is not None:
            pairs, asked = self.pool.items[rows].tolist(), self.pool.questions[rows].tolist()
            full = [self.history.room(*each) < 1 for each in zip(pairs, asked, strict=True)]
            self._full = np.union1d(self._full, rows[np.array(full)])
        self.asked += int(plan.ints("repeats").sum())
        self._dealt += int(plan.facts.get("dealt", 0))
        for item, question in zip(items.tolist(), questions.tolist(), strict=True):
            self._seen.setdefault(question, set()).add(item)

    def forget(self, items: Ints) -> None:
        """Give up every candidate on this pair of items."""
        self.pool.give_up(np.flatnonzero((self.pool.items == np.sort(items)).all(axis=1)))
        self._now = None

    def promising(self, least: float) -> Ints:
        """Questions of candidates with at least this score, the best first."""
        rows = np.flatnonzero(self.pool.scores > least)
        rows = rows[np.argsort(-self.pool.scores[rows], kind="stable")]
        return self.pool.questions[rows]

    def _posterior(self) -> Posterior:
        if self._now is None:
            self._now = posterior(self.pool, self._payoff, self.history.noise)
            self._now.values[self._full] = -math.inf
        return self._now

    def _with_room(self, candidates: list[_Candidate]) -> list[_Candidate]:
        """The candidates, cut to what the cap on a cell allows, also where two share a cell."""
        if self.history.explore is None:
            return candidates
        used: dict[tuple[int, int], int] = {}
        found = []
        for each in candidates:
            pair = (each.first, each.second)
            taken = max(used.get((item, each.question), 0) for item in pair)
            room = min(self.history.room(pair, each.question) - taken, each.samples)
            if room >= 1:
                found.append(replace(each, samples=int(room)))
                for item in pair:
                    cell = (item, each.question)
                    used[cell] = used.get(cell, 0) + int(room)
        return found

    def _payoff(self, gaps: Floats) -> Floats:
        """What one sample of a candidate is worth, by its gap in sigmas.

        That is its evidence, a quarter of the squared gap, with a deduction: the more labelling by
        such a gap would cost beside what was spent so far, the more it pays to look for a larger
        gap first.
        """
        cost = self.history.labelling_cost(gaps)
        return np.asarray(gaps**2 / 4 / (1 + _PATIENCE * cost / max(self.asked, 100)))

    def _new(self, samples: float, leader: int | None) -> list[_Candidate]:
        """New candidates on dealt questions.

        Every other one is put to the items of the leader: if they differ, more questions tell them
        apart, and the hunt will want to know which does so best.
        """
        n, rng = self.history.problem.items, self.history.rng()
        dealt = self._dealt
        found: list[_Candidate] = []
        while samples > 0.25:
            question, dealt = self._deal(dealt), dealt + 1
            if leader is not None and len(found) % 2 == 0:
                first, second = self.pool.items[leader].tolist()
                found.append(_Candidate(first, second, question))
            elif (mate := self._beside(question, rng)) is not None:
                found.append(mate)
            else:
                first, second = rng.integers(n), rng.integers(n - 1)
                found.append(_Candidate(int(first), int(second + (second >= first)), question))
            samples -= 0.5 if found[-1].alone else 1.0
        return found

    def _beside(self, question: int, rng: np.random.Generator) -> _Candidate | None:
        """A second look at a question: one more item, beside one that has already answered.

        It costs one answer instead of two. It is for many questions only: with few, the same first
        item would soon be in most candidates, and one unlucky answer of it would spoil them all.
        """
        problem = self.history.problem
        row = self._first.get(question)
        if not isinstance(problem.kind, Number) or problem.questions < _MANY or row is None:
            return None
        seen = self._seen[question]
        if len(seen) >= problem.items or self.pool.samples[row] > 2:
            return None
        while (item := int(rng.integers(problem.items))) in seen:
            pass
        return _Candidate(int(self.pool.items[row, 0]), item, question, alone=True)

    def _deal(self, place: int) -> int:
        shuffle, card = divmod(place, self.history.problem.questions)
        if self._deck[0] != shuffle:
            self._deck = (shuffle, self.history.deck(shuffle))
        return int(self._deck[1][card])

    def _add(self, keys: Ints) -> Ints:
        """Rows for new candidates; an item that answered the question before brings its answers."""
        n, d = self.history.problem.items, self.history.problem.questions
        pairs, questions = np.divmod(keys, d)
        items = np.column_stack(np.divmod(pairs, n))
        excess = self.pool.size + len(keys) - _MOST
        replaced = self.pool.least(excess) if excess > 0 else None
        if replaced is not None:
            self._drop(replaced)
        rows = self.pool.add(items, questions, replaced)
        for key, row, question, pair in zip(
            keys.tolist(), rows.tolist(), questions.tolist(), items.tolist(), strict=True
        ):
            self._rows[key] = row
            first = self._first.setdefault(question, row)
            if first != row:
                self._share(first, row, pair)
        return rows

    def _share(self, first: int, row: int, pair: list[int]) -> None:
        pool = self.pool
        item = int(pool.items[first, 0])
        if item in pair:
            side = pair.index(item)
            pool.counts[row, side] = pool.counts[first, 0]
            pool.sums[row, side] = pool.sums[first, 0]

    def _drop(self, rows: Ints) -> None:
        n, d = self.history.problem.items, self.history.problem.questions
        items, questions = self.pool.items[rows], self.pool.questions[rows]
        for key in ((items[:, 0] * n + items[:, 1]) * d + questions).tolist():
            del self._rows[key]
        for row, question in zip(rows.tolist(), questions.tolist(), strict=True):
            if self._first.get(question) == row:
                del self._first[question]

    def _why(self, candidates: int, leader: int | None) -> str:
        why = f"search: compare {counted(candidates, 'pair')} of items"
        if leader is None:
            return why
        pair, question = self.pool.items[leader].tolist(), self.pool.questions[leader]
        return f"{why}, mostly {pair} on question {question}"


def _plan(candidates: list[_Candidate], dealt: int, why: str) -> Plan:
    """The plan that asks these candidates; each row names the other item of its pair."""
    rows = [
        (item, each.question, each.samples, mate)
        for each in candidates
        for item, mate in ((each.first, each.second), (each.second, each.first))
        if not (each.alone and item == each.first)
    ]
    items, questions, repeats, mates = np.array(rows, dtype=np.int64).T
    return Plan(
        "search",
        {"why": why, "dealt": dealt},
        {"items": items, "questions": questions, "repeats": repeats, "mates": mates},
    )
