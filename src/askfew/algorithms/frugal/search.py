"""SEARCH: two items and a question with a confirmed difference.

Candidates are drawn at random and compete; only the confirmation of a leader costs error
probability, so how they compete may be any heuristic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from askfew.algorithms.frugal.course import Course
from askfew.algorithms.frugal.deck import Deck
from askfew.algorithms.frugal.levels import labelling_cost
from askfew.algorithms.frugal.pool import Pool, shrunk_means
from askfew.algorithms.frugal.prospects import Payoff, prospects
from askfew.algorithms.frugal.rounds import plan_round
from askfew.evidence import log_evidence, nine_digits
from askfew.records import Batch, Floats, Ints, Known, Procedure, Tally
from askfew.wording import counted

__all__ = ["Pair", "Search", "search"]

_LEAST = 6
"""Samples in the smallest round."""
_MOST = 2**16
"""Candidates kept; beyond it new ones take the place of the least promising."""
_TWINS = 8
"""Candidates kept for each that there is, in small problems."""
_NEW = 0.2
"""Share of a round that goes to new candidates in any case: what looks promising may not be."""
_PATIENCE = 0.3
"""How much the cost of labelling by a small gap counts against it in the search."""
_SHALLOW = 16
"""Samples that any candidate may be given to confirm it."""
_DEEP = 5.0
"""More than that, this many times the answers asked so far for each item.

