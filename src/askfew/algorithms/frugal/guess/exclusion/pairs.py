"""SEARCH for the first pair: candidates (two items and a question) compete; a leader is registered.

Candidates and rounds are those of two groups (``guess/candidates.py``). Here a pair is registered,
with all its questions, so that the claim can confirm it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from askfew.algorithms.frugal.guess.candidates import Noise, Pool, plan_round, posterior
from askfew.plans import Plan
from askfew.records import Floats, Ints, Problem, Tally

__all__ = ["PairSearch", "dealt"]

# Where no other measurement is named: values found by trial. What they cost is in
# benchmarks/groups.md, and tests/algorithms/frugal/test_costs.py notices a dearer change.
_LEAST = 6
"""Samples in the smallest round."""
_GROWTH = 0.07
"""A round's samples as a share of those so far."""
_NEW = 0.2
"""Share of a round that goes to new candidates in any case."""
_PATIENCE = 0.3
"""How much the cost of labelling by a small gap counts against the gap."""
_SHALLOW, _DEEP = 16, 5.0
"""Samples that any candidate may be given; or ``_DEEP`` times the answers per item, if more."""
_AGAIN = 4
"""A pair sampled to this many times its size at registration is registered anew."""
_MOST = 2**16
"""Candidates kept; beyond it new ones take the place of the least promising."""


