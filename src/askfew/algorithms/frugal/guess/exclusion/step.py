"""LABEL and CLASSIFY: one step asks every open item the question that tells most about it.

Questions are chosen by multiplicative weights for the covering linear program: an answer is worth
the nats it adds against each group, and a group that an item is far from excluded from counts more.
"""

from __future__ import annotations

import math

import numpy as np

from askfew.algorithms.frugal.claim.exclusion import Exclusion
from askfew.algorithms.frugal.claim.groups import Mask
from askfew.algorithms.frugal.guess.exclusion.beliefs import Beliefs, evidence_rate
from askfew.algorithms.frugal.guess.exclusion.history import History, from_units
from askfew.plans import Plan
from askfew.records import Floats, Ints

__all__ = ["LabelStep", "exclude_plan"]

# Where no other measurement is named: values found by trial. What they cost is in
# benchmarks/groups.md; tests/algorithms/frugal/test_costs.py fails if a change costs more.
_STEP = 0.25
"""A step should bring this share of the nats that are still needed."""
_EAGER = 0.35
"""The same for an item that may represent a new group."""
_CLEAR = 0.9
"""An item that fits a group with this chance is not asked again until all groups are found."""
_LONG = 16
"""Answers after which an item is not classified any further until all groups are found."""
_FOCUS = 0.7
"""How sharply the weights of the covering program follow the needs."""
_ALIKE = 0.4
"""An item may take a question worth this share of its best one, so that few questions need
references."""
_CANDIDATES = 2
"""Items at a time that are tested for representing a new group."""
_FEW = 6
"""Fewer items than this are not worth references while they are only being classified."""
_REFERENCES = 1.35
"""At gap .7 of yes and no, b references for an answer bring b / (b + 1.35) of the evidence that
known means would; so the root of this many times the items per group is the cheapest ratio."""
_WORTH = 0.01
"""Nats that an answer must bring to be worth asking. Where a variance is compared, its square."""
_VARIETY = 0.3
"""A question is worth this share more to an item that was not asked it yet: it may show a new
group."""
_PATIENCE = 6.0
"""An item is given up after this many times the answers that one of its group should need."""
_NONE = np.zeros(0, dtype=np.int64)


