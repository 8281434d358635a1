"""The phases that find all groups and exclude every item from all groups but one.

SEARCH     the first pair: candidates compete, and a leader is registered
HUNT       questions that tell the groups found so far apart, by how questions look (``beliefs``)
CLASSIFY   find the group that each item fits. An item that fits no group found so far is bet on by
           its own answers, so that it soon represents the next group (``step``)
SCREEN     every item fits and a group is missing: ask items known questions that are new to them
PROBE      the same, with questions that have not told any groups apart yet
LABEL      all groups are found: ask every item the questions that exclude it soonest (``step``)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from askfew.algorithms.frugal.claim.exclusion import REASONS, Exclusion
from askfew.algorithms.frugal.guess.candidates import Noise, Pool, plan_round, posterior
from askfew.algorithms.frugal.guess.exclusion.beliefs import KNOWN, Beliefs
from askfew.algorithms.frugal.guess.exclusion.history import History
from askfew.algorithms.frugal.guess.exclusion.step import LabelStep, exclude_plan
from askfew.plans import Plan
from askfew.records import Batch, Floats, Ints, Problem, Tally

__all__ = ["Chooser", "PairSearch"]

# Where no other measurement is named: values found by trial. What they cost is in
# benchmarks/groups.md; tests/algorithms/frugal/test_costs.py fails if a change costs more.
_HOPE = 0.03
"""A question is not hunted any more below this probability to tell the groups apart."""
_DEEP = 24
"""Most answers of a representative to a question that is still unclear."""
_HUNT = 0.5
"""Hunting may cost at most this share of what labelling is expected to cost."""
_SCREEN = 0.3
"""The share of the items that one screening asks."""
_PROBE = 0.04
"""Answers of a probe as a share of those so far."""
_AUTO = 1.0
"""If the number of groups is not told, the search for more ends when it has cost this multiple of
all other answers."""
_FAULT, _ATTEMPTS = 0.25, 4
"""If more than this share of the items is left, another pair is tried; four pairs at most."""
_WHY = ("few-answers", "not-told-apart")
"""Why a silent item has no label, and why any other item has none."""

# Those of the search for the first pair.
_LEAST = 6
"""Samples in the smallest round."""
_GROWTH = 0.07
"""A round's samples as a share of those so far."""
_NEW = 0.2
"""Share of a round that goes to new candidates in any case."""
_PATIENCE = 0.3
"""How much the cost of labelling by a small gap counts against the gap."""
_SHALLOW, _DEEPER = 16, 5.0
"""Samples that any candidate may be given; or ``_DEEPER`` times the answers per item, if more."""
_AGAIN = 4
"""A pair sampled to this many times its size at registration is registered anew."""
_MOST = 2**16
"""Candidates kept; beyond it new ones take the place of the least promising."""
_NONE = np.zeros(0, dtype=np.int64)