@dataclass
class PairSearch:
    """What the search knows; it depends on the plans so far and on what came back, nothing else."""

    problem: Problem
    delta: float
    root: int
    pool: Pool = field(init=False)
    noise: Noise = field(init=False)
    asked: int = 0
    drawn: int = 0
    """New candidates so far; the deck is dealt from there on."""

    def __post_init__(self) -> None:
        self.pool, self.noise = Pool(self.problem.kind), Noise(self.problem)
        self._row: dict[tuple[int, int, int], int] = {}
        self._size: dict[tuple[int, int], float] = {}
        """Samples that registered pairs had when they were registered."""

    def propose(self, rng: np.random.Generator) -> Plan:
        """The next round: candidates sampled again, and new ones."""
        pool = self.pool
        budget = max(_LEAST, math.ceil(_GROWTH * self.asked / 2))
        rows, sizes, leader = np.zeros(0, np.int64), np.zeros(0, np.int64), None
        if pool.size:
            now = posterior(pool, self._payoff, self.noise)
            most = max(_SHALLOW, _DEEP * self.asked / self.problem.items)
            rows, sizes, leader = plan_round(pool, now, math.ceil((1 - _NEW) * budget), most)
        many = max(budget - int(sizes.sum()), 0)
        pairs = self._new_pairs(many, leader, rng)
        questions = dealt(self.problem.questions, self.root, self.drawn, many)
        guesses = _shrunk_means(pool.counts[rows], pool.sums[rows])
        middle = np.full((many, 2), _middle(self.problem))
        guesses = np.concatenate([guesses, middle])
        items = np.concatenate([pool.items[rows], pairs])
        columns = {
            "first": items[:, 0],
            "second": items[:, 1],
            "questions": np.concatenate([pool.questions[rows], questions]),
            "repeats": np.concatenate([sizes, np.ones(many, np.int64)]).astype(np.int64),
            "first_guess": guesses[:, 0],
            "second_guess": guesses[:, 1],
            "register": self._to_register(leader, rows),
        }
        return Plan("compare", {"new": many}, columns)

    def _payoff(self, gaps: Floats) -> Floats:
        """What one sample of a candidate is worth, by its gap in sigmas."""
        items = self.problem.items - 2
        answers = 2 * math.log(max(items, 1) / self.delta) / np.maximum(gaps**2, 1e-12)
        cost = items * np.maximum(answers, 1.0)
        return np.asarray(gaps**2 / 4 / (1 + _PATIENCE * cost / max(self.asked, 100)))

    def _new_pairs(self, many: int, leader: int | None, rng: np.random.Generator) -> Ints:
        """Random pairs; every other one is the leader's, on one more question."""
        n = self.problem.items
        first, second = rng.integers(n, size=many), rng.integers(n - 1, size=many)
        pairs = np.column_stack([first, second + (second >= first)])
        if leader is not None:
            pairs[::2] = self.pool.items[leader]
        return pairs

    def _to_register(self, leader: int | None, rows: Ints) -> Ints:
        if leader is None:
            return np.zeros(0, np.int64)
        key = _key(self.pool.items[leader])
        before = self._size.get(key)
        again = before is None or self.pool.samples[leader] >= _AGAIN * before
        return np.flatnonzero(rows == leader)[:1] if again else np.zeros(0, np.int64)

    def accept(self, plan: Plan) -> None:
        """Note what a plan, just made or from the log, asks."""
        first, second = plan.ints("first"), plan.ints("second")
        questions, repeats = plan.ints("questions"), plan.ints("repeats")
        cells = list(zip(first.tolist(), second.tolist(), questions.tolist(), strict=True))
        new = [at for at, cell in enumerate(dict.fromkeys(cells)) if cell not in self._row]
        if new:
            fresh = np.array([list(dict.fromkeys(cells))[at] for at in new])
            self._add(fresh[:, :2], fresh[:, 2])
        self._rows = np.array([self._row[cell] for cell in cells])
        self.drawn += int(plan.facts.get("new", 0))
        self.asked += 2 * int(repeats.sum())
        for row in plan.ints("register").tolist():
            pair = _key((first[row], second[row]))
            self._size[pair] = max(float(self.pool.samples[self._rows[row]]), 1.0)

    def _add(self, items: Ints, questions: Ints) -> None:
        excess = self.pool.size + len(questions) - _MOST
        replaced = self.pool.least(max(excess, 0))
        if len(replaced):
            gone = set(replaced.tolist())
            self._row = {cell: row for cell, row in self._row.items() if row not in gone}
        rows = self.pool.add(items, questions, replaced)
        for (a, b), q, row in zip(items.tolist(), questions.tolist(), rows.tolist(), strict=True):
            self._row[a, b, q] = row

    def learn(self, plan: Plan, tally: Tally) -> None:
        """Take in what came back."""
        counts = tally.counts.reshape(2, -1).T.astype(np.float64)
        sums = tally.sums.reshape(2, -1).T
        rows, place = np.unique(self._rows, return_inverse=True)
        total = np.zeros((2, len(rows), 2))
        np.add.at(total[0], place, counts)
        np.add.at(total[1], place, sums)
        self.pool.record(rows, total[0], total[1])
        self.noise.record(np.tile(plan.ints("questions"), 2), tally)

    def forget(self, items: Ints) -> None:
        """Give up every candidate on this pair."""
        same = (np.sort(self.pool.items, axis=1) == np.sort(items)).all(axis=1)
        self.pool.give_up(np.flatnonzero(same))


def dealt(questions: int, root: int, start: int, many: int) -> Ints:
    """Questions drawn without replacement; when all are out, they are shuffled again.

    >>> sorted(dealt(3, root=5, start=3, many=3).tolist())
    [0, 1, 2]
    """
    rounds = range(start // questions, (start + many) // questions + 1)
    decks = [np.random.default_rng([root, 1, each]).permutation(questions) for each in rounds]
    begin = start % questions
    return np.concatenate(decks)[begin : begin + many]


def _shrunk_means(counts: Floats, sums: Floats) -> Floats:
    """The means of both sides, each with one more answer at the middle between them.

    The bet is a little smaller than the answers suggest: means of few answers lie too far apart.
    """
    middle = (sums / np.maximum(counts, 1)).mean(axis=-1, keepdims=True)
    return np.asarray((sums + middle) / (counts + 1))


def _key(items: Ints | tuple[int, int]) -> tuple[int, int]:
    return (int(min(items)), int(max(items)))


def _middle(problem: Problem) -> float:
    ends = problem.kind.low, problem.kind.high
    return sum(ends) / 2 if np.isfinite(ends).all() else 0.0
