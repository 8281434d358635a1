"""The heuristics of CERTIFY: which items get a round next, how much is bet, which are given up.

If the share of errors is bounded (e-BH), every further label makes the others cheaper. So an item
is not asked any more once it has the evidence that it needs if all candidates are labelled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from askfew.algorithms.rule.claim.rounds import HIGH, LOW, Certification
from askfew.algorithms.rule.tuning import Tuning
from askfew.answers import AnswerKind, Number
from askfew.errors import InvalidPlan
from askfew.plans import Plan
from askfew.records import Floats, Ints, WhyUndecided
from askfew.rule import Node

__all__ = ["Chooser", "default_limit"]

_REASONS: tuple[WhyUndecided, ...] = ("between", "few-answers")
"""A plan writes a reason as its place in here, so the order must stay."""


@dataclass
class Chooser:
    """Chooses the next plan from what the items have scored so far."""

    state: Certification
    limit: int | None
    """The most answers about one item; None for ``default_limit``, with less at each node."""
    tuning: Tuning
    at_work: Callable[[], int] | None = None
    """Says how many people are answering just now; None if that is not known."""
    spent: Ints = field(init=False)
    left: dict[int, WhyUndecided] = field(init=False, default_factory=dict)
    """The items that were given up, and why."""

    def __post_init__(self) -> None:
        n, nodes = self.state.problem.items, len(self.state.nodes)
        self.rounds = np.zeros((n, nodes))
        self.totals = np.zeros((n, nodes))
        """Sums of the rounds' mean scores (items x nodes)."""
        self.squares = np.zeros((n, nodes))
        """Sums of the variances within rounds (items x nodes)."""
        self.spent = np.zeros(n, dtype=np.int64)
        self.typical = [_typical(node, self.state.problem.kind) for node in self.state.nodes]
        own = self.limit is None
        self.most = float(
            default_limit(self.state, self.tuning) if self.limit is None else self.limit
        )
        self.most_at_node = [
            self.tuning.at_node * _needed(self.state, node) if own else math.inf
            for node in range(nodes)
        ]

    def learn(self) -> None:
        """Take in the rounds that the last Batch completed."""
        for done in self.state.settled:
            np.add.at(self.rounds[:, done.node], done.items, 1)
            np.add.at(self.totals[:, done.node], done.items, done.scores.mean(axis=1))
            np.add.at(self.squares[:, done.node], done.items, done.scores.var(axis=1))
            np.add.at(self.spent, done.items, done.scores.shape[1])

    def accept(self, plan: Plan) -> None:
        """Note whom a plan gives up; it may be new or from the log."""
        left, why = plan.ints("left"), plan.ints("why")
        n = self.state.problem.items
        if (
            left.shape != why.shape
            or not ((left >= 0) & (left < n)).all()
            or not ((why >= 0) & (why < len(_REASONS))).all()
        ):
            raise InvalidPlan(
                "a plan must give up items of the problem, each for a reason that is known",
                f"{len(left)} items and {len(why)} reasons",
                "fix the guess that made it",
            )
        for item, place in zip(left.tolist(), why.tolist(), strict=True):
            self.left[item] = _REASONS[place]

    def propose(self) -> Plan:
        """A plan of rounds for every item that needs one; it is empty if none does."""
        leaving: dict[int, WhyUndecided] = {}
        while True:
            items = self._running(leaving)
            target = self._target(items)
            work = self._work(items, target)
            items, work = items[work >= 0], work[work >= 0]
            hopeless = {
                item: why
                for node in np.unique(work).tolist()
                for item, why in self._hopeless(items[work == node], node, target)
            } or self._slow(items, work, target)
            if not hopeless:
                return self._plan(items, work, target, leaving)
            leaving |= hopeless  # fewer labels need more evidence each, so look again

    def _plan(
        self, items: Ints, work: Ints, target: float, leaving: dict[int, WhyUndecided]
    ) -> Plan:
        low, high = np.zeros(len(items)), np.zeros(len(items))
        for node in np.unique(work).tolist():
            here = work == node
            low[here], high[here] = self._bets(items[here], node, target)
        times = self._all_times(items, work, target, low, high, whole=False)
        if self.at_work is not None and self._answers(work, times) < self._wanted(self.at_work()):
            times = self._all_times(items, work, target, low, high, whole=True)
        columns = {
            "items": np.repeat(items, times),
            "nodes": np.repeat(work, times),
            "low": np.repeat(low, times),
            "high": np.repeat(high, times),
            "left": np.array(list(leaving), dtype=np.int64),
            "why": np.array([_REASONS.index(each) for each in leaving.values()], dtype=np.int64),
        }
        return Plan("round", {}, columns)

    def _answers(self, work: Ints, times: Ints) -> int:
        """How many answers these rounds ask for."""
        sizes = np.array([len(node.questions) for node in self.state.nodes])
        return int((sizes[work] * times).sum())

    def _wanted(self, people: int) -> int:
        """How many answers keep this many people busy."""
        return self.tuning.turns * people

    def _running(self, leaving: dict[int, WhyUndecided]) -> Ints:
        """Items without a label that have not been given up."""
        items = self.state.open_items
        gone = np.array([*self.left, *leaving], dtype=np.int64)
        return items[~np.isin(items, gone)]

    def _target(self, running: Ints) -> float:
        """Nats that a label would need if all candidates got one."""
        state = self.state
        if state.error == "any":
            return state.strict
        there = np.concatenate([np.flatnonzero(state.leaf >= 0), running])
        leaf, _ = state.best_leaf(there)
        labels = int(state.one_group[leaf].sum()) + state.waiting
        return state.strict - math.log(max(labels, 1))

    def _work(self, items: Ints, target: float) -> Ints:
        """The node to ask each item about: the first below the target on its path, or -1."""
        work = np.full(len(items), -1)
        self._walk(self.state.rule.root, items, np.arange(len(items)), work, target)
        return work

    def _walk(
        self, at: Node | tuple[int, ...], items: Ints, places: Ints, work: Ints, target: float
    ) -> None:
        if not isinstance(at, Node) or not len(places):
            return
        # By identity: two nodes of a tree may be equal.
        node = next(k for k, each in enumerate(self.state.nodes) if each is at)
        evidence = self.state.evidence[items[places], node]
        short = evidence.max(axis=1) < target
        work[places[short]] = node
        high = evidence[:, HIGH] >= evidence[:, LOW]
        self._walk(at.low, items, places[~short & ~high], work, target)
        self._walk(at.high, items, places[~short & high], work, target)

    def _hopeless(
        self, items: Ints, node: int, target: float
    ) -> Iterator[tuple[int, WhyUndecided]]:
        """Items to give up: their cells are full, they do not answer, or they are near the cut."""
        few = ~self.state.has_room(items, node) | (self.state.dropped[items] > 0)
        # An item is also given up if its cells are too full: even if every further answer were in
        # its favour, it would not reach the target.
        few |= self.state.evidence[items, node].max(axis=1) + self._most_gain(items, node) < target
        near = self._beyond(items, node, target, np.asarray(self.most - self.spent[items], float))
        for item, silent in zip(items[few | near], few[few | near], strict=True):
            yield int(item), "few-answers" if silent else "between"

    def _slow(self, items: Ints, work: Ints, target: float) -> dict[int, WhyUndecided]:
        """Items beyond the limit of their node, unless these are few.

        Few cost little and may yet be decided. Many are a sign that the rule fits the items badly:
        they would use up what the nodes below and the other items need.
        """
        slow: list[int] = []
        for node in np.unique(work).tolist():
            here = items[work == node]
            spent = self.rounds[here, node] * len(self.state.nodes[node].questions)
            slow += here[self._beyond(here, node, target, self.most_at_node[node] - spent)].tolist()
        near = sum(why == "between" for why in self.left.values()) + len(slow)
        few = near <= self.tuning.few_slow * len(self.state.certifying)
        return {} if few else dict.fromkeys(slow, "between")

    def _beyond(
        self, items: Ints, node: int, target: float, left: Floats
    ) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Whether items will need more than the answers that are left to them."""
        questions = len(self.state.nodes[node].questions)
        tried = self.rounds[items, node] >= max(
            self.tuning.patience, self.tuning.patient_answers / questions
        )
        return np.asarray(
            (questions > left) | (tried & (self._forecast(items, node, target) > left))
        )

    def _most_gain(self, items: Ints, node: int) -> Floats:
        """Nats that the rounds for which there is room can add at most, at the largest bets."""
        at, kind = self.state.nodes[node], self.state.problem.kind
        cells = np.ix_(items, np.array(at.questions))
        rounds = np.floor((self.state.room[cells] - self.state.used[cells]).min(axis=1))
        if isinstance(kind, Number):
            return np.asarray(np.where(rounds > 0, np.inf, 0.0))  # one number may decide
        gain = _best_gain(kind, at, self.state.lines[node], *self.state.bet_limits(node))
        return np.asarray(np.maximum(rounds, 0.0) * float(gain.max()))

    def _forecast(self, items: Ints, node: int, target: float) -> Floats:
        """Answers that the items still need, if they are one standard error luckier than so far."""
        at = self.state.nodes[node]
        low, high = self.state.lines[node]
        _, variance = self.typical[node]
        rounds = self.rounds[items, node]
        mean = self.totals[items, node] / np.maximum(rounds, 1)
        spread = (variance + self.squares[items, node]) / (rounds + 1)
        far = np.maximum(mean - high, low - mean)
        luck = np.sqrt(spread / (len(at.questions) * (rounds + 0.5)))
        hopeful = np.maximum(far + luck, 1e-6)
        left = target - self.state.evidence[items, node].max(axis=1)
        # Evidence grows by about mean^2 / (2 variance) an answer at the best bet.
        return np.asarray(left / (hopeful**2 / (2 * spread)))

    def _all_times(
        self, items: Ints, work: Ints, target: float, low: Floats, high: Floats, *, whole: bool
    ) -> Ints:
        """How many rounds each item begins at once."""
        times = np.ones(len(items), dtype=np.int64)
        for node in np.unique(work).tolist():
            here = work == node
            bets = low[here], high[here]
            times[here] = self._times(items[here], node, target, *bets, whole=whole)
        return times

    def _times(
        self, items: Ints, node: int, target: float, low: Floats, high: Floats, *, whole: bool
    ) -> Ints:
        """How many rounds to begin at once: half of what an item needs if every answer favours it.

        That wastes nothing, because it cannot be decided earlier, and it saves Batches. Only half,
        because bets improve from one Batch to the next; the ``whole`` where people would wait.
        """
        if isinstance(self.state.problem.kind, Number):
            # One number can be arbitrarily large, so a single round may decide.
            return np.ones(len(items), dtype=np.int64)
        at = self.state.nodes[node]
        gain = _best_gain(self.state.problem.kind, at, self.state.lines[node], low, high)
        gain = np.maximum(gain, 1e-9)
        luckiest = ((target - self.state.evidence[items, node]) / gain).min(axis=1)
        most = np.minimum(luckiest, self.tuning.most_at_once)
        times = np.maximum(np.ceil(most) if whole else most / 2, 1).astype(np.int64)
        left = (self.most - self.spent[items]) // len(at.questions)
        times = np.minimum(times, np.maximum(left, 1)).astype(np.int64)
        while not (room := self.state.has_room(items, node, times)).all():
            times = np.where(room, times, np.maximum(times - 1, 1))
        return np.asarray(times)

    def _bets(self, items: Ints, node: int, target: float) -> tuple[Floats, Floats]:
        """The bets on low and high whose evidence grows fastest if the item goes on as so far."""
        (low_level, high_level), variance = self.typical[node]
        low, high = self.state.lines[node]
        prior = self.tuning.prior_rounds
        weight = self.rounds[items, node] + prior
        spread = (prior * variance + self.squares[items, node]) / weight
        total = self.totals[items, node]
        most_low, most_high = self.state.bet_limits(node)
        down = low - (prior * low_level + total) / weight
        up = (prior * high_level + total) / weight - high
        kind = self.state.problem.kind
        bets = (
            _bet(kind, self.state.nodes[node], down, spread, most_low),
            _bet(kind, self.state.nodes[node], up, spread, most_high),
        )
        if isinstance(kind, Number):
            return bets
        best_down, best_up = self._best_scores(node)
        need = target + self.tuning.spare - self.state.evidence[items, node]
        return (
            self._stretched(bets[LOW], best_down, need[:, LOW], most_low),
            self._stretched(bets[HIGH], best_up, need[:, HIGH], most_high),
        )

    def _best_scores(self, node: int) -> tuple[Floats, Floats]:
        """What the best possible answers score for low and for high, question by question."""
        kind = self.state.problem.kind
        assert not isinstance(kind, Number)
        at, (low, high) = self.state.nodes[node], self.state.lines[node]
        weights, cuts = np.array(at.weights), np.array(at.cuts)
        ends = np.stack([weights * (kind.low - cuts), weights * (kind.high - cuts)])
        return low - ends.min(axis=0), ends.max(axis=0) - high

    def _stretched(self, bets: Floats, best: Floats, need: Floats, most: float) -> Floats:
        """Slightly larger bets, where perfect rounds would then reach the target a round earlier.

        The growth of evidence is flat at its largest: a bet a little too large costs next to
        nothing, and a round saved is worth a lot where few are needed.
        """
        rounds = np.ceil(need / _perfect(bets, best)) - 1
        largest = np.minimum(self.tuning.stretch * bets, most)
        worth = (rounds >= 1) & (rounds <= self.tuning.lucky_rounds)
        worth &= rounds * _perfect(largest, best) >= need
        wanted = need[worth] / rounds[worth]
        bet = bets[worth]
        # Newton's steps from below stay below, because the evidence is concave in the bet. Three
        # come close enough for ``spare``.
        for _ in range(3):
            slope = (best / (1 + np.outer(bet, best))).sum(axis=1)
            bet = bet + (wanted - _perfect(bet, best)) / slope
        stretched = bets.copy()
        stretched[worth] = np.minimum(bet, largest[worth])
        return stretched

    def reasons(self) -> dict[int, WhyUndecided]:
        """Why each item to be certified has no label."""
        state = self.state
        merged = [place for place, leaf in enumerate(state.rule.leaves) if len(leaf) > 1]
        reasons: dict[int, WhyUndecided] = {
            int(item): "not-told-apart" for item in np.flatnonzero(np.isin(state.leaf, merged))
        }
        for item in state.certifying[state.leaf[state.certifying] < 0].tolist():
            reasons[item] = self.left.get(item, "few-answers")
        return reasons


def _best_gain(
    kind: AnswerKind,
    node: Node,
    lines: tuple[float, float],
    low: Floats | float,
    high: Floats | float,
) -> Floats:
    """Nats for low and for high (bets x 2) of a round in which every answer favours that side."""
    weights, cuts = np.array(node.weights), np.array(node.cuts)
    ends = np.stack([weights * (kind.low - cuts), weights * (kind.high - cuts)])
    up = np.log1p(np.outer(high, ends.max(axis=0) - lines[1])).sum(axis=1)
    down = np.log1p(np.outer(low, lines[0] - ends.min(axis=0))).sum(axis=1)
    return np.stack([down, up], axis=1)


def _bet(kind: AnswerKind, node: Node, mean: Floats, spread: Floats, most: float) -> Floats:
    if isinstance(kind, Number):
        square = float(np.mean(np.square(node.weights)))
        return np.asarray(np.maximum(mean, 0) / (square * kind.sigma**2))
    # Kelly's bet to second order: it maximises the mean of bet z - bet^2 z^2 / 2.
    return np.asarray(np.clip(mean / (spread + mean**2), 0, most))


def _perfect(bets: Floats, best: Floats) -> Floats:
    """The evidence of a round in which every answer is the best possible one."""
    return np.asarray(np.maximum(np.log1p(np.outer(bets, best)).sum(axis=1), 1e-9))


def _typical(node: Node, kind: AnswerKind) -> tuple[tuple[float, float], float]:
    """The scores of typical items of both sides, and the variance of one answer's score."""
    weights, cuts = np.array(node.weights), np.array(node.cuts)
    square = float(np.mean(weights**2))
    if isinstance(kind, Number):
        variance = square * kind.sigma**2
        return node.levels or (-math.sqrt(variance), math.sqrt(variance)), variance
    width = kind.high - kind.low
    # Nothing is known about a cut that the user gave. The values are for yes/no items that say yes
    # with .85 or .15: .7 of the way from .5 to an end, and a variance of about .15.
    ends = np.sort(np.stack([weights * (kind.low - cuts), weights * (kind.high - cuts)]), axis=0)
    guess = 0.7 * float(ends[0].mean()), 0.7 * float(ends[1].mean())
    return node.levels or guess, square * 0.15 * width**2


def default_limit(state: Certification, tuning: Tuning) -> float:
    """Enough answers to decide an item half-way between the cut and its group's level."""
    nodes = [_needed(state, node) for node in range(len(state.nodes))]
    longest = max(sum(nodes[node] for node, _ in path) for path in state.paths)
    return math.ceil(tuning.generous * longest)


def _needed(state: Certification, node: int) -> float:
    """Answers that an item half-way between cut and level needs at one node, in whole rounds."""
    at = state.nodes[node]
    (low, high), variance = _typical(at, state.problem.kind)
    half = min(-low, high) / 2
    rate = half**2 / (2 * (variance + half**2))
    # With an error share the threshold falls with the labels; that half of the items get one is a
    # plain choice, which makes log(2 nodes / delta) of e-BH's log(items nodes / (labels delta)).
    count = max(len(state.certifying), 1) * len(state.nodes)
    nats = math.log((count if state.error == "any" else 2 * len(state.nodes)) / state.delta)
    return math.ceil(nats / rate / len(at.questions)) * len(at.questions)
