"""LABEL: guess the side of every item on the question, and decide whom to ask how often."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from askfew.algorithms.frugal.claim.pooled import HIGH, LOW, Labelling, PooledClaim
from askfew.algorithms.frugal.guess.pooled.history import History
from askfew.algorithms.frugal.guess.pooled.hunt import Target
from askfew.answers import Number
from askfew.evidence import log_evidence
from askfew.plans import Plan
from askfew.records import Floats, Ints, Tally
from askfew.wording import counted

__all__ = ["End", "Sides"]

Mask: TypeAlias = NDArray[np.bool_]
End = Literal["done", "futile", "silent"]

# Where no other measurement is named: the values of the prototype. What they cost is shown by
# `askfew bench --suite full`; tests/algorithms/frugal/test_costs.py fails if a change costs more.
_ROUNDS = 2
"""EM rounds after each step: more change nothing, the next step goes on from here."""
_MEMBERS = 5.0
"""Items that each side is thought to have beforehand. With 1, the row "one in twenty" cost 8 times
as much: a side that seems empty finds no references."""
_LEAST_GAP = 0.3
"""The fitted sides are kept at least this share of the expected gap apart."""
_FUTILE = 0.4
"""A gap clearly below this share of the expected one is not worth labelling by."""
_FLAT = 6.0
"""Nats by which one side must explain the answers better than two."""
_CLEAR = 2.0
"""Standard errors that make a gap clear."""
_STALE = 0.03
"""An item is always asked this share of what it was asked before, so that none waits for ever."""
_STRAGGLERS = 0.003
"""A step may always ask this share of all that was asked: it is cheaper than one more step."""
_LIKELY = 0.6
"""The chance of a side from which on an item may be one of its references."""
_EXTRA = 0.9
"""The chance from which on an item is asked for more than it needs itself, as a reference."""
_LATE = 4.0
"""After this many times its expected answers, an item is bet to answer as it has done so far."""
_DOUBTFUL = 12.0
"""With a tolerance, an item is given up after this many times the answers of the usual labelled
item. Where two of 60 items lie near the tolerance's edge (benchmarks/groups.md, 30 runs, seed 4000)
a run took 17,966 answers to its cap without an end, and 8,573, 4,037, 3,394 and 3,018 with 20, 12,
8 and 5. Where all items can be labelled, 12 gave up none in 60 runs, and 8 gave up one in 5 of
them."""
_SILENT = 5
"""Empty returns in a row after which an item is not asked this question any more."""
_JOINERS = 2
"""Items of each group, labelled on another question, that are labelled here too. One item is enough
to join the two questions; the others are asked in case it stays undecided."""


class Sides:
    """One labelling: presumed sides of all items on a question, and what the sides answer."""

    def __init__(self, history: History, claim: PooledClaim, target: Target) -> None:
        n = history.problem.items
        self.history, self.claim, self.target = history, claim, target
        self.question = target.question
        low = int(np.argmin(target.means))
        self.order = np.array([low, 1 - low])
        """Which of the pair's items is low, and which high."""
        self.mean: Floats = target.means[self.order].astype(np.float64)
        self.hoped = float(self.mean[HIGH] - self.mean[LOW])
        self._prior_counts, self._prior_sums = history.looks_at(self.question)
        self._prior_counts[target.pair] = target.counts
        self._prior_sums[target.pair] = target.counts * target.means
        self._counts, self._sums = np.zeros((2, n))
        self._silent = np.zeros(n, dtype=np.int64)
        self._shares = 0.0
        """Log odds that an item is high before it is asked."""
        self.heard, self.total, self._mixed = np.zeros((3, 2))
        """Counts and sums of the presumed sides' answers since labelling began, and how many of
        these answers were probably of the other side."""
        self._labelling = claim.labelling(self.question) or Labelling.begin(
            n, self.question, history.threshold
        )
        self._elsewhere = np.zeros(n, dtype=bool)
        self._joiners = np.zeros(0, dtype=np.int64)
        self._look_elsewhere()
        self.high = self._fit()

    def end(self) -> End | None:
        """Whether labelling by this question is over, and how."""
        waiting = self._waiting()
        if len(waiting) == 0:
            return "done"
        if self._below(_FUTILE) or self._flat():
            return "futile"
        return None if self._answering()[waiting].any() else "silent"

    def _answering(self) -> Mask:
        """Items that may be asked this question, and that answer."""
        answering: Mask = (self._silent < _SILENT) & ~self.doubtful()
        room = self.claim.room(self.question)
        return answering if room is None else answering & (room > 0)

    def doubtful(self) -> Mask:
        """Items that have answered many times what labelled items did, without a label here.

        Without a tolerance there are none: an item with a mean of its own is excluded from a side
        sooner or later. One that differs from both sides by hardly more than the tolerance may
        never be. It is no reference either, for it may well be presumed on the wrong side.
        """
        sides = self._labelling.sides
        both = (sides == LOW).any() and (sides == HIGH).any()
        if not self.history.tolerance or not both:
            return np.zeros(len(sides), dtype=bool)
        usual = float(np.median(self._counts[sides >= 0]))
        return np.asarray((sides < 0) & (self._counts > _DOUBTFUL * max(usual, 1)))

    def propose(self) -> Plan:
        """One step: every waiting item, and more references where its side has too few."""
        waiting = self._waiting()
        items = waiting[self._answering()[waiting]]
        chance = np.stack([1 - self.high, self.high])
        need = self._need(items, chance)
        size = np.zeros(self.history.problem.items, dtype=np.int64)
        size[items] = self._sizes(items, need)
        asked_each = size[items].copy()
        references, impurity = [], np.zeros(2)
        for side in (LOW, HIGH):
            waits = chance[1 - side, items]
            typical = float(waits @ asked_each / max(waits.sum(), 1e-9))
            self._ask_more(size, chance[side], float(waits.sum()), typical)
            who, impurity[side] = _references(size, chance[side], typical)
            references.append(who)
        roles = np.zeros_like(size)
        for side, who in enumerate(references):
            roles[who] |= 1 << side
        return self._plan(items, size, roles, impurity, float(need.sum()))

    def learn(self, plan: Plan, tally: Tally) -> None:
        """Add what a step heard, and look again at who is on which side."""
        items, roles, repeats = plan.ints("items"), plan.ints("roles"), plan.ints("repeats")
        for side, chance in ((LOW, 1 - self.high), (HIGH, self.high)):
            reference = (roles >> side & 1).astype(bool)
            asked = repeats[reference]
            wrong = asked @ (1 - chance[items[reference]]) / max(asked.sum(), 1)
            self.heard[side] += tally.counts[reference].sum()
            self.total[side] += tally.sums[reference].sum()
            self._mixed[side] += wrong * tally.counts[reference].sum()
        self._counts[items] += tally.counts
        self._sums[items] += tally.sums
        self._silent[items] = np.where(tally.counts > 0, 0, self._silent[items] + 1)
        self._labelling = self.claim.labelling(self.question) or self._labelling
        self._look_elsewhere()
        self.high = self._fit()

    def _look_elsewhere(self) -> None:
        """Note which items need no label here because another question labelled them.

        Some of them are labelled here all the same, to join the labels of the two questions.
        """
        others = [each for each in self.claim.labellings if each.question != self.question]
        if not any((each.sides >= 0).any() for each in others):
            return
        labels = self.claim.labels()
        here = self._labelling.sides >= 0
        self._elsewhere = (labels >= 0) & ~here
        self._joiners = np.zeros(0, dtype=np.int64)
        if not any((here & (each.sides >= 0)).any() for each in others):
            self._joiners = np.concatenate(
                [np.flatnonzero(self._elsewhere & (labels == group))[:_JOINERS] for group in (0, 1)]
            )

    def _waiting(self) -> Ints:
        """Items that need a label on this question."""
        open_ = (self._labelling.sides < 0) & ~self._elsewhere
        open_[self._joiners] = True
        open_[list(self._labelling.odd)] = False
        open_[self.doubtful()] = False
        return np.flatnonzero(open_)

    def _fit(self) -> Floats:
        """EM for two sides with a prior on their shares: each item's chance to be high."""
        counts, sums = self._counts + self._prior_counts, self._sums + self._prior_sums
        counts, sums = (np.where(self.doubtful(), 0.0, each) for each in (counts, sums))
        n = len(counts)
        high = self._chances(counts, sums)
        for _ in range(_ROUNDS):
            share = (high.sum() + _MEMBERS) / (n + 2 * _MEMBERS)
            self._shares = math.log(share / (1 - share))
            self.mean = self._means(high, counts, sums)
            high = self._chances(counts, sums)
        return high

    def _means(self, high: Floats, counts: Floats, sums: Floats) -> Floats:
        """What the two sides answer, if items are high with these chances."""
        means = self.mean.copy()
        for side, weight in ((LOW, 1 - high), (HIGH, high)):
            heard = float(weight @ counts)
            if heard > 0:
                means[side] = float(weight @ sums) / heard
        if means[HIGH] - means[LOW] < _LEAST_GAP * self.hoped:
            half = _LEAST_GAP * self.hoped / 2
            means = means.mean() + np.array([-half, half])
        return np.asarray(means)

    def _chances(self, counts: Floats, sums: Floats) -> Floats:
        """Each item's chance to be high, by the likelihood of its answers; labels are certain."""
        answers = self.history.problem.kind
        low, high = self.mean
        if isinstance(answers, Number):
            odds = (high - low) * (sums - counts * (low + high) / 2) / answers.sigma**2
        else:
            width = answers.high - answers.low
            p, q = np.clip((self.mean - answers.low) / width, 0.02, 0.98)
            yes = (sums - counts * answers.low) / width
            odds = yes * math.log(q / p) + (counts - yes) * math.log((1 - q) / (1 - p))
        chance = 1 / (1 + np.exp(-np.clip(odds + self._shares, -30, 30)))
        sides = self._labelling.sides
        return np.asarray(np.where(sides >= 0, sides, chance), dtype=np.float64)

    def _below(self, share: float) -> bool:
        """Whether the presumed sides' gap is clearly below this share of the expected one."""
        if (self.heard == 0).any():
            return False
        means = self.total / self.heard
        width = _CLEAR * self.history.problem.kind.sigma * math.sqrt((1 / self.heard).sum())
        pure = max(1 - float((self._mixed / self.heard).sum()), 0.2)
        return bool((means[HIGH] - means[LOW] + width) / pure < share * self.hoped)

    def _flat(self) -> bool:
        """Whether the items' answers look like one side's much more than like two sides'.

        If the pair was wrong, the sides are presumed at random. Their means never show a clear gap,
        however many answers come. But then items differ less among themselves than items of two
        sides would, and this shows.
        """
        heard = self._counts > 0
        counts, sums = self._counts[heard], self._sums[heard]
        middle = float(sums.sum() / max(counts.sum(), 1))
        share, gap = 1 / (1 + math.exp(-self._shares)), _FUTILE * self.hoped
        low, one, high = (
            self._fits(middle + shift * gap, counts, sums) for shift in (-share, 0, 1 - share)
        )
        two = np.logaddexp(low + math.log(1 - share), high + math.log(share))
        return bool((two - one).sum() < -_FLAT)

    def _fits(self, mean: float, counts: Floats, sums: Floats) -> Floats:
        """Log likelihood of each item's answers, but for what does not depend on the mean."""
        answers = self.history.problem.kind
        if isinstance(answers, Number):
            return np.asarray(mean * (sums - counts * mean / 2) / answers.sigma**2)
        width = answers.high - answers.low
        p = min(max((mean - answers.low) / width, 0.02), 0.98)
        yes = (sums - counts * answers.low) / width
        return np.asarray(yes * math.log(p) + (counts - yes) * math.log(1 - p))

    def _need(self, items: Ints, chance: Floats) -> Floats:
        """Answers each item should still need to exclude the side it does not seem to be on."""
        expected = chance[:, items].sum(axis=1)
        need = np.empty((2, len(items)))
        for side in (LOW, HIGH):
            waits = expected[1 - side]
            ratio = max(math.sqrt(max(waits, 1)), expected[side], 1.0)
            other, same = self.mean[1 - side], self.mean[side]
            rate = self._rate(other, same, ratio)
            missing = self._labelling.threshold - self._labelling.evidence[side, items]
            need[side] = np.maximum(missing, 0) / max(rate, 1e-9)
        return np.asarray(np.where(self.high[items] > 0.5, need[LOW], need[HIGH]))

    def _rate(self, mean: float, reference: float, ratio: float) -> float:
        """Nats that an answer of the one mean should bring beside ``ratio`` of the other."""
        kind, w = self.history.problem.kind, self.history.tolerance
        total = reference * ratio
        return float(log_evidence(kind, mean, reference, mean, 1.0, total, ratio, tolerance=w))

    def _sizes(self, items: Ints, need: Floats) -> Ints:
        """A share of what each item still needs, and at least one answer."""
        trifle = math.floor(min(_STRAGGLERS * self.history.asked / len(items), 1e9))
        least = np.maximum(np.minimum(trifle, need / 3), _STALE * self._counts[items])
        sizes = np.maximum(np.ceil(np.maximum(self.history.tuning.step * need, least)), 1)
        # Items that did not answer last time are asked for more, so that some answer comes.
        sizes = (sizes * (1 + self._silent[items])).astype(np.int64)
        room = self.claim.room(self.question)
        return sizes if room is None else np.minimum(sizes, room[items])

    def _ask_more(self, size: Ints, chance: Floats, waits: float, typical: float) -> None:
        """Ask the surest members of a side for more than they need, if others lack references."""
        # The root of the waiting items is the cheapest ratio (see ``History.labelling_cost``).
        members = np.flatnonzero(chance > 0.5)
        have = float(size[members] @ (2 * chance[members] - 1))
        lack = math.ceil(math.sqrt(max(waits, 1)) * typical - have)
        if lack <= 0 or waits <= 0.05:
            return
        room = self.claim.room(self.question)
        spare = self._answering() if room is None else self._answering() & (room > size)
        answering = np.where(spare, chance, 0.0)
        if not answering.any():
            return
        sure = np.flatnonzero(answering > min(_EXTRA, float(answering.max())) - 1e-12)
        asked = self._counts[sure] + self._prior_counts[sure] + size[sure]
        each = -(-lack // len(sure))
        who = sure[np.argsort(asked, kind="stable")][: -(-lack // each)]
        size[who] += each if room is None else np.minimum(each, room[who] - size[who])

    def _late(self, items: Ints) -> Ints:
        """Places of items that have taken several times the answers they should have needed."""
        rate = self._rate(self.mean[HIGH], self.mean[LOW], 1.0)
        enough = _LATE * (self._labelling.threshold / max(rate, 1e-12) + 5)
        return np.flatnonzero(self._counts[items] > enough)

    def _plan(
        self, items: Ints, size: Ints, roles: Ints, impurity: Floats, expected: float
    ) -> Plan:
        who = np.flatnonzero(size > 0)
        late = self._late(who)
        slow = who[late]
        gap = self.mean[HIGH] - self.mean[LOW]
        why = f"label: {counted(len(items), 'item')} open on question {self.question}"
        return Plan(
            "label",
            {
                "why": why,
                "question": self.question,
                "expected": expected,
                "pair": self.target.pair.tolist(),
            },
            {
                "items": who,
                "repeats": size[who],
                "roles": roles[who],
                "levels": self.mean.copy(),
                # Some references are on the wrong side: their mean lies nearer to the other one.
                "references": self.mean + gap * impurity * np.array([1.0, -1.0]),
                "late": late,
                "own": self._sums[slow] / np.maximum(self._counts[slow], 1),
            },
        )


def _references(size: Ints, chance: Floats, typical: float) -> tuple[Ints, float]:
    """The references of a side, and the share of their answers that will be the other side's.

    The surest items come first, as many as make the evidence grow fastest. More answers make their
    mean surer, but less sure items pull it towards the other side.
    """
    who = np.flatnonzero((chance > _LIKELY) & (size > 0))
    if len(who) == 0:
        who = np.flatnonzero(size > 0)
        who = who[[int(np.argmax(chance[who]))]]
    who = who[np.argsort(-chance[who], kind="stable")]
    answers = np.cumsum(size[who]).astype(np.float64)
    impurity = np.cumsum(size[who] * (1 - chance[who])) / answers
    best = int(np.argmax((1 - impurity) ** 2 / (1 + typical / answers)))
    return who[: best + 1], float(impurity[best])