class LabelStep:
    """One step of all open items: a question for each, sizes, references and bets."""

    def __init__(self, claim: Exclusion, history: History, beliefs: Beliefs) -> None:
        self.claim, self.history, self.beliefs = claim, history, beliefs
        self.groups, self.k = claim.groups, claim.groups.found
        chances, items = beliefs.chances, beliefs.open
        self.new: Mask = chances[:, self.k] > 0.5
        """Items that are probably of no group found so far."""
        self.lean: Ints = chances[:, : self.k].argmax(axis=1)
        missing = np.maximum(claim.threshold - self.groups.evidence[items], 0.3)
        self.need: Floats = np.where(self.groups.excluded[items], 0.0, missing)
        """Nats that each item lacks against each group."""
        self.weights = self._weights(self.new)
        refers = self._may_refer()
        self.rates = beliefs.rates * refers.T[:, None, :]
        """Nats of an answer of an item of a group (questions x groups x groups)."""
        own, levels = beliefs.own[:, :, None], beliefs.levels.T[None]
        tolerance = history.in_units(claim.tolerance)
        self.own_rates = evidence_rate(history.unit, own, levels, 2.0, tolerance) * refers.T
        """The same of each item, by its own level (items x questions x groups)."""

    def plan(self) -> Plan | None:
        """The plan of the step, or None if no item has anything useful to answer."""
        now = self.beliefs
        if not len(now.open):
            return None
        score = self._score()
        live = score.max(axis=1) > _WORTH
        if not self.groups.complete:
            # Labels would have to wait: it is enough to see who fits where. The more was probed in
            # vain, the longer it is worth asking those who are unclear.
            patience = _LONG + self.history.looked / len(now.open)
            unclear = (now.chances.max(axis=1) < _CLEAR) & (now.asked.sum(axis=1) < patience)
            live &= np.where(self.new, self._promising(), unclear)
            score = np.where(self.new[:, None], score, self._telling())
            live &= score.max(axis=1) > _WORTH**2
        # Answers to probes say little about the item itself, so they do not count against it.
        probes = 2 * self.history.looked / len(now.open)
        live &= now.asked.sum(axis=1) <= _PATIENCE * now.answers[self.lean] + 20 + probes
        if not live.any():
            return None
        score *= 1 + _VARIETY / (1 + now.asked)
        at = np.flatnonzero(live)
        column = _few_questions(score[at])
        rate = self.rates[column, self.lean[at], :]
        rate = np.where(self.new[at][:, None], self.own_rates[at, column], rate)
        size = self._sizes(at, column, rate)
        references = self._references(at, column, rate, size)
        group = now.levels[:, column].T
        # An item that probably is of a group makes no bet against it: equal guesses add nothing.
        own = np.where(now.chances[at, : self.k] > 0.8, group, self._bets(at, column))
        phase = "label" if self.groups.complete else "classify"
        rows = now.open[at], now.known[column], size
        return exclude_plan(self.claim, phase, *rows, references, (own, group))

    def _score(self) -> Floats:
        """What an answer of each item to each question is worth."""
        chances, k = self.beliefs.chances, self.k
        among = chances[:, :k] / np.maximum(chances[:, :k].sum(axis=1, keepdims=True), 1e-300)
        score = np.einsum("xg,xh,qgh->xq", among, self.weights, self.rates, optimize=True)
        alone = self._weights(np.ones_like(self.new))
        score *= 1 - chances[:, k:]
        score += chances[:, k:] * np.einsum("xh,xqh->xq", alone, self.own_rates)
        return np.asarray(score)

    def _telling(self) -> Floats:
        """The variance of an item's level on each question, over the groups that it may be of.

        An answer tells most where this is large. A new group may be on either side.
        """
        now = self.beliefs
        known, new = now.chances[:, :-1], now.chances[:, -1:]
        wide = np.maximum(now.high - now.low, 1e-9)
        high = (now.own - now.low) / wide
        mean = known @ now.levels + new * now.own
        square = known @ now.levels**2 + new * (now.low**2 + high * (now.high**2 - now.low**2))
        return np.asarray(np.maximum(square - mean**2, 0.0))

    def _promising(self) -> Mask:
        """The few items that are most likely to represent a new group soon; the others wait."""
        now = self.beliefs
        nearest = self.groups.evidence[now.open].min(axis=1) + 5 * now.chances[:, -1]
        order = np.argsort(np.where(self.new, -nearest, np.inf), kind="stable")[:_CANDIDATES]
        chosen = np.zeros(len(self.new), dtype=bool)
        chosen[order] = True
        return chosen & self.new

    def _weights(self, new: Mask) -> Floats:
        """The weight of excluding each item from each group: largest where most is missing."""
        others = self.need.copy()
        rows = np.flatnonzero(~new)
        others[rows, self.lean[rows]] = 0.0
        most = others.max(axis=1, keepdims=True)
        weights = np.minimum(np.exp(_FOCUS * (self.need - most)), 1.0) * (self.need > 0)
        weights[most[:, 0] <= 0] = 0.0
        return np.asarray(weights)

    def _may_refer(self) -> Floats:
        """Whether a group's references answer each known question (groups x questions)."""
        known = self.beliefs.known.tolist()
        silent = [
            [self.history.is_silent(item, question) for question in known]
            for item in self.groups.representatives
        ]
        return 1.0 - np.array(silent, dtype=np.float64)

    def _sizes(self, at: Ints, column: Ints, rate: Floats) -> Ints:
        """Answers that bring a share of what is needed; few while an item's group is unclear."""
        new, need = self.new[at], self.need[at]
        target = (self.weights[at] * rate).argmax(axis=1)
        rows = np.arange(len(at))
        step = np.where(new, _EAGER, _STEP + 0.35 / math.sqrt(len(at)))
        size = np.ceil(step * need[rows, target] / np.maximum(rate[rows, target], 1e-2))
        size = np.minimum(size, np.maximum(6, self.beliefs.asked[at, column]))
        unclear = self.beliefs.chances[at].max(axis=1) < 0.75
        if not self.groups.complete:
            unclear |= ~new
        unclear |= rate[rows, target] < 0.05
        size = np.where(unclear, np.minimum(size, 1), size)
        return np.asarray(np.maximum(size, 1), dtype=np.int64)

    def _references(
        self, at: Ints, column: Ints, rate: Floats, size: Ints
    ) -> tuple[Ints, Ints, Ints, Ints]:
        """References of every group that items of a question are to be excluded from."""
        new = self.new[at][:, None]
        wanting = (self.need[at] > 0) & (rate > 0.12 * rate.max(axis=1, keepdims=True))
        wanting &= (np.arange(self.k) != self.lean[at][:, None]) | new
        parts: list[tuple[Ints, Ints, Ints, Ints]] = []
        for place in np.unique(column).tolist():
            here = column == place
            wanted = (here[:, None] & wanting).sum(axis=0)
            served = wanted > 0
            if not self.groups.complete:
                served &= (wanted >= _FEW) | (here[:, None] & wanting & new).any(axis=0)
            if not served.any():
                continue
            question = int(self.beliefs.known[place])
            # Items pay for all groups' references together: the fewer, the more groups there are.
            ratio = math.sqrt(_REFERENCES * here.sum() / served.sum())
            ratios = np.maximum(ratio * np.sqrt(wanted / wanted[served].mean()), 1.0)
            for group in np.flatnonzero(served).tolist():
                who = here & wanting[:, group]
                many = math.ceil(ratios[group] * float(size[who].mean()))
                items, times = self._rotate(group, question, many)
                same = np.full(len(items), group), np.full(len(items), question)
                parts.append((items, *same, times))
        if not parts:
            return _NONE, _NONE, _NONE, _NONE
        merged = [np.concatenate(each) for each in zip(*parts, strict=True)]
        return merged[0], merged[1], merged[2], merged[3]

    def _rotate(self, group: int, question: int, many: int) -> tuple[Ints, Ints]:
        """``many`` answers of a group's references, from those who have given fewest."""
        items = np.array([self.groups.representatives[group]])
        if self.groups.rotating:
            items = np.flatnonzero(self.groups.labels == group)
        counts, _ = self.history.columns(np.array([question]))
        order = items[np.argsort(counts[items, 0], kind="stable")][:many]
        times = np.full(len(order), many // len(order))
        times[: many % len(order)] += 1
        return order, times

    def _bets(self, at: Ints, column: Ints) -> Floats:
        """What an item will probably answer if it is not of the group it is tested against."""
        now, k = self.beliefs, self.k
        chances = now.chances[at]
        levels = np.column_stack([now.levels[:, column].T, now.own[at, column]])
        weighted = chances * levels
        others = weighted.sum(axis=1, keepdims=True) - weighted[:, :k]
        weight = chances.sum(axis=1, keepdims=True) - chances[:, :k]
        mean = now.levels[:, column].T
        return np.where(weight > 1e-9, others / np.maximum(weight, 1e-9), mean)


def _few_questions(score: Floats) -> Ints:
    """A good question for each item, such that many items share one."""
    relative = score / score.max(axis=1, keepdims=True)
    good = np.where(relative >= _ALIKE, relative, 0.0)
    chosen = np.full(len(score), -1)
    while (todo := chosen < 0).any():
        question = int(np.argmax(good[todo].sum(axis=0)))
        chosen[todo & (good[:, question] > 0)] = question
    return chosen


def exclude_plan(
    claim: Exclusion,
    phase: str,
    items: Ints,
    questions: Ints,
    repeats: Ints,
    references: tuple[Ints, Ints, Ints, Ints] = (_NONE, _NONE, _NONE, _NONE),
    guesses: tuple[Floats, Floats] | None = None,
) -> Plan:
    """A plan that asks items; with references (items, groups, questions, repeats) it tests."""
    none = np.zeros((len(items), claim.groups.found))
    own, group = (none, none) if guesses is None else guesses
    kind = claim.problem.kind
    columns = {
        "items": items,
        "questions": questions,
        "repeats": repeats,
        "reference_items": references[0],
        "reference_groups": references[1],
        "reference_questions": references[2],
        "reference_repeats": references[3],
        "own_guess": from_units(kind, own).ravel(),
        "group_guess": from_units(kind, group).ravel(),
    }
    return Plan("exclude", {"phase": phase}, columns)
