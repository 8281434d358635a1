"""A node of the tree of panels: which partitions of its items are left, and the nats against each.

Two bets are weighed against every partition, and the e-process is their average:

- *Presumed sides*: the means that the plan guessed for the items it is sure of, by the many-sample
  evidence (``askfew.evidence.samples``). It is counted from several starts.
- *One item misplaced*, for yes/no answers: for each member, that it alone is in the wrong block, by
  conditional evidence (``askfew.evidence.conditional``), averaged over the members. The levels of
  the blocks come from the partition itself, so no guess is needed and every answer counts, also
  those of the first Batch. The average costs the logarithm of the number of members, once.

Far from the truth a partition is excluded by the first kind, next to it by the second.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from askfew.answers import AnswerKind, YesNo
from askfew.evidence import nine_digits
from askfew.evidence.conditional import conditional_evidence
from askfew.evidence.samples import samples_evidence
from askfew.records import Floats, Ints

__all__ = ["Node", "Round"]

_MOST = 50_000
"""Most partitions that a join may begin with: more would take seconds."""
_STARTS = {0: 0.5, 5: 0.3, 9: 0.2}
"""Batches from which presumed sides are counted, and their weights. The average of e-processes is
an e-process; the later starts forget what was lost while items were presumed on the wrong side.
That costs one to two nats. With one answer per cell and no bets on a misplaced item .62 of the
items were certified without it, .82 with it (12 worlds); with such bets .943 and .974 (24 worlds,
seed 5000)."""
_MISPLACED = 0.5
"""The weight of the bets on a misplaced item. With one answer per cell (24 worlds, seed 5000) they
certified .950 of the items at .5 and .941 at .8; without them .908 (24 worlds, seed 4000, where .5
gave .954)."""
_LUCK = 3.0
"""Odds, before anything is asked, against a question that tells the blocks apart. 1.5 made no
difference (.958 instead of .950 in 24 worlds)."""


@dataclass(frozen=True, eq=False)
class Round:
    """The answers to a Batch, and what was bet on them (all items x questions of the Batch)."""

    guesses: Floats
    betting: NDArray[np.bool_]
    """Items whose guesses are bet (one for each item)."""
    sums: Floats
    counts: Floats
    all_sums: Floats
    """All answers to these questions so far, the new ones included."""
    all_counts: Floats


@dataclass(eq=False)
class Node:
    """Partitions of some items into at most two blocks that are not excluded."""

    members: Ints
    needed: float
    """Nats at which a partition is excluded."""
    children: tuple[Node, Node] | None = None
    sides: NDArray[np.int8] | None = None
    """Partitions left (partitions x members): +1 for the first member's block, -1 for the other;
    None while the children have left too many.
    """
    _presumed: Floats = field(init=False)
    """Nats against each by presumed sides, counted from each start (starts x partitions)."""
    _misplaced: Floats = field(init=False)
    """Nats against each by the bet that one member is misplaced (members x partitions)."""
    _rounds: int = 0
    """How many rounds are weighed."""

    def __post_init__(self) -> None:
        if self.children is None:
            many = np.arange(1 << (len(self.members) - 1))
            bits = (many[:, np.newaxis] << 1 >> np.arange(len(self.members))) & 1
            self._begin(1 - 2 * bits)

    def _begin(self, sides: Ints) -> None:
        self.sides = sides.astype(np.int8)
        self._presumed = np.zeros((len(_STARTS), len(sides)))
        self._misplaced = np.zeros(sides.T.shape)

    @property
    def broken(self) -> bool:
        """Whether every partition is excluded: a member is in no group, or a rare accident."""
        return self.sides is not None and not len(self.sides)

    @property
    def broken_below(self) -> bool:
        """Whether a node below this one is broken."""
        below = self.children or ()
        return any(child.broken or child.broken_below for child in below)

    def open(self) -> None:
        """Put together what the children have left, if that is not too much."""
        if self.children is None or self.sides is not None:
            return
        if any(child.broken for child in self.children):
            return
        one, other = (child.sides for child in self.children)
        if one is None or other is None or 2 * len(one) * len(other) > _MOST:
            return
        first = np.repeat(one, len(other), axis=0)
        last = np.tile(other, (len(one), 1))
        both = np.concatenate([np.hstack([first, last]), np.hstack([first, -last])])
        self._begin(both)

    def weigh(self, kind: AnswerKind, rounds: Sequence[Round]) -> None:
        """Exclude partitions by all answers; a join that opens late catches up."""
        if self.sides is None:
            return
        first = (self.sides > 0).astype(np.float64)
        for at in range(self._rounds, len(rounds)):
            started = np.array(list(_STARTS)) <= at
            self._presumed[started] += self._against_presumed(first, kind, rounds[at])
            if isinstance(kind, YesNo):
                self._bet_on_misplaced(first, rounds[at])
        self._rounds = len(rounds)
        self._keep(nine_digits(self._nats(kind)) < self.needed)

    def _nats(self, kind: AnswerKind) -> Floats:
        """Against each partition, by both kinds of bets."""
        weights = np.array(list(_STARTS.values()))[:, np.newaxis]
        presumed = _log_sum(self._presumed + np.log(weights), axis=0)
        if not isinstance(kind, YesNo):
            return presumed
        misplaced = _log_sum(self._misplaced, axis=0) - math.log(len(self.members))
        return np.logaddexp(math.log(1 - _MISPLACED) + presumed, math.log(_MISPLACED) + misplaced)

    def _against_presumed(self, first: Floats, kind: AnswerKind, now: Round) -> Floats:
        # The plan named the items that bet before they answered. So it is no choice by value that
        # the others' answers are left out: nobody knew where those items belong.
        bet = now.betting[self.members, np.newaxis]
        guesses, sums, counts = (each[self.members] for each in (now.guesses, now.sums, now.counts))
        against = [
            samples_evidence(kind, block, guesses, sums * bet, counts * bet)
            for block in (first, 1 - first)
        ]
        return against[0] + against[1]

    def _bet_on_misplaced(self, first: Floats, now: Round) -> None:
        sums, counts, all_sums, all_counts = (
            each[self.members] for each in (now.sums, now.counts, now.all_sums, now.all_counts)
        )
        told, odds = _apart(first, all_sums, all_counts)
        assert self.sides is not None
        within = np.ascontiguousarray(self.sides.T > 0)
        for q, (yes, many) in enumerate(zip(sums.T, counts.T, strict=True)):
            blocks = [
                (psi, block @ yes, block @ many)
                for block, psi in ((first, odds[:, q]), (1 - first, 1 / odds[:, q]))
            ]
            # Members who answered alike are weighed alike.
            for y, n in sorted({(y, n) for y, n in zip(yes, many, strict=True) if n}):
                nats = []
                for psi, block_yes, block_many in blocks:
                    # Partitions that have none of them in this block do not use the result; the
                    # block must be large enough all the same.
                    room = np.maximum(block_many, n)
                    given = conditional_evidence(psi, int(y), int(n), block_yes, room)
                    nats.append(np.log1p(told[:, q] * np.expm1(given)))
                for member in np.flatnonzero((yes == y) & (many == n)):
                    self._misplaced[member] += np.where(within[member], *nats)

    def _keep(self, left: NDArray[np.bool_]) -> None:
        assert self.sides is not None
        self.sides = self.sides[left]
        self._misplaced, self._presumed = self._misplaced[:, left], self._presumed[:, left]

    def agree(self) -> None:
        """Drop here what a child has excluded, and at the children what is excluded here."""
        if self.children is None or self.sides is None:
            return
        if self.broken or any(child.broken for child in self.children):
            return
        start = 0
        for child in self.children:
            end = start + len(child.members)
            mine = _codes(self.sides[:, start:end])
            assert child.sides is not None
            theirs = _codes(child.sides)
            child._keep(np.isin(theirs, mine))
            self._keep(np.isin(mine, theirs))
            start = end

    def surely(self) -> NDArray[np.int8]:
        """For each member: surely like one chosen member (1), surely unlike it (-1), or open (0).

        The chosen member is the one that most others can be compared with.
        """
        if self.sides is None or not len(self.sides):
            return np.zeros(len(self.members), dtype=np.int8)
        sides = self.sides.astype(np.float64)
        # Sums of +1 and -1 over partitions: all agree where the absolute sum is their number.
        alike = sides.T @ sides
        sure = np.where(abs(alike) == len(sides), np.sign(alike), 0).astype(np.int8)
        return np.asarray(sure[int(np.argmax(abs(sure).sum(axis=1)))])


def _log_sum(nats: Floats, axis: int) -> Floats:
    """The logarithm of a sum; the largest is taken out, so that nothing overflows."""
    most = nats.max(axis=axis, keepdims=True)
    return np.asarray(np.log(np.exp(nats - most).sum(axis=axis)) + most.squeeze(axis))


def _apart(first: Floats, sums: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """The chance that each question tells the blocks apart, and by what the odds of a yes differ.

    Sums and counts are members x questions, ``first`` and both results partitions x members or
    questions. The odds are those of the second block over those of the first.
    """
    s1, n1 = first @ sums, first @ counts
    s2, n2 = sums.sum(axis=0) - s1, counts.sum(axis=0) - n1
    # The evidence for two levels over one, both with Jeffreys' prior. Tables, because the numbers
    # are whole and there are many partitions.
    whole = np.arange(counts.sum(axis=0).max())
    beside, all_of_them = (np.cumsum(np.r_[0.0, np.log(whole + add)]) for add in (0.5, 1.0))

    def level(yes: Floats, many: Floats) -> Floats:
        yes, many = yes.astype(np.int64), many.astype(np.int64)
        return np.asarray(beside[yes] + beside[many - yes] - all_of_them[many])

    bayes = level(s1, n1) + level(s2, n2) - level(s1 + s2, n1 + n2)
    odds = (s2 + 0.5) * (n1 - s1 + 0.5) / ((n2 - s2 + 0.5) * (s1 + 0.5))
    return 1 / (1 + _LUCK * np.exp(-bayes)), odds


def _codes(sides: NDArray[np.int8]) -> NDArray[np.void]:
    """One value for each partition, the same whichever block is called the first."""
    turned = np.ascontiguousarray(sides * sides[:, :1])
    return turned.view(np.dtype((np.void, turned.shape[1]))).ravel()