class Chooser:
    """Proposes the next plan; what it knows comes from plans and Tallies alone."""

    def __init__(self, claim: Exclusion, root: int) -> None:
        self.claim, self.root = claim, root
        self.history = History(claim.problem)
        self.pairs = PairSearch(claim.problem, claim.delta_pair, root)
        self.steps = 0
        self.pair = _NONE
        """The last pair that was confirmed."""

    def accept(self, plan: Plan) -> None:
        """Note a plan, just made or from the log."""
        self.steps += 1
        if plan.kind == "compare":
            self.pairs.accept(plan)
        elif plan.kind == "restart":
            self.pairs.forget(self.pair)

    def learn(self, plan: Plan, batch: Batch, tally: Tally) -> None:
        """Take in what came back on a plan, after the claim has."""
        phase = "search" if plan.kind == "compare" else str(plan.facts.get("phase"))
        self.history.record(batch, tally, phase)
        if plan.kind == "exclude":
            # In a hunt the representatives are the items that are asked.
            first = 0 if phase == "hunt" else len(plan.ints("items"))
            self.history.listen(batch, tally, slice(first, None))
            return
        self.pairs.learn(plan, tally)
        if self.claim.confirmed is not None:
            self.pair = np.array(self.claim.confirmed.items)

    def propose(self) -> Plan:
        """The next plan."""
        rng = np.random.default_rng([self.root, 2, self.steps])
        if not self.claim.groups.found:
            return self.pairs.propose(rng)
        if self.claim.done:
            return self._end()
        now = Beliefs.of(self.claim, self.history)
        if not len(now.open):
            return self._end()
        hunt = self._hunt(now, _HUNT * now.expected, rng)
        if hunt is not None:
            return hunt
        step = LabelStep(self.claim, self.history, now).plan()
        if step is not None:
            return step
        if self.claim.groups.complete:
            return self._hunt(now, math.inf, rng) or self._end()
        return self._look_further(now, rng)

    def _hunt(self, now: Beliefs, allowed: float, rng: np.random.Generator) -> Plan | None:
        """Representatives on questions that may tell them apart; None if none seems worth it."""
        claim, tells = self.claim, now.shapes.differs
        counts = now.counts
        least = counts.min(axis=0)
        due = np.flatnonzero((tells < KNOWN) & (tells > _HOPE) & (least < _DEEP))
        if self.history.spent.get("hunt", 0) >= allowed:
            due = _NONE
        # Known questions on which a group has hardly been heard come first.
        unheard = now.known[least[now.known] < 2]
        noisy = _best_first(tells[due], rng)
        many = max(4, math.ceil(0.06 * self.history.asked / claim.groups.found))
        chosen = np.unique(np.concatenate([unheard, due[noisy][:many]]))
        if not len(chosen):
            return None
        target = np.where(least[chosen] < 2, 2, least[chosen] + np.maximum(1, least[chosen] // 3))
        wanted = np.maximum(target - counts[:, chosen], 0).astype(np.int64)
        group, at = np.nonzero(wanted)
        items, questions = np.array(claim.groups.representatives)[group], chosen[at]
        cells = zip(items.tolist(), questions.tolist(), strict=True)
        heard = np.array([not self.history.is_silent(*cell) for cell in cells], dtype=bool)
        if not heard.any():
            return None
        rows = items[heard], questions[heard], wanted[group, at][heard]
        return exclude_plan(self.claim, "hunt", *rows)

    def _look_further(self, now: Beliefs, rng: np.random.Generator) -> Plan:
        """Look for a missing group: screen, probe, or stop if the number was not told."""
        looked = self.history.looked
        if self.claim.groups.told is None and looked > _AUTO * (self.history.asked - looked):
            return Plan("close")
        return self._screen(now, rng) or self._probe(now, rng)

    def _screen(self, now: Beliefs, rng: np.random.Generator) -> Plan | None:
        """Items on known questions they have not answered yet: a new group would differ on one."""
        row, column = np.nonzero(now.asked == 0)
        if not len(row):
            return None
        order = np.lexsort([rng.random(len(row)), now.asked.sum(axis=0)[column]])
        _, first = np.unique(row[order], return_index=True)
        order = order[np.sort(first)][: math.ceil(_SCREEN * len(now.open))]
        items, questions = now.open[row[order]], now.known[column[order]]
        return exclude_plan(self.claim, "screen", items, questions, np.ones(len(order), np.int64))

    def _probe(self, now: Beliefs, rng: np.random.Generator) -> Plan:
        """Items on questions that may have two sides, of which the groups found are on one."""
        worth = np.where(now.shapes.tells >= KNOWN, 0.0, now.shapes.tells)
        many = max(8, math.ceil(_PROBE * self.history.asked))
        best = _best_first(worth, rng)[: max(2, many // 12)]
        items = rng.choice(now.open, size=(len(best), min(6, len(now.open))))
        cells = np.unique(items * self.claim.problem.questions + best[:, None])
        items, questions = np.divmod(cells, self.claim.problem.questions)
        return exclude_plan(self.claim, "probe", items, questions, np.full(len(items), 2))

    def _end(self) -> Plan:
        """End the run, or start again with another pair if many items are left.

        Many items that cannot be told apart are a sign that the first pair was a bad one.
        """
        claim = self.claim
        left = claim.groups.open_items
        missing = len(left) - int(self.history.silent[left].sum()) + len(claim.groups.misfits)
        if missing > _FAULT * claim.problem.items and claim.attempt < _ATTEMPTS:
            return Plan("restart")
        why = np.where(self.history.silent[left], *(REASONS.index(each) for each in _WHY))
        return Plan("end", {}, {"left": left, "why": why.astype(np.int64)})


def _best_first(scores: Floats, rng: np.random.Generator) -> Ints:
    """The order of the scores, best first, ties in random order."""
    return np.asarray(np.lexsort([rng.random(len(scores)), -scores.round(6)]), dtype=np.int64)


@dataclass
class PairSearch:
    """What the search for the first pair knows, from plans and what came back alone.

    Candidates (two items and a question) and rounds are those of two groups
    (``guess/candidates.py``). Here a leader is registered with all its questions, so that the claim
    can confirm it.
    """

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
            most = max(_SHALLOW, _DEEPER * self.asked / self.problem.items)
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
