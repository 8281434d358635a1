"""The yardstick: what a certificate costs if the gap is told.

The constants are plain choices, not tuned: a guess cannot make a label wrong, only more
expensive.
"""

from __future__ import annotations

import math

import numpy as np

from askfew.algorithms.frugal.claim.pooled import HIGH, LOW, PooledClaim
from askfew.algorithms.frugal.claim.pooled_certificate import pooled_finding
from askfew.algorithms.frugal.guess.pooled.history import History, Tuning
from askfew.algorithms.frugal.guess.pooled.hunt import Target
from askfew.algorithms.frugal.guess.pooled.sides import Sides
from askfew.algorithms.frugal.method import nothing_to_ask, run_claim
from askfew.answers import AnswerKind, Number
from askfew.errors import InvalidInput
from askfew.evidence import log_evidence, nine_digits
from askfew.plans import Plan
from askfew.records import Batch, Finding, Floats, Ints, Problem, Procedure, Tally

__all__ = ["told_gap"]

_DISCARD = -0.5
"""Log likelihood ratio below which a candidate pair is dropped for the next."""
_ODDS = 30.0
"""A pair is believed to differ at these odds times the pairs tried, so that about one believed pair
in this many is false."""
_LESS = 0.75
"""A question whose gap is clearly below this share of the one told has a gap of its own."""


def told_gap(
    problem: Problem, delta: float, rng: np.random.Generator, *, gap: float
) -> Procedure[Finding]:
    """Label items by frugal's claim, with a guess that is told the gap.

    So all labels are right with probability at least 1 - delta. The ``gap``, in the answers' units,
    is the largest of any question. The guess runs one sequential test after another on random
    pairs, believes the first that is accepted, and labels with bets on exactly that gap. For yes/no
    and scale answers the levels are taken as middle +- gap/2. In practice nobody knows the gap: the
    ratio of a method's cost to this one is the price of not knowing it.
    """
    if not (math.isfinite(gap) and gap > 0):
        raise InvalidInput(
            "gap must be a positive number", gap, "pass by how much the groups differ"
        )
    if problem.items == 2:
        return nothing_to_ask(delta, 2)
    claim = PooledClaim(problem, delta)
    return run_claim(claim, _Told(claim, int(rng.integers(2**63)), gap), pooled_finding)


class _Told:
    """The guess: tests of random pairs, then sides that lie the gap apart.

    It follows the plan that is carried out, also if it came from the log.
    """

    def __init__(self, claim: PooledClaim, root: int, gap: float) -> None:
        self.claim, self.gap = claim, gap
        self.history = History(claim.problem, claim.delta, root, Tuning())
        self.sides: _ToldSides | None = None
        self.over = False
        self._root = root
        self._deck: tuple[int, Ints] | None = None
        self._take_pair(0)

    def propose(self) -> Plan:
        """Label if there is a question to do it by, else one answer of each item of the pair."""
        if self.over:
            return Plan("end")
        if self.sides is not None:
            return self.sides.propose()
        why = f"search: pair {self._number + 1} on question {self._question}"
        questions, ones = np.full(2, self._question), np.ones(2, dtype=np.int64)
        return Plan(
            "search",
            {"why": why, "number": self._number},
            {"items": self._pair, "questions": questions, "repeats": ones},
        )

    def accept(self, plan: Plan) -> None:
        """Take over the pair and the question of the plan."""
        if plan.kind == "search":
            self.sides = None
            if self._number != plan.facts["number"]:
                self._take_pair(int(plan.facts["number"]))
        elif plan.kind == "label":
            question = int(plan.facts["question"])
            if self.sides is None or self.sides.question != question:
                self.sides = self._label_by(question, np.array(plan.facts["pair"], dtype=np.int64))

    def learn(self, plan: Plan, batch: Batch, tally: Tally) -> None:
        """Take in what a plan brought, and see what comes next."""
        self.history.record(plan, batch.questions, tally)
        if self.sides is None:
            self._weigh(tally)
            return
        self.sides.learn(plan, tally)
        if (end := self.sides.end()) is not None:
            self.sides, self.over = None, end != "futile"
            self._take_pair(self._number + 1)

    def _weigh(self, tally: Tally) -> None:
        """Believe the pair, go on with it, or take the next."""
        self._counts += tally.counts
        self._sums += tally.sums
        ratio = -math.inf
        if tally.counts.all():
            answers = self.claim.problem.kind
            ratio = float(nine_digits(_two_sided(answers, self.gap, self._counts, self._sums)))
        if ratio >= self._enough:
            self.sides = self._label_by(self._question, self._pair)
        elif ratio < _DISCARD:
            self._take_pair(self._number + 1)

    def _label_by(self, question: int, pair: Ints) -> _ToldSides:
        counts, sums = (column[pair] for column in self.history.looks_at(question))
        means = _levels(self.claim.problem.kind, self.gap, sums / np.maximum(counts, 1))
        return _ToldSides(self.history, self.claim, Target(question, pair, counts, means))

    def _take_pair(self, number: int) -> None:
        """Random items, and the next question of a deck that is dealt again and again."""
        self._number = number
        self._enough = float(nine_digits(math.log(_ODDS * (number + 2))))
        # Seeded by the pair's number, so that a replay may begin at any pair.
        rng = np.random.default_rng([self._root, 2, number])
        self._pair: Ints = rng.choice(self.claim.problem.items, 2, replace=False)
        deal, card = divmod(number, self.claim.problem.questions)
        if self._deck is None or self._deck[0] != deal:
            self._deck = (deal, self.history.deck(deal))
        self._question = int(self._deck[1][card])
        self._counts, self._sums = np.zeros((2, 2))


class _ToldSides(Sides):
    """Sides that lie as far apart as was told, unless the question's gap is clearly smaller."""

    def _means(self, high: Floats, counts: Floats, sums: Floats) -> Floats:
        if self._below(_LESS):
            return super()._means(high, counts, sums)
        answers, middle = self.history.problem.kind, float(self.mean.mean())
        told = middle + self.hoped * np.array([-0.5, 0.5])
        if not isinstance(answers, Number):
            return told
        expected = (1 - high) * told[LOW] + high * told[HIGH]
        return np.asarray(told + (sums - counts * expected).sum() / max(float(counts.sum()), 1.0))


def _two_sided(answers: AnswerKind, gap: float, counts: Floats, sums: Floats) -> float:
    """Log likelihood ratio of "they differ by the gap, either way" to "they do not differ"."""
    low_high = _middle(answers) + gap * np.array([-0.5, 0.5])
    (a, b), (x, r) = counts, sums
    down, up = log_evidence(answers, low_high, low_high[::-1], x, a, r, b)
    return float(np.logaddexp(up, down)) - math.log(2)


def _levels(answers: AnswerKind, gap: float, means: Floats) -> Floats:
    """What the pair's items answer, if they lie the gap apart."""
    middle = float(means.mean()) if isinstance(answers, Number) else _middle(answers)
    return middle + math.copysign(gap / 2, means[1] - means[0]) * np.array([-1.0, 1.0])


def _middle(answers: AnswerKind) -> float:
    return 0.0 if isinstance(answers, Number) else (answers.low + answers.high) / 2
