"""CERTIFY: complete rounds of fresh answers against a frozen rule, and the labels they give.

A round asks an item every question of one node once. Its two bets (one for each side) come from a
plan that was made before any of its answers; a plan may begin several rounds of an item at once.
What is missing when the Batch comes back is asked again, and nobody sees the values that came
before the round is complete. A round that stays incomplete after ``TRIES`` is left out whole; this
assumes that skips do not depend on the answer. An item with an open round gets no label.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from askfew.errors import InvalidPlan
from askfew.evidence import nine_digits
from askfew.evidence.decisions import Error, label_threshold
from askfew.evidence.line import largest_bet, round_evidence
from askfew.plans import Plan
from askfew.records import Batch, Floats, Ints, Problem, Snapshot, Tally
from askfew.rule import Node, Rule
from askfew.wording import counted

__all__ = ["TRIES", "Certification", "Settled"]

TRIES = 3
"""Batches in which a round may be completed. A round number: with one answer in five missing, a
round of three questions fails after three tries in about 2 % of the cases."""
LOW, HIGH = 0, 1


@dataclass
class _Open:
    """Rounds of one node that are being answered; NaN where an answer is missing."""

    items: Ints
    bets: Floats
    """Low and high (items x 2)."""
    values: Floats
    """Answers (items x the node's questions)."""
    tries: int


@dataclass(frozen=True, eq=False)
class Settled:
    """Complete rounds of one node: their items, and their scores (items x questions)."""

    node: int
    items: Ints
    scores: Floats


@dataclass
class Certification:
    """Evidence and labels of all items, about one frozen rule."""

    problem: Problem
    rule: Rule
    questions: Ints
    """Where the rule's questions stand in the problem."""
    certifying: Ints
    """Items to be labelled: fixed before the first answer."""
    error: Error
    delta: float
    margin: float
    used: Ints
    """Answers of the cells (items x the rule's questions) so far, the pilot's included."""
    room: Floats
    """The caps of those cells."""
    evidence: Floats = field(init=False)
    """Nats that each item is on each side of each node (items x nodes x 2)."""
    leaf: Ints = field(init=False)
    """The leaf that each item was certified for (a place in the rule's leaves), or -1."""
    dropped: Ints = field(init=False)
    """How many rounds of each item were left out."""
    settled: list[Settled] = field(init=False, default_factory=list)
    """The rounds that the last Batch completed."""
    _open: list[list[_Open]] = field(init=False)
    _asked: list[tuple[int, _Open, Ints, Ints]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        n = self.problem.items
        self.nodes: list[Node] = self.rule.nodes
        self.lines = [node.lines(self.margin) for node in self.nodes]
        self.paths = _paths(self.rule)
        self.one_group = np.array([len(leaf) == 1 for leaf in self.rule.leaves])
        """Whether a leaf holds one group only, so that being there is a label."""
        self.evidence = np.zeros((n, len(self.nodes), 2))
        self.leaf = np.full(n, -1)
        self.dropped = np.zeros(n, dtype=np.int64)
        self._open = [[] for _ in self.nodes]
        self._waiting = np.zeros(n, dtype=bool)
        self._may = np.zeros(n, dtype=bool)
        self._may[self.certifying] = True
        self.threshold = self._threshold()

    # What may be asked.

    @property
    def open_items(self) -> Ints:
        """Items that may begin a round: to be certified, without a label or an open round."""
        return np.flatnonzero(self._may & (self.leaf < 0) & ~self._waiting)

    @property
    def waiting(self) -> int:
        """Items with an open round."""
        return int(self._waiting.sum())

    def has_room(
        self, items: Ints, node: int, rounds: Ints | int = 1
    ) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Whether every cell of this node has room for ``rounds`` more of each item."""
        cells = np.ix_(items, np.array(self.nodes[node].questions))
        wanted = self.used[cells] + np.asarray(rounds).reshape(-1, 1)
        return np.asarray((wanted <= self.room[cells]).all(axis=1))

    def bet_limits(self, node: int) -> tuple[float, float]:
        """The largest bets on low and on high."""
        at, (low, high) = self.nodes[node], self.lines[node]
        kind = self.problem.kind
        down = [-w for w in at.weights]
        return (
            largest_bet(kind, down, at.cuts, -low),
            largest_bet(kind, at.weights, at.cuts, high),
        )

    def ask(self, plan: Plan) -> Batch | None:
        """The Batch of a plan's new rounds and of what open rounds lack; None if there is none."""
        self._begin(plan)
        self._asked = []
        items, questions = [], []
        for node, rounds in enumerate(self._open):
            columns = self.questions[list(self.nodes[node].questions)]
            for each in rounds:
                row, column = np.nonzero(np.isnan(each.values))
                self._asked.append((node, each, row, column))
                items.append(each.items[row])
                questions.append(columns[column])
        if not items:
            return None
        rows = np.concatenate(items)
        who = counted(int(np.unique(rows).size), "item")
        return Batch(
            rows,
            np.concatenate(questions),
            np.ones(len(rows), dtype=np.int64),
            f"certify: a round for {who}",
            self.known(),
        )

    def _begin(self, plan: Plan) -> None:
        """Check every field of the plan, and open its rounds."""
        items, nodes = plan.ints("items"), plan.ints("nodes")
        low, high = plan.floats("low", len(items)), plan.floats("high", len(items))
        self._check(items, nodes)
        for node in np.unique(nodes).tolist():
            here = nodes == node
            bets = np.stack([low[here], high[here]], axis=1)
            # A larger bet could make a factor negative, and the proof would end there.
            if (bets < 0).any() or (bets > self.bet_limits(node)).any():
                raise InvalidPlan(
                    f"bets must lie between 0 and {self.bet_limits(node)}",
                    f"{bets.min():g} to {bets.max():g}",
                    "fix the guess that made the plan",
                )
            whose, rounds = np.unique(items[here], return_counts=True)
            if not self.has_room(whose, node, rounds).all():
                raise InvalidPlan(
                    "every cell of a round must have room for an answer",
                    "a cell that is full",
                    "fix the guess that made the plan",
                )
            values = np.full((len(bets), len(self.nodes[node].questions)), np.nan)
            self._open[node].append(_Open(items[here], bets, values, 0))
            self._waiting[items[here]] = True

    def _check(self, items: Ints, nodes: Ints) -> None:
        inside = items.shape == nodes.shape and (
            not len(items)
            or (
                (items.min() >= 0 and items.max() < self.problem.items)
                and (nodes.min() >= 0 and nodes.max() < len(self.nodes))
            )
        )
        # A labelled item's evidence is frozen (e-BH needs that), so it may not begin a round.
        free = inside and np.isin(items, self.open_items).all()
        if not free or len(np.unique(items)) < len(np.unique(np.stack([items, nodes]), axis=1).T):
            raise InvalidPlan(
                "a plan must begin rounds for items that are open, each at one node of the rule",
                f"{len(items)} items",
                "fix the guess that made the plan",
            )

    # What the answers say.

    def settle(self, tally: Tally) -> None:
        """Take the answers in; count the rounds that are complete; label what may be labelled."""
        self.settled = []
        at = 0
        for node, rounds, row, column in self._asked:
            counts = tally.counts[at : at + len(row)]
            sums = tally.sums[at : at + len(row)]
            at += len(row)
            came = counts > 0
            rounds.values[row[came], column[came]] = sums[came]
            columns = np.array(self.nodes[node].questions)
            # Answers count towards the caps even if their round is left out later.
            np.add.at(self.used, (rounds.items[row], columns[column]), counts)
            rounds.tries += 1
            self._close(node, rounds)
        self._open = [[each for each in rounds if len(each.items)] for rounds in self._open]
        self._waiting[:] = False
        for each in (each for rounds in self._open for each in rounds):
            self._waiting[each.items] = True
        self._label()

    def _close(self, node: int, rounds: _Open) -> None:
        """Weigh complete rounds, leave out those that took too long, keep the others open."""
        complete = ~np.isnan(rounds.values).any(axis=1)
        late = ~complete & (rounds.tries >= TRIES)
        items, scores = rounds.items[complete], self._scores(node, rounds.values[complete])
        if len(items):
            self._weigh(node, items, scores, rounds.bets[complete])
            self.settled.append(Settled(node, items, scores))
        np.add.at(self.dropped, rounds.items[late], 1)
        keep = ~(complete | late)
        rounds.items, rounds.bets = rounds.items[keep], rounds.bets[keep]
        rounds.values = rounds.values[keep]

    def _scores(self, node: int, values: Floats) -> Floats:
        at = self.nodes[node]
        return np.asarray(np.array(at.weights) * (values - np.array(at.cuts)))

    def _weigh(self, node: int, items: Ints, scores: Floats, bets: Floats) -> None:
        kind, weights = self.problem.kind, self.nodes[node].weights
        low, high = self.lines[node]
        # Evidence for low is evidence for high of the mirrored scores, so one proof serves both.
        above = round_evidence(kind, scores, high, bets[:, HIGH], weights)
        below = round_evidence(kind, -scores, -low, bets[:, LOW], weights)
        np.add.at(self.evidence[:, node, HIGH], items, above)  # an item may have several rounds
        np.add.at(self.evidence[:, node, LOW], items, below)

    def for_leaves(self, items: Ints) -> Floats:
        """Nats for each leaf (items x leaves): the smallest along its path.

        A wrong leaf means a wrong side at some node of the path, so the weakest node decides.
        """
        return np.stack(
            [
                np.min([self.evidence[items, node, side] for node, side in path], axis=0)
                for path in self.paths
            ],
            axis=1,
        )

    def best_leaf(self, items: Ints) -> tuple[Ints, Floats]:
        """The leaf that each item has most evidence for, and its nats."""
        by_leaf = nine_digits(self.for_leaves(items))
        leaf = by_leaf.argmax(axis=1)
        return leaf, np.asarray(by_leaf[np.arange(len(items)), leaf])

    def _label(self) -> None:
        """Label the open items that have reached the threshold; their evidence never changes."""
        self.threshold = self._threshold()
        items = self.open_items
        leaf, best = self.best_leaf(items)
        # A leaf of several groups is no label. Nothing is claimed there, so any threshold will do.
        needed = np.where(self.one_group[leaf], self.threshold, min(self.threshold, self.strict))
        reached = best >= needed
        self.leaf[items[reached]] = leaf[reached]

    def _threshold(self) -> float:
        """Nats that a label needs now.

        Only labels count for e-BH: an item at a leaf of several groups would lower the threshold of
        the others without being one of the labels whose share of errors is bounded.
        """
        running = np.concatenate([np.flatnonzero(self.leaf >= 0), self.open_items])
        leaf, best = self.best_leaf(running)
        return self._needed(best[self.one_group[leaf]], self.error)

    @property
    def strict(self) -> float:
        """Nats that are enough for a label whatever other items get."""
        return self._needed(np.zeros(0), "any")

    def _needed(self, evidence: Floats, error: Error) -> float:
        items, nodes = max(len(self.certifying), 1), len(self.nodes)
        return label_threshold(evidence, error, self.delta, items=items, nodes=nodes)

    @property
    def labels(self) -> Ints:
        """The certified group of each item; -1 also where a leaf holds several groups."""
        groups = np.array([leaf[0] if len(leaf) == 1 else -1 for leaf in self.rule.leaves] + [-1])
        return np.asarray(groups[self.leaf])

    def known(self) -> Snapshot:
        """What is known so far, for people."""
        best = self.for_leaves(np.arange(self.problem.items)).max(axis=1)
        threshold = self.threshold if np.isfinite(self.threshold) else None
        question = int(self.questions[self.nodes[0].questions[0]])
        return Snapshot("certify", self.labels, best, threshold, question)


def _paths(rule: Rule) -> list[list[tuple[int, int]]]:
    """For each leaf, the nodes and sides on the way to it."""
    numbers = {id(node): number for number, node in enumerate(rule.nodes)}

    def below(
        at: Node | tuple[int, ...], path: list[tuple[int, int]]
    ) -> list[list[tuple[int, int]]]:
        if not isinstance(at, Node):
            return [path]
        here = numbers[id(at)]
        return below(at.low, [*path, (here, LOW)]) + below(at.high, [*path, (here, HIGH)])

    return below(rule.root, [])
