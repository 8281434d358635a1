"""Who is asked what, so that all groups are found and every item is excluded from all but one.

SEARCH   the first pair (``pairs``)
HUNT     questions that tell the groups found so far apart, by how questions look (``shapes``)
LABEL    every item on the questions that exclude it soonest. An item that no group found so far
         explains is bet on by its own answers, so that it soon represents the next group
PROBE    once everybody fits a group and one is still missing: single items on other questions

Questions are chosen by multiplicative weights for the covering linear program: an answer is worth
the nats it adds against each group, and a group that an item is far from excluded from counts more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from askfew.algorithms.frugal.claim.exclusion import REASONS, Exclusion, Mask
from askfew.algorithms.frugal.guess.answered import Answered
from askfew.algorithms.frugal.guess.pairs import PairSearch
from askfew.algorithms.frugal.guess.shapes import Shapes, fit_shapes, from_units, log_likelihood
from askfew.answers import AnswerKind, Number, YesNo
from askfew.evidence import log_evidence
from askfew.plans import Plan
from askfew.records import Batch, Floats, Ints, Tally

__all__ = ["Chooser"]

_KNOWN = 0.95
"""The probability to tell groups apart from which on a question is used."""
_HOPE = 0.03
"""Below this probability a question is not hunted any more."""
_DEEP = 24
"""Answers of a representative to a question that is still unclear, at most."""
_HUNT = 0.5
"""Hunting may have cost this share of what labelling is expected to cost."""
_STEP = 0.25
"""A step should bring this share of the nats that are still needed."""
_EAGER = 0.35
"""The same for an item that may represent a new group."""
_NEW = 0.2
"""The prior probability that an item is of no group found so far, while one is missing."""
_BETWEEN = 0.1
"""The prior probability that a new group has a level of its own on a question, not a side's."""
_SURE = 0.95
"""The chance of a group from which on an item's answers tell about the group."""
_CLEAR = 0.9
"""The chance from which on an item is not asked any more until all groups are found."""
_LONG = 16
"""Answers after which an item is not classified any further until all groups are found."""
_MISFIT = 1e-3
"""The same once all groups are found."""
_FOCUS = 0.7
"""How sharply the weights of the covering program follow the needs."""
_ALIKE = 0.4
"""A question this near an item's best one will do, so that few questions need references."""
_CANDIDATES = 2
"""Items at a time that are tested for representing a new group."""
_FEW = 6
"""Fewer items than this are not worth references while they are only being classified."""
_REFERENCES = 1.35
"""At gap .7 of yes and no, b references for an answer bring b / (b + 1.35) of the evidence that
known means would; so the root of this many times the items per group is the cheapest ratio."""
_WORTH = 0.01
"""Nats that an answer must bring to be worth asking; of a variance, its square."""
_VARIETY = 0.3
"""What a question is worth more that an item has not been asked yet: it may show a new group."""
_SILENT = 12
"""Returns in a row without an answer after which an item, or a reference's cell, is given up. Most
ask once: with 6, an oracle that loses a third of the answers had one item in twelve given up."""
_LEND = 2.0
"""Answers that each group is lent at the level its question's shape suggests; one more is lent at
the middle between the sides, for shapes are sure too soon."""
_TRUST = 0.5
"""What an answer of an item that clearly fits a group counts in judging the group's level."""
_SCREEN = 0.3
"""The share of the items that one screening asks."""
_PROBE = 0.04
"""Answers of a probe as a share of those so far."""
_AUTO = 1.0
"""Where the number of groups is not told, the search ends when probing has cost this share."""
_PATIENCE = 6.0
"""An item is given up after this many times the answers that one of its group should need."""
_FAULT, _ATTEMPTS = 0.25, 4
"""With more than this share of the items left, another pair is tried, so many in all."""
_WHY = ("few-answers", "not-told-apart")
"""Why a silent item has no label, and why another."""

_NONE = np.zeros(0, dtype=np.int64)