A pair that needs many samples promises a long labelling: look around before following it down."""
_AGAIN = 4
"""A leader sampled to this many times its size at registration is registered anew."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two items confirmed to differ on a question, and how: evidence reached and evidence needed.

    ``counts`` and ``sums`` are the answers of either item that confirmed it.
    """

    items: Ints
    question: int
    q: int
    evidence: float
    needed: float
    counts: Floats
    sums: Floats


@dataclass
class Registration:
    """The e-process of a registered candidate: it sees only answers asked after registration."""

    row: int
    q: int
    size: float
    evidence: float = 0.0
    counts: Floats = field(default_factory=lambda: np.zeros(2))
    sums: Floats = field(default_factory=lambda: np.zeros(2))


@dataclass
class Search:
    """What the search knows; it goes on from here when a pair proves useless."""

    pool: Pool
    deck: Deck
    registrations: dict[int, Registration] = field(default_factory=dict)
    asked: int = 0

    @classmethod
    def begin(cls, course: Course) -> Search:
        """An empty pool and a full deck of questions."""
        return cls(Pool(course.problem.answers), Deck(course.problem.questions, course.rng))

    def forget(self, items: Ints) -> None:
        """Give up every candidate on this pair of items, and all their registrations."""
        rows = np.flatnonzero((np.sort(self.pool.items, axis=1) == np.sort(items)).all(axis=1))
        self.pool.give_up(rows)
        for row in rows.tolist():
            self.registrations.pop(row, None)


def search(course: Course, state: Search) -> Procedure[Pair]:
    """Sample candidates, register leaders, and return the first pair that is confirmed."""
    pool = state.pool
    while True:
        budget = max(_LEAST, math.ceil(course.options.growth * state.asked / 2))
        now = prospects(pool, _payoff(course, state), course.noise)
        most = max(_SHALLOW, _DEEP * state.asked / course.problem.items)
        rows, sizes, leader = plan_round(pool, now, math.ceil((1 - _NEW) * budget), most)
        if leader is not None:
            _register(course, state, leader)
        fresh, size = _draw(course, state, budget - int(sizes.sum()), rows, leader)
        rows, sizes = np.append(rows, fresh), np.append(sizes, np.full(len(fresh), size))
        bets = shrunk_means(pool.counts[rows], pool.sums[rows])
        state.asked += 2 * int(sizes.sum())
        tally = yield from course.ask(_batch(course, pool, rows, sizes, leader))
        counts, sums = by_side(tally)
        pool.record(rows, counts, sums)
        confirmed = _count_evidence(course, state, rows, bets, counts, sums)
        if confirmed is not None:
            return confirmed


def _payoff(course: Course, state: Search) -> Payoff:
    """What one sample of a candidate is worth, by its gap in sigmas.

    Its evidence, a quarter of the squared gap; but the less, the more labelling by such a gap would
    cost than what has been spent so far: then it pays to look for a larger one first.
    """
    items = course.problem.items - 2
    threshold = math.log(items / (course.delta_pair))

    def payoff(gaps: Floats) -> Floats:
        cost = labelling_cost(gaps, items, threshold)
        return gaps**2 / 4 / (1 + _PATIENCE * cost / max(state.asked, 100))

    return payoff


def by_side(tally: Tally) -> tuple[Floats, Floats]:
    """Counts and sums as columns, one a side (a Batch asks all first items, then all second)."""
    return tally.counts.reshape(2, -1).T.astype(np.float64), tally.sums.reshape(2, -1).T


def _draw(
    course: Course, state: Search, samples: int, planned: Ints, leader: int | None
) -> tuple[Ints, int]:
    """New candidates, two random items and a dealt question, and how often to sample each.

    Every other one is put to the items of the leader: if they differ, more questions tell them
    apart, and the hunt will want to know which does so best.
    """
    n, d = course.problem.items, course.problem.questions
    most = min(_MOST, _TWINS * n * (n - 1) // 2 * d)
    size = -(-samples // (most // 4))
    many = samples // max(size, 1)
    first, second = course.rng.integers(n, size=many), course.rng.integers(n - 1, size=many)
    pairs = np.column_stack([first, second + (second >= first)])
    if leader is not None:
        pairs[::2] = state.pool.items[leader]
    excess = state.pool.size + many - most
    if excess <= 0:
        return state.pool.add(pairs, state.deck.deal(many)), size
    replaced = state.pool.least(excess, spared=planned)
    for row in replaced.tolist():
        state.registrations.pop(row, None)
    return state.pool.add(pairs, state.deck.deal(many), replaced), size


def _register(course: Course, state: Search, leader: int) -> None:
    """Open an e-process for the leader, or a new one if it has long had one in vain."""
    size = float(state.pool.samples[leader])
    before = state.registrations.get(leader)
    if before is None or size >= _AGAIN * before.size:
        course.registered += 1
        evidence = evidence_at_registration(state.pool, leader)
        state.registrations[leader] = Registration(leader, course.registered, size, evidence)


def evidence_at_registration(pool: Pool, leader: int) -> float:  # noqa: ARG001
    """None: the answers that made it lead were chosen for looking different."""
    return 0.0


def _count_evidence(
    course: Course, state: Search, rows: Ints, bets: Floats, counts: Floats, sums: Floats
) -> Pair | None:
    """Add this round's blocks to the registered candidates; the first that is confirmed, if any."""
    position = {row: index for index, row in enumerate(rows.tolist())}
    for row, registration in state.registrations.items():
        if (at := position.get(row)) is None:
            continue
        (a, b), (x, r), (guess_x, guess_r) = counts[at], sums[at], bets[at]
        block = log_evidence(course.problem.answers, guess_x, guess_r, x, a, r, b)
        registration.evidence += float(block)
        registration.counts += counts[at]
        registration.sums += sums[at]
        needed = evidence_needed(registration.q, course.delta_pair)
        if nine_digits(registration.evidence) >= nine_digits(needed):
            return _pair(state.pool, registration, needed)
    return None


def evidence_needed(q: int, delta_pair: float) -> float:
    """What the q-th registered candidate must reach; 1/(q (q+1)) sums to 1 over all q."""
    return math.log(q * (q + 1) / delta_pair)


def _pair(pool: Pool, registration: Registration, needed: float) -> Pair:
    row = registration.row
    return Pair(
        pool.items[row].copy(),
        int(pool.questions[row]),
        registration.q,
        registration.evidence,
        needed,
        registration.counts.copy(),
        registration.sums.copy(),
    )


def _batch(course: Course, pool: Pool, rows: Ints, sizes: Ints, leader: int | None) -> Batch:
    items, questions = pool.items[rows], pool.questions[rows]
    why = f"search: compare {counted(len(rows), 'pair')} of items"
    if leader is not None:
        why += f", mostly {pool.items[leader].tolist()} on question {pool.questions[leader]}"
    return Batch(
        items.T.ravel(),
        np.tile(questions, 2),
        np.tile(sizes, 2),
        why,
        Known("search", np.full(course.problem.items, -1)),
    )
