r"""The claim of panels that cover all items: two groups, and every answer may count.

Before the first answer all items are dealt into *panels* of at most twelve, and the panels are
joined two by two, like the leaves of a tree, up to a root that holds all items. Every *node* tests
the partitions of its items into at most two blocks: a panel all of them, a join those that its two
children have left, put together in both ways. The nats against a partition are added up over
Batches, blocks and questions (``nodes``). No answers need to be kept apart for exploring: what is
bet on an item's answers was frozen with the Batch, or depends on the answers of a partition's
blocks only through how many of them are yes.

*Why it is right.* Each node has one true partition, that of its items into the two groups. Items of
a true block have equal means on every question, so the evidence against it is an e-process and ever
reaches ``log(1/a)`` with probability at most ``a``. The root has ``_ROOT_PART`` of delta and the
other nodes share the rest: with probability at least ``1 - delta`` no node ever excludes its true
partition. Then by induction up the tree the truth is a candidate at every node at all times: it is
left at both children, and one of the two ways to put them together is the true one. (It remains so
if a child drops what its parent has dropped.) What *all* partitions that a node has left agree on,
"these two are in one group" or "they are not", is therefore true. Only that is published, and only
once both groups have an item; a member on whom they do not agree is left out and blocks nobody.
Where a node has no partition left, one of its members is in neither group. All of them are set
aside, and nodes that share a member with it give no labels: they have no true partition either.
The panels and the tree are fixed before the first answer, so choosing them costs nothing of delta.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askfew.algorithms.frugal.claim.ledger import Ledger, refused
from askfew.algorithms.frugal.claim.nodes import Node, Round
from askfew.answers import Number
from askfew.plans import Plan
from askfew.records import Batch, Floats, Ints, Snapshot, Tally
from askfew.wording import counted

__all__ = ["PLACES", "Cover"]

PLACES = 12
"""Most items of a panel: it then has 2048 partitions."""
_ROOT_PART = 0.5
"""The root's share of delta. It is large because an item has most others to be compared with there.
A plain choice; any fixed share is valid."""


@dataclass(frozen=True, eq=False)
class _Asked:
    """What was fixed when a Batch was made."""

    batch: Batch
    columns: Ints
    """Columns of the deck that the Batch asks, sorted."""
    guesses: Floats
    """Means that are bet (all items x questions of the Batch)."""
    betting: NDArray[np.bool_]
    """Items whose guesses are bet. Nobody knows yet where the others belong."""


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
        self._rounds: list[Round] = []
        self.ended: Plan | None = None
        """The plan that ended the run, if one did; it says how much the questions carry."""
        self._asked: _Asked | None = None

    def _join(self, one: Node, other: Node) -> Node:
        members = np.concatenate([one.members, other.members])
        return Node(members, self.node_needed, (one, other))

    @property
    def misfits(self) -> Ints:
        """Members of nodes that have no partition left: one of them fits neither group.

        Of such nodes above each other the lowest counts, because it names the fewest.
        """
        lost = [node.members for node in self.nodes if node.broken and not node.broken_below]
        return np.unique(np.concatenate(lost)) if lost else np.zeros(0, dtype=np.int64)

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
        betting = np.isin(np.arange(self.problem.items), who[bets > 0])
        self._asked = _Asked(batch, asked, guesses, betting)
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
        so_far = self.ledger.sums[:, asked.columns], self.ledger.counts[:, asked.columns]
        all_sums, all_counts = (each.astype(np.float64) for each in so_far)
        self._rounds.append(Round(asked.guesses, asked.betting, sums, counts, all_sums, all_counts))
        # Children come before their parents, because a join starts from what its children have
        # left. The way back takes what a parent has excluded down to its children.
        for node in self.nodes:
            node.open()
            node.weigh(self.problem.kind, self._rounds)
            node.agree()
        for node in reversed(self.nodes):
            node.agree()
        self._label()

    def _label(self) -> None:
        """Take the labels of the node that labels most items, if both groups have an item there.

        No node with a misfit among its members labels: it has no true partition, so nothing is
        proven about what its partitions agree on.
        """
        best = np.zeros(self.problem.items, dtype=np.int64)
        misfits = self.misfits
        for node in self.nodes:
            if np.isin(node.members, misfits).any():
                continue
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