@dataclass
class Chooser:
    """What was asked and answered, and from it the next plan."""

    claim: Exclusion
    root: int
    steps: int = 0
    spent: dict[str, int] = field(default_factory=dict)
    """Answers asked by phase."""

    def __post_init__(self) -> None:
        problem = self.claim.problem
        self.answered = Answered(problem)
        self.pairs = PairSearch(problem, self.claim.delta_pair, self.root)
        width = problem.kind.high - problem.kind.low
        scale = problem.kind.sigma if isinstance(problem.kind, Number) else width
        self.tolerance = self.claim.tolerance / scale
        self.unit: AnswerKind = Number(1.0) if isinstance(problem.kind, Number) else YesNo()
        self.silent = np.zeros(problem.items, dtype=np.int64)
        self.mute: dict[tuple[int, int], int] = {}
        self.pair = _NONE
        """The last pair that was confirmed."""

    # What happened.

    def accept(self, plan: Plan) -> None:
        """Note a plan, just made or from the log."""
        self.steps += 1
        if plan.kind == "compare":
            self.pairs.accept(plan)
        elif plan.kind == "restart":
            self.pairs.forget(self.pair)

    def learn(self, plan: Plan, batch: Batch, tally: Tally) -> None:
        """Take in what came back on a plan, after the claim has."""
        self.answered.add(batch, tally)
        phase = "search" if plan.kind == "compare" else str(plan.facts.get("phase"))
        self.spent[phase] = self.spent.get(phase, 0) + batch.answers
        if plan.kind == "compare":
            self.pairs.learn(plan, tally)
            if self.claim.confirmed is not None:
                self.pair = np.array(self.claim.confirmed.items)
            return
        heard = np.bincount(batch.items, tally.counts, self.claim.problem.items) > 0
        asked = np.unique(batch.items)
        self.silent[asked] = np.where(heard[asked], 0, self.silent[asked] + 1)
        rows = len(plan.ints("items"))
        for at in range(len(batch)):
            if at >= rows or phase == "hunt":
                cell = int(batch.items[at]), int(batch.questions[at])
                self.mute[cell] = 0 if tally.counts[at] else self.mute.get(cell, 0) + 1

    # What is asked next.

    def propose(self) -> Plan:
        """The next plan."""
        rng = np.random.default_rng([self.root, 2, self.steps])
        if not self.claim.found:
            return self.pairs.propose(rng)
        if self.claim.done:
            return self._end()
        view = View.of(self)
        if not len(view.open):
            return self._end()
        hunt = self._hunt(view, _HUNT * view.expected, rng)
        if hunt is not None:
            return hunt
        step = LabelStep(self, view).plan()
        if step is not None:
            return step
        if self.claim.complete:
            return self._hunt(view, math.inf, rng) or self._end()
        return self._look_further(view, rng)

    def _hunt(self, view: View, allowed: float, rng: np.random.Generator) -> Plan | None:
        """Representatives on questions that may tell them apart; None if none seems worth it."""
        claim, tells = self.claim, view.shapes.differs
        counts = view.counts
        least = counts.min(axis=0)
        due = np.flatnonzero((tells < _KNOWN) & (tells > _HOPE) & (least < _DEEP))
        if self.spent.get("hunt", 0) >= allowed:
            due = _NONE
        # Known questions on which a group has hardly been heard come first.
        unheard = view.known[least[view.known] < 2]
        noisy = best_first(tells[due], rng)
        many = max(4, math.ceil(0.06 * self.answered.asked / claim.found))
        chosen = np.unique(np.concatenate([unheard, due[noisy][:many]]))
        if not len(chosen):
            return None
        target = np.where(least[chosen] < 2, 2, least[chosen] + np.maximum(1, least[chosen] // 3))
        wanted = np.maximum(target - counts[:, chosen], 0).astype(np.int64)
        group, at = np.nonzero(wanted)
        items, questions = np.array(claim.representatives)[group], chosen[at]
        heard = np.array(
            [
                self.mute.get(cell, 0) < _SILENT
                for cell in zip(items.tolist(), questions.tolist(), strict=True)
            ],
            dtype=bool,
        )
        if not heard.any():
            return None
        rows = items[heard], questions[heard], wanted[group, at][heard]
        return self.asking("hunt", *rows)

    def _look_further(self, view: View, rng: np.random.Generator) -> Plan:
        """Everybody fits, and a group is missing: screen, probe, or stop where none was told."""
        looked = self.looked
        if self.claim.groups is None and looked > _AUTO * (self.answered.asked - looked):
            return Plan("close")
        return self._screen(view, rng) or self._probe(view, rng)

    @property
    def looked(self) -> int:
        """Answers asked in search of further groups."""
        return self.spent.get("screen", 0) + self.spent.get("probe", 0)

    def _screen(self, view: View, rng: np.random.Generator) -> Plan | None:
        """Items on known questions they have not answered yet: a new group would differ on one."""
        row, column = np.nonzero(view.asked == 0)
        if not len(row):
            return None
        order = np.lexsort([rng.random(len(row)), view.asked.sum(axis=0)[column]])
        _, first = np.unique(row[order], return_index=True)
        order = order[np.sort(first)][: math.ceil(_SCREEN * len(view.open))]
        items, questions = view.open[row[order]], view.known[column[order]]
        return self.asking("screen", items, questions, np.ones(len(order), np.int64))

    def _probe(self, view: View, rng: np.random.Generator) -> Plan:
        """Items on questions that may have two sides, of which the groups found are on one."""
        worth = np.where(view.shapes.tells >= _KNOWN, 0.0, view.shapes.tells)
        many = max(8, math.ceil(_PROBE * self.answered.asked))
        best = best_first(worth, rng)[: max(2, many // 12)]
        items = rng.choice(view.open, size=(len(best), min(6, len(view.open))))
        cells = np.unique(items * self.claim.problem.questions + best[:, None])
        items, questions = np.divmod(cells, self.claim.problem.questions)
        return self.asking("probe", items, questions, np.full(len(items), 2))

    def _end(self) -> Plan:
        """Nothing more can be asked. Where many items are left, it was the first pair's fault."""
        claim = self.claim
        left = claim.open_items
        missing = len(left) - int((self.silent[left] >= _SILENT).sum()) + len(claim.misfits)
        if missing > _FAULT * claim.problem.items and claim.attempt < _ATTEMPTS:
            return Plan("restart")
        why = np.where(self.silent[left] >= _SILENT, *(REASONS.index(each) for each in _WHY))
        return Plan("end", {}, {"left": left, "why": why.astype(np.int64)})

    def asking(
        self,
        phase: str,
        items: Ints,
        questions: Ints,
        repeats: Ints,
        references: tuple[Ints, Ints, Ints, Ints] = (_NONE, _NONE, _NONE, _NONE),
        guesses: tuple[Floats, Floats] | None = None,
    ) -> Plan:
        """A plan that asks items; with references (items, groups, questions, repeats) it tests."""
        none = np.zeros((len(items), self.claim.found))
        own, group = (none, none) if guesses is None else guesses
        kind = self.claim.problem.kind
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


def best_first(scores: Floats, rng: np.random.Generator) -> Ints:
    """Best first, ties in random order."""
    return np.asarray(np.lexsort([rng.random(len(scores)), -scores.round(6)]), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class View:
    """What the answers so far say about groups, questions and items."""

    shapes: Shapes
    counts: Floats
    """Answers of each group's certified members (groups x questions)."""
    known: Ints
    """Questions in use."""
    levels: Floats
    """Of the groups on the known questions."""
    low: Floats
    high: Floats
    open: Ints
    """Items that may be asked."""
    asked: Floats
    sums: Floats
    """What the open items answered to the known questions."""
    chances: Floats
    """Of each open item to be of each group, and last of none found so far."""
    own: Floats
    """The level of each open item on each known question, judged by its own answers."""
    rates: Floats
    """Nats against a group (last) for an answer of an item of a group (questions first)."""
    answers: Floats
    """That an item of each group needs for its label."""
    expected: float
    """Answers that labelling will probably take, references included."""

    @classmethod
    def of(cls, chooser: Chooser) -> View:
        """From all answers so far."""
        claim, answered = chooser.claim, chooser.answered
        kind, k = claim.problem.kind, claim.found
        member = claim.labels if claim.complete else np.full(claim.problem.items, -1)
        member = member.copy()
        member[claim.representatives] = np.arange(k)
        counts, sums, others = answered.by_group(member, k)
        shapes = fit_shapes(kind, counts, sums, others)
        known = np.flatnonzero(shapes.tells >= _KNOWN)
        if not len(known):
            known = np.array([int(shapes.tells.argmax())])
        open_ = claim.open_items
        open_ = open_[chooser.silent[open_] < _SILENT]
        all_counts, all_sums = answered.columns(known)
        c, s = all_counts[open_], all_sums[open_]
        middle = (shapes.low + shapes.high)[known] / 2
        heard, total = counts[:, known], sums[:, known]
        chances = np.zeros((len(open_), k + 1))
        for _ in range(2):  # the second time with those who clearly belong to a group
            sure = np.where(chances[:, :k] > _SURE, _TRUST, 0.0)
            more, told = sure.T @ c, sure.T @ s
            levels = total + told + _LEND * shapes.levels[:, known] + middle
            levels /= heard + more + _LEND + 1
            low = _mean_or(np.where(levels < middle, levels, np.nan), shapes.low[known])
            high = _mean_or(np.where(levels >= middle, levels, np.nan), shapes.high[known])
            chances, own = _chances(claim, kind, c, s, levels, low, high, open_)
        ratio = max(1.0, math.sqrt(len(open_) / k))
        rates = _rates(chooser.unit, levels, ratio, chooser.tolerance)
        answers = claim.threshold / np.maximum(_max_min(rates), 1e-3)
        expected = float(chances[:, :k].sum(axis=0) @ answers) * (1 + 1 / ratio)
        return cls(
            shapes,
            counts,
            known,
            levels,
            low,
            high,
            open_,
            c,
            s,
            chances,
            own,
            rates,
            answers,
            expected,
        )


def _mean_or(values: Floats, default: Floats) -> Floats:
    there = ~np.isnan(values)
    total = np.where(there, values, 0.0).sum(axis=0)
    return np.where(there.any(axis=0), total / np.maximum(there.sum(axis=0), 1), default)


def _chances(
    claim: Exclusion,
    kind: AnswerKind,
    counts: Floats,
    sums: Floats,
    levels: Floats,
    low: Floats,
    high: Floats,
    items: Ints,
) -> tuple[Floats, Floats]:
    """Each item's chances to be of each group or of a new one, and its own levels.

    A new group is on any side of every question or, less often, somewhere between; but not on the
    sides of a group found so far.
    """
    k = len(levels)
    log = np.stack([log_likelihood(kind, counts, sums, each).sum(axis=1) for each in levels], 1)
    down, up = (
        log_likelihood(kind, counts, sums, each) + math.log((1 - _BETWEEN) / 2)
        for each in (low, high)
    )
    level = (sums + (low + high) / 2) / (counts + 1)
    between = log_likelihood(kind, counts, sums, level) + math.log(_BETWEEN)
    between -= np.log1p(counts) / 2  # for the level was chosen after the fact
    each = np.stack([down, up, between])
    top = each.max(axis=0)
    weights = np.exp(each - top)
    total = weights.sum(axis=0)
    free = (top + np.log(total)).sum(axis=1)
    own = (weights[0] * low + weights[1] * high + weights[2] * level) / total
    sides = np.unique(levels > (low + high) / 2, axis=0)
    taken = np.stack([np.where(side, up, down).sum(axis=1) for side in sides], 1)
    free += np.log(np.maximum(1 - np.exp(taken - free[:, None]).sum(axis=1), 1e-9))
    new = _MISFIT if claim.complete else _NEW
    log = np.where(claim.excluded[items], -np.inf, log + math.log((1 - new) / k))
    log = np.column_stack([log, free + math.log(new)])
    chances = np.exp(log - log.max(axis=1, keepdims=True))
    return chances / chances.sum(axis=1, keepdims=True), own


def _rates(unit: AnswerKind, levels: Floats, ratio: float, tolerance: float) -> Floats:
    """Nats of one answer with ``ratio`` answers of references (questions x groups x groups)."""
    own, group = levels.T[:, :, None], levels.T[:, None, :]
    return evidence_rate(unit, own, group, ratio, tolerance)


def evidence_rate(
    unit: AnswerKind, own: Floats, group: Floats, ratio: float, tolerance: float
) -> Floats:
    """Nats against a group's level that an answer at another level brings, in expectation."""
    return np.asarray(log_evidence(unit, own, group, own, 1.0, group * ratio, ratio, tolerance))


def _max_min(rates: Floats, iterations: int = 40) -> Floats:
    """For each group the best mixture of questions against the group it excludes most slowly.

    That is a linear program (maximise the least of several sums); multiplicative weights solve it.
    """
    k = rates.shape[1]
    rates = np.moveaxis(rates, 1, 0).copy()  # groups x questions x groups
    top = np.maximum(rates.max(axis=(1, 2)), 1e-9)[:, None]
    eta = math.sqrt(8 * math.log(max(k, 2)) / iterations) / top
    total = np.zeros((k, k))
    same = np.arange(k)
    total[same, same] = np.inf
    for _ in range(iterations):
        weights = np.exp(-eta * (total - total.min(axis=1, keepdims=True)))
        best = np.einsum("gqh,gh->gq", rates, weights).argmax(axis=1)
        total += rates[same, best]
    return np.asarray(total.min(axis=1) / iterations)


@dataclass
class LabelStep:
    """One step of all open items: a question for each, sizes, references and bets."""

    chooser: Chooser
    view: View

    def plan(self) -> Plan | None:
        """The step, or None if nobody has anything useful to answer."""
        view, claim = self.view, self.chooser.claim
        if not len(view.open):
            return None
        k = claim.found
        chances = view.chances
        new = chances[:, k] > 0.5
        lean = chances[:, :k].argmax(axis=1)
        need = np.where(
            claim.excluded[view.open],
            0.0,
            np.maximum(claim.threshold - claim.evidence[view.open], 0.3),
        )
        weights = self._weights(need, lean, new)
        rates = view.rates * self._may_refer().T[:, None, :]
        among = chances[:, :k] / np.maximum(chances[:, :k].sum(axis=1, keepdims=True), 1e-300)
        score = np.einsum("xg,xh,qgh->xq", among, weights, rates, optimize=True)
        own_rates = (
            evidence_rate(
                self.chooser.unit,
                view.own[:, :, None],
                view.levels.T[None],
                2.0,
                self.chooser.tolerance,
            )
            * self._may_refer().T
        )
        alone = self._weights(need, lean, np.ones_like(new))
        score *= 1 - chances[:, k:]
        score += chances[:, k:] * np.einsum("xh,xqh->xq", alone, own_rates)
        live = score.max(axis=1) > _WORTH
        if not claim.complete:  # labels would have to wait: it is enough to see who fits where
            # The more was probed in vain, the longer it is worth asking those who are unclear.
            patience = _LONG + self.chooser.looked / len(view.open)
            unclear = (chances.max(axis=1) < _CLEAR) & (view.asked.sum(axis=1) < patience)
            live &= np.where(new, self._promising(new), unclear)
            score = np.where(new[:, None], score, self._telling())
            live &= score.max(axis=1) > _WORTH**2
        live &= view.asked.sum(axis=1) <= _PATIENCE * view.answers[lean] + 20
        if not live.any():
            return None
        score *= 1 + _VARIETY / (1 + view.asked)
        at = np.flatnonzero(live)
        column = _few_questions(score[at])
        rate = rates[column, lean[at], :]
        rate = np.where(new[at][:, None], own_rates[at, column], rate)
        size = self._sizes(at, column, rate, weights, need, new)
        references = self._references(at, column, rate, need, lean, new, size)
        own = self._bets(at, column)
        group = view.levels[:, column].T
        # Nobody bets against what an item most probably is.
        own = np.where(chances[at, :k] > 0.8, group, own)
        phase = "label" if claim.complete else "classify"
        return self.chooser.asking(
            phase, view.open[at], view.known[column], size, references, (own, group)
        )

    def _telling(self) -> Floats:
        """How much an item's answer to each question depends on which group it is of: a variance.

        A new group may be on either side.
        """
        view = self.view
        known, new = view.chances[:, :-1], view.chances[:, -1:]
        wide = np.maximum(view.high - view.low, 1e-9)
        high = (view.own - view.low) / wide
        mean = known @ view.levels + new * view.own
        square = known @ view.levels**2 + new * (view.low**2 + high * (view.high**2 - view.low**2))
        return np.asarray(np.maximum(square - mean**2, 0.0))

    def _promising(self, new: Mask) -> Mask:
        """The few items that are most likely to represent a new group soon; the others wait."""
        view, claim = self.view, self.chooser.claim
        nearest = claim.evidence[view.open].min(axis=1) + 5 * view.chances[:, -1]
        order = np.argsort(np.where(new, -nearest, np.inf), kind="stable")[:_CANDIDATES]
        chosen = np.zeros(len(new), dtype=bool)
        chosen[order] = True
        return chosen & new

    def _weights(self, need: Floats, lean: Ints, new: Mask) -> Floats:
        """What exclusion from each group counts: most where most is needed."""
        others = need.copy()
        rows = np.flatnonzero(~new)
        others[rows, lean[rows]] = 0.0
        most = others.max(axis=1, keepdims=True)
        weights = np.minimum(np.exp(_FOCUS * (need - most)), 1.0) * (need > 0)
        weights[most[:, 0] <= 0] = 0.0
        return np.asarray(weights)

    def _may_refer(self) -> Floats:
        """Whether a group's references answer each known question (groups x questions)."""
        claim, mute = self.chooser.claim, self.chooser.mute
        table = np.ones((claim.found, len(self.view.known)))
        for group, item in enumerate(claim.representatives):
            for place, question in enumerate(self.view.known.tolist()):
                if mute.get((item, question), 0) >= _SILENT:
                    table[group, place] = 0.0
        return table

    def _sizes(
        self, at: Ints, column: Ints, rate: Floats, weights: Floats, need: Floats, new: Mask
    ) -> Ints:
        """Answers that bring a share of what is needed; few while an item's group is unclear."""
        target = (weights[at] * rate).argmax(axis=1)
        rows = np.arange(len(at))
        step = np.where(new[at], _EAGER, _STEP + 0.35 / math.sqrt(len(at)))
        size = np.ceil(step * need[at, target] / np.maximum(rate[rows, target], 1e-2))
        before = self.view.asked[at, column]
        size = np.minimum(size, np.maximum(6, before))
        unclear = self.view.chances[at].max(axis=1) < 0.75
        if not self.chooser.claim.complete:
            unclear |= ~new[at]
        unclear |= rate[rows, target] < 0.05
        size = np.where(unclear, np.minimum(size, 1), size)
        return np.asarray(np.maximum(size, 1), dtype=np.int64)

    def _references(
        self,
        at: Ints,
        column: Ints,
        rate: Floats,
        need: Floats,
        lean: Ints,
        new: Mask,
        size: Ints,
    ) -> tuple[Ints, Ints, Ints, Ints]:
        """References of every group that items of a question are to be excluded from."""
        claim, view = self.chooser.claim, self.view
        k = claim.found
        wanting = (need[at] > 0) & (rate > 0.12 * rate.max(axis=1, keepdims=True))
        wanting &= (np.arange(k) != lean[at][:, None]) | new[at][:, None]
        labels = claim.labels
        parts: list[tuple[Ints, Ints, Ints, Ints]] = []
        for question in np.unique(column).tolist():
            here = column == question
            wanted = (here[:, None] & wanting).sum(axis=0)
            served = wanted > 0
            if not claim.complete:
                served &= (wanted >= _FEW) | (here[:, None] & wanting & new[at][:, None]).any(
                    axis=0
                )
            if not served.any():
                continue
            # Items pay for all groups' references together: the fewer, the more groups there are.
            ratio = math.sqrt(_REFERENCES * here.sum() / served.sum())
            ratios = np.maximum(ratio * np.sqrt(wanted / wanted[served].mean()), 1.0)
            for group in np.flatnonzero(served).tolist():
                who = here & wanting[:, group]
                many = math.ceil(ratios[group] * float(size[who].mean()))
                items = np.array([claim.representatives[group]])
                if claim.found == claim.groups:
                    items = np.flatnonzero(labels == group)
                items, times = self._rotate(items, int(view.known[question]), many)
                same = np.full(len(items), group), np.full(len(items), view.known[question])
                parts.append((items, *same, times))
        if not parts:
            return _NONE, _NONE, _NONE, _NONE
        merged = [np.concatenate(each) for each in zip(*parts, strict=True)]
        return merged[0], merged[1], merged[2], merged[3]

    def _rotate(self, items: Ints, question: int, many: int) -> tuple[Ints, Ints]:
        """So many answers, from those of the items who have given fewest."""
        counts, _ = self.chooser.answered.columns(np.array([question]))
        order = items[np.argsort(counts[items, 0], kind="stable")][:many]
        times = np.full(len(order), many // len(order))
        times[: many % len(order)] += 1
        return order, times

    def _bets(self, at: Ints, column: Ints) -> Floats:
        """What an item will probably answer if it is not of the group it is tested against."""
        view = self.view
        k = len(view.levels)
        chances = view.chances[at]
        levels = np.column_stack([view.levels[:, column].T, view.own[at, column]])
        weighted = chances * levels
        others = weighted.sum(axis=1, keepdims=True) - weighted[:, :k]
        weight = chances.sum(axis=1, keepdims=True) - chances[:, :k]
        mean = view.levels[:, column].T
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
