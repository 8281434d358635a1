r"""The claim of panels that cover all items: two groups, and every answer may count.

Before the first answer all items are dealt into *panels* of at most twelve, and the panels are
joined two by two, like the leaves of a tree, up to a root that holds all items. Every *node* tests
the partitions of its items into at most two blocks: a panel all of them, a join those that its two
children have left, put together in both ways. The nats against a partition are added up over
Batches, blocks and questions by the many-sample evidence (``askfew.evidence.samples``), whose
guesses the Batch froze. Bets know only earlier Batches, so no answers need to be kept apart for
exploring. Which items are bet on is frozen as well: one item on the wrong side would cost all.

*Why it is right.* Each node has one true partition, that of its items into the two groups. Items of
a true block have equal means on every question, so the evidence against it is an e-process and ever
reaches ``log(1/a)`` with probability at most ``a``. The root has ``_ROOT_PART`` of delta and the
other nodes share the rest: with probability at least ``1 - delta`` no node ever excludes its true
partition. Then by induction up the tree the truth is a candidate at every node at all times: it is
left at both children, and one of the two ways to put them together is the true one. (It remains so
if a child drops what its parent has dropped.) What *all* partitions that a node has left agree on,
"these two are in one group" or "they are not", is therefore true. Only that is published, and only
once both groups have an item; a member on whom they do not agree is left out and blocks nobody.
The panels and the tree are fixed before the first answer, so choosing them costs nothing of delta.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from askfew.algorithms.frugal.claim.ledger import Ledger, refused
from askfew.answers import AnswerKind, Number
from askfew.evidence import nine_digits
from askfew.evidence.samples import samples_evidence
from askfew.plans import Plan
from askfew.records import Batch, Floats, Ints, Snapshot, Tally
from askfew.wording import counted

__all__ = ["PLACES", "Cover", "Node"]

PLACES = 12
"""Most items of a panel: it then has 2048 partitions."""
_ROOT_PART = 0.5
"""The root's share of delta. It is large because an item has most others to be compared with there.
A plain choice; any fixed share is valid."""
_MOST = 50_000
"""Most partitions that a join may begin with: more would take seconds."""
_STARTS = {0: 0.5, 5: 0.3, 9: 0.2}
"""Batches from which evidence is counted, and their weights. The average of e-processes is an
e-process; the later starts forget what was lost while items were presumed on the wrong side. That
costs one to two nats. With one answer per cell .62 of the items were certified without it, .82 with
it (12 worlds)."""


_Answers = tuple[Floats, Floats, Floats]
"""Guesses, sums and counts (items x questions of some Batches)."""


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
    nats: Floats = field(default_factory=lambda: np.zeros(0))
    """Against each of them."""

    def __post_init__(self) -> None:
        if self.children is None:
            many = np.arange(1 << (len(self.members) - 1))
            bits = (many[:, np.newaxis] << 1 >> np.arange(len(self.members))) & 1
            self._begin(1 - 2 * bits)

    def _begin(self, sides: Ints) -> None:
        self.sides, self.nats = sides.astype(np.int8), np.zeros(len(sides))

    @property
    def broken(self) -> bool:
        """Whether every partition is excluded: a member is in no group, or a rare accident."""
        return self.sides is not None and not len(self.sides)

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

    def weigh(self, kind: AnswerKind, spells: Sequence[_Answers]) -> None:
        """Exclude partitions by all answers; ``spells`` has them from one start to the next."""
        if self.sides is None or not len(self.sides):
            return
        first = self.sides > 0
        total = np.tile(np.log(list(_STARTS.values()))[:, np.newaxis], len(first))
        for start, spell in enumerate(spells):
            mine = [each[self.members] for each in spell]
            for inside in (first, ~first):
                # A process sees the answers from its own start on.
                total[: start + 1] += samples_evidence(kind, inside, *mine)
        highest = total.max(axis=0)
        self.nats = highest + np.log(np.exp(total - highest).sum(axis=0))
        self._keep(nine_digits(self.nats) < self.needed)

    def _keep(self, left: NDArray[np.bool_]) -> None:
        assert self.sides is not None
        self.sides, self.nats = self.sides[left], self.nats[left]

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


@dataclass(frozen=True, eq=False)
class _Asked:
    """What was fixed when a Batch was made."""

    batch: Batch
    columns: Ints
    """Columns of the deck that the Batch asks, sorted."""
    guesses: Floats
    """Means that are bet (all items x questions of the Batch)."""
    betting: Ints
    """Items whose answers count. Nobody knows yet where the others belong; their answers would only
    blur the evidence."""


class Cover:
    """Evidence and labels of all items, by panels that were dealt before the first answer."""

    def __init__(self, ledger: Ledger, delta: float, order: Ints) -> None:
        self.ledger, self.problem, self.delta = ledger, ledger.problem, delta
        many = math.ceil(len(order) / PLACES)
        self.root_delta = delta * (_ROOT_PART if many > 1 else 1.0)
        self.node_delta = delta - self.root_delta
        self.root_needed = math.log(1 / self.root_delta)
        self.node_needed = math.log((2 * many - 2) / self.node_delta) if many > 1 else 0.0
        lone = self.node_needed if many > 1 else self.root_needed
        self.panels = [Node(each, lone) for each in np.array_split(order, many)]
        self.nodes = list(self.panels)
        """Children before their parents; the last is the root."""
        level = list(self.panels)
        while len(level) > 1:
            above = [self._join(a, b) for a, b in zip(level[::2], level[1::2], strict=False)]
            self.nodes += above
            level = above + level[2 * len(above) :]
        self.root = self.nodes[-1]
        self.root.needed = self.root_needed
        self.labels: Ints = np.full(self.problem.items, -1)
        self.used = np.zeros(len(ledger.deck), dtype=np.int64)
        self._past: list[_Answers] = []
        """The answers that were bet on; Batches from one start to the next are one entry."""
        self._batches = 0
        self.ended: Plan | None = None
        """The plan that ended the run, if one did; it says how much the questions carry."""
        self._asked: _Asked | None = None

    def _join(self, one: Node, other: Node) -> Node:
        members = np.concatenate([one.members, other.members])
        return Node(members, self.node_needed, (one, other))

    @property
    def misfits(self) -> Ints:
        """Members of panels that have no partition left: one of them fits neither group."""
        lost = [panel.members for panel in self.panels if panel.broken]
        return np.sort(np.concatenate(lost)) if lost else np.zeros(0, dtype=np.int64)

    @property
    def needed(self) -> float:
        """Nats that exclude a partition anywhere in the tree."""
        return max(self.root_needed, self.node_needed)

    @property
    def over(self) -> bool:
        """Whether every item has a label, or a plan ended the run."""
        return self.ended is not None or bool((self.labels >= 0).all())

    def ask(self, plan: Plan) -> Batch | None:
        """The Batch of a plan, or None if it ends the run; what it bets is frozen with it."""
        if plan.kind == "end":
            self.ended = plan
            return None
        items, columns, repeats = self.ledger.rows(plan)
        asked, who = np.unique(columns), np.unique(items)
        guesses = np.zeros((self.problem.items, len(asked)))
        guesses[who] = plan.floats("guesses", len(who) * len(asked)).reshape(len(who), -1)
        kind, bet = self.problem.kind, guesses[who]
        if not isinstance(kind, Number) and ((bet < kind.low) | (bet > kind.high)).any():
            raise refused("guesses must lie on the scale", "others")
        whom, what = counted(len(who), "item"), counted(len(asked), "question")
        why = f"{plan.kind}: {whom} on {what}"
        batch = Batch(items, self.ledger.deck[columns], repeats, why, self.known(plan.kind))
        bets = plan.ints("bets")
        if bets.shape != who.shape:
            raise refused("a plan must say of every item whether it bets", str(bets.shape))
        self._asked = _Asked(batch, asked, guesses, who[bets > 0])
        return batch

    def settle(self, tally: Tally) -> None:
        """Count the answers of the last Batch, and label what may be labelled."""
        asked = self._asked
        assert asked is not None, "settle answers an open Batch"
        self._asked = None
        self.ledger.record(asked.batch, tally)
        counts, sums = np.zeros(asked.guesses.shape), np.zeros(asked.guesses.shape)
        column = np.searchsorted(self.ledger.deck[asked.columns], asked.batch.questions)
        counts[asked.batch.items, column] = tally.counts
        sums[asked.batch.items, column] = tally.sums
        self.used[asked.columns] += counts.sum(axis=0).astype(np.int64)
        # The plan named the items that bet before they answered. So it is no choice by value that
        # the others' answers are left out.
        idle = np.setdiff1d(np.arange(self.problem.items), asked.betting)
        counts[idle], sums[idle] = 0, 0
        self._remember((asked.guesses, sums, counts))
        # Children come before their parents, because a join starts from what its children have
        # left. The way back takes what a parent has excluded down to its children.
        for node in self.nodes:
            node.open()
            node.weigh(self.problem.kind, self._past)
            node.agree()
        for node in reversed(self.nodes):
            node.agree()
        self._label()

    def _remember(self, now: _Answers) -> None:
        if self._batches in _STARTS:
            self._past.append(now)
        else:
            p, y, n = (np.hstack(each) for each in zip(self._past[-1], now, strict=True))
            self._past[-1] = p, y, n
        self._batches += 1

    def _label(self) -> None:
        """Take the labels of the node that labels most items, if both groups have an item there."""
        best = np.zeros(self.problem.items, dtype=np.int64)
        for node in self.nodes:
            surely = node.surely()
            if surely.min() < 0 < surely.max() and abs(surely).sum() >= abs(best).sum():
                best[:] = 0
                best[node.members] = surely
        known = np.where(self.labels >= 0, 1 - 2 * self.labels, 0)
        if known @ best < 0 or (not known @ best and best[np.argmax(best != 0)] < 0):
            best = -best  # a group keeps its number
        self.labels = np.where(best == 0, -1, (1 - best) // 2)

    @property
    def doubtful(self) -> Ints:
        """Items without a label."""
        return np.flatnonzero(self.labels < 0)

    def known(self, phase: str) -> Snapshot:
        """The snapshot for people."""
        return Snapshot(phase, self.labels.copy())


def _codes(sides: NDArray[np.int8]) -> NDArray[np.void]:
    """One value for each partition, the same whichever block is called the first."""
    turned = np.ascontiguousarray(sides * sides[:, :1])
    return turned.view(np.dtype((np.void, turned.shape[1]))).ravel()
