"""LEARN: screen some items on many questions, fit classes, and propose a rule when one is stable.

A split is proposed only if models fitted on two halves of the items sort all of them alike, and if
each division is carried by several questions. Otherwise more items are screened, then the same ones
again. If that does not help, the plan is to give up: there is no consensus. Questions that are
unrelated, a single useful question and a duplicated one end there, as they should.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from askfew.algorithms.rule.guess.direction import by_anchors, by_first, is_clear
from askfew.algorithms.rule.guess.tree import grow
from askfew.algorithms.rule.screen import Screen
from askfew.algorithms.rule.tuning import Tuning
from askfew.answers import Number
from askfew.estimates.classes import CellMeans, Classes, agreement, fit, predicted
from askfew.estimates.separation import Separation, separation
from askfew.plans import Plan
from askfew.records import Floats, Ints, Problem
from askfew.rule import Node, Rule

__all__ = ["Learner"]


@dataclass(frozen=True, eq=False)
class Learner:
    """Proposes what to screen next, or the rule, or to give up.

    The proposal depends only on the answers so far. So a replay that lacks a plan, or a newer
    version of this class, can go on from any step.
    """

    problem: Problem
    groups: Sequence[int]
    """Allowed numbers of groups."""
    names: Sequence[str]
    """The names of the groups, if anchors give them."""
    anchors: Ints
    """The group of each item that the user told, -1 elsewhere."""
    defining: Ints
    """The questions that define the split; if empty, any may."""
    per_cell: Floats
    """The caps of the cells (items x questions, or anything that broadcasts to it)."""
    same: bool
    """Whether asking again gives the same answer."""
    tuning: Tuning
    root: int
    """The seed of all random choices."""

    def propose(self, screen: Screen) -> Plan:
        """The next plan: ``screen`` (cells to ask), ``freeze`` (a rule) or ``give up``."""
        # Seeded by the step, not carried along: a replay that skips steps draws the same numbers.
        rng = np.random.default_rng([self.root, len(screen.rows)])
        if 0 < len(self.defining) < self.tuning.need:
            return self._by_few(screen)
        if (self.anchors >= 0).any():
            return self._with_anchors(screen, rng)
        return self._unaided(screen, rng)

    # Without anchors.

    def _unaided(self, screen: Screen, rng: np.random.Generator) -> Plan:
        if not screen.rows:
            return self._screen(self._order[: self._first_items], self._pool)
        items, questions, counts, sums = screen.table()
        answered = CellMeans.of(self.problem.kind, counts, sums)
        groups = self._number(answered, rng)
        stable = 0.0
        if groups is not None:
            stable = self._stability(answered, groups, rng)
            if stable >= self.tuning.stable:
                model = fit(answered, groups, rng)
                rule = self._rule(answered, model, questions, self.tuning.doubt)
                if rule is not None and len(rule.leaves) == groups:
                    return self._sharpen(items, questions, answered, model) or _freeze(rule, stable)
        return self._more(screen, items, questions, counts, stable)

    def _sharpen(
        self, items: Ints, questions: Ints, answered: CellMeans, model: Classes
    ) -> Plan | None:
        """Screen some new items on the questions that matter, for more reliable levels."""
        others = self._order[~np.isin(self._order, items)]
        missing = self.tuning.sharp_items - len(items)
        if missing <= 0 or not len(others) or len(model.shares) > 2:
            return None
        promising = self._promising(answered, model, None, 0.0)
        return self._screen(others[:missing], questions[promising])

    def _number(self, answered: CellMeans, rng: np.random.Generator) -> int | None:
        """The number of groups that predicts answers of held-out items best.

        None if it is too early to say: among few items a group may be missing.
        """
        n = len(answered.weights)
        if len(self.groups) == 1:
            return self.groups[0] if n >= 2 * self.groups[0] else None
        if n < min(self.tuning.items_to_count, self.problem.items):
            return None
        order = rng.permutation(n)
        parts = [np.sort(part) for part in np.array_split(order, self.tuning.parts)]

        def worth(groups: int) -> float:
            total = 0.0
            for part in parts:
                rest = np.setdiff1d(order, part)
                model = fit(answered.rows(rest), groups, rng, starts=8)
                total += predicted(answered.rows(part), model)
            return total

        return max((k for k in self.groups if n >= 2 * k), key=worth, default=None)

    def _more(
        self, screen: Screen, items: Ints, questions: Ints, counts: Ints, stable: float
    ) -> Plan:
        """Screen more items on the same questions; when all were asked, ask the same again."""
        if screen.answers < self._most_answers:
            new = self._order[~np.isin(self._order, items)][: max(20, len(items) // 2)]
            if len(new):
                return self._screen(new, questions)
            room = counts < np.minimum(self._room(items, questions), self.tuning.most_repeats)
            # If most cells are full, what is left is too uneven to change the picture.
            if not self.same and room.mean() >= 0.3:
                at, column = np.nonzero(room)
                return _ask(items[at], questions[column])
        return Plan("give up", {"agreement": round(stable, 3)})

    def _stability(self, answered: CellMeans, groups: int, rng: np.random.Generator) -> float:
        """How well the groups from two halves of the items (and of the questions) agree."""
        n, d = answered.weights.shape
        by_items = []
        for _ in range(2):
            halves = np.array_split(rng.permutation(n), 2)
            models = [fit(answered.rows(half), groups, rng, starts=8) for half in halves]
            by_items.append(agreement(*(m.log_odds(answered).argmax(axis=1) for m in models)))
        stable = float(np.mean(by_items))
        if d < self.problem.questions and stable > self.tuning.stable_questions:
            by_questions = []
            for _ in range(2):
                halves = np.array_split(rng.permutation(d), 2)
                models = [fit(answered.columns(half), groups, rng, starts=8) for half in halves]
                by_questions.append(agreement(*(m.posterior.argmax(axis=1) for m in models)))
            # Half of the questions say less than all, so they need to agree less.
            allowance = self.tuning.stable - self.tuning.stable_questions
            stable = min(stable, float(np.mean(by_questions)) + allowance)
        return stable

    # With anchors: items whose group the user knows define the groups.

    def _with_anchors(self, screen: Screen, rng: np.random.Generator) -> Plan:
        known = np.flatnonzero(self.anchors >= 0)
        two = len(self.names) == 2
        if not screen.rows:
            most = max(60, self._first_answers // len(known) // 2)
            return self._screen(known, self._pool[:most], 1 if self.same or two else 2)
        items, questions, counts, sums = screen.table()
        told = self.anchors[items]
        others = self._order[~np.isin(self._order, items)]
        unlabelled = len(items) - len(known)
        if two and unlabelled < self.tuning.unlabelled and len(others):
            return self._narrow(screen, known, others, rng)
        answered = CellMeans.of(self.problem.kind, counts, sums)
        model = fit(answered, len(self.names), rng, known=told)
        if not unlabelled and len(others):
            # Among many groups every question is the best for some two: nothing can be narrowed.
            promising = questions[self._promising(answered, model, told, 0.0)]
            return self._screen(others[: self.tuning.unlabelled_many], promising)
        rule = self._rule(answered, model, questions, self.tuning.doubt_anchors, told)
        if rule is not None:
            return _freeze(rule, None)
        if screen.answers >= self._most_answers or len(screen.rows) > self.tuning.most_stages:
            return Plan("give up", {"agreement": None})
        if len(screen.rows) % 2:
            # Items of unknown groups sharpen the levels. Those that were asked before come first.
            promising = questions[self._promising(answered, model, told, 0.0)]
            missing = counts[:, np.isin(questions, promising)] == 0
            who = items[missing.any(axis=1)]
            if missing.mean() < self.tuning.few_missing:
                who = np.concatenate([who, others[: self.tuning.unlabelled]])
            plan = self._screen(
                who, promising, before=(items, questions, np.minimum(counts, 1) * 99)
            )
        else:
            # A good question may have been overlooked, so the anchors are asked about candidates.
            promising = questions[self._promising(answered, model, told, 2.0)]
            plan = self._screen(known, promising, before=(items, questions, counts))
        return plan if len(plan.columns["items"]) else Plan("give up", {"agreement": None})

    def _narrow(self, screen: Screen, known: Ints, others: Ints, rng: np.random.Generator) -> Plan:
        """Ask about fewer and fewer questions: first the anchors again, then new items.

        Anchors come first because their groups are certain. But there are few of them, and each is
        an exception somewhere, so other items must confirm what the anchors show.
        """
        items, questions, counts, sums = screen.table()
        told = self.anchors[items]
        # Repeats count in full: only the next questions are decided here.
        answered = CellMeans.of(self.problem.kind, counts, sums, discount=0.0)
        model = fit(answered, 2, rng, known=told)
        separated = separation(answered, model, told)
        if len(screen.rows) * len(known) < 2 * self.tuning.anchor_answers:
            contenders = self._contenders(separated, len(questions) >> len(screen.rows))
            plan = self._screen(known, questions[contenders], before=(items, questions, counts))
            if len(plan.columns["items"]):
                return plan
        waves = (len(items) - len(known)) // self.tuning.wave
        least = len(self._promising(answered, model, told, 0.0)) >> waves
        contenders = self._contenders(separated, least)
        return self._screen(others[: self.tuning.wave], questions[contenders])

    def _contenders(self, separated: Separation, least: int) -> Ints:
        """The questions that may be among the best, but at least ``least`` of them."""
        distance, error = separated.distances[0, 1], self.tuning.hope * separated.errors[0, 1]
        best = np.argsort(-distance, kind="stable")
        sure = np.sort(distance - error)[::-1][: self.tuning.need]
        may_be = (distance + error)[best] >= sure[-1]
        may_be[:least] = True  # few answers must not decide alone
        return np.sort(best[may_be])

    def _promising(
        self, answered: CellMeans, model: Classes, told: Ints | None, hope: float
    ) -> Ints:
        """The questions on which some two groups seem far apart: the best ones of each pair.

        ``hope`` is how many standard errors are added, for questions that were asked too little.
        """
        separated = separation(answered, model, told)
        distances = separated.distances + hope * separated.errors
        groups = len(model.shares)
        chosen: set[int] = set()
        for g in range(groups):
            for h in range(g):
                best = np.argsort(-distances[g, h], kind="stable")[: self._each(groups)]
                far = distances[g, h, best] > self.tuning.promising
                far[: 2 * self.tuning.need] = True
                chosen.update(best[far].tolist())
        return np.array(sorted(chosen))

    def _each(self, groups: int) -> int:
        """The most questions that are looked at for one pair of groups."""
        return 3 * self._committee if groups == 2 else max(2 * self._committee // groups, 3)

    # With one or two defining questions there is nothing to fit; only their direction is learnt.

    def _by_few(self, screen: Screen) -> Plan:
        kind = self.problem.kind
        bounded = not isinstance(kind, Number)
        known = np.flatnonzero(self.anchors >= 0)
        questions = np.sort(self.defining)
        signs, cuts = np.ones(len(questions)), np.zeros(len(questions))
        if len(known) or len(questions) > 1 or not bounded:
            if not screen.rows:
                who = known if len(known) else self._order[: self.tuning.unlabelled]
                return self._screen(who, questions)
            items, _, counts, sums = screen.table()
            # Repeats count in full: what is looked for is these items' own means.
            answered = CellMeans.of(kind, counts, sums, discount=0.0)
            told = self.anchors[items]
            if len(known) and not is_clear(answered, told, self.tuning.clear):
                again = min(counts.max(), self.tuning.anchor_times - counts.max())
                plan = self._screen(known, questions, again, before=(items, questions, counts))
                if len(plan.columns["items"]):
                    return plan
            signs = by_anchors(answered, told) if len(known) else by_first(answered)
            cuts = answered.overall
        if bounded:
            cuts = np.full(len(questions), (kind.low + kind.high) / 2)
        node = Node(
            tuple(range(len(questions))), tuple(signs.tolist()), tuple(cuts.tolist()), (0,), (1,)
        )
        return _freeze(Rule(tuple(questions.tolist()), node, tuple(self.names or "01")), None)

    # Used by all of the above.

    def _rule(
        self,
        answered: CellMeans,
        model: Classes,
        questions: Ints,
        doubt: float,
        told: Ints | None = None,
    ) -> Rule | None:
        groups = len(model.shares)
        return grow(
            separation(answered, model, told),
            model.levels,
            self.problem.kind,
            questions,
            self.names if len(self.names) == groups else [str(g) for g in range(groups)],
            self.tuning,
            doubt=doubt,
            committee=self._committee,
            need=min(self.tuning.need, self.problem.questions),
            more=self._worth_of_more,
        )

    def _screen(
        self,
        items: Ints,
        questions: Ints,
        times: int = 1,
        before: tuple[Ints, Ints, Ints] | None = None,
    ) -> Plan:
        """A plan to ask these items all of these questions, as far as their cells have room.

        ``before`` are items, questions and counts of what was asked already.
        """
        room = self._room(items, questions).copy()
        if before is not None:
            asked, known, counts = before
            here, there = np.isin(asked, items), np.isin(known, questions)
            place = {int(item): at for at, item in enumerate(items)}
            at = np.array([place[int(item)] for item in asked[here]], dtype=np.int64)
            in_order = np.searchsorted(questions, known[there])
            room[np.ix_(at, in_order)] -= counts[np.ix_(here, there)]
        ask = np.minimum(times, room).clip(min=0).astype(np.int64)
        row, column = np.nonzero(ask)
        each = ask[row, column]
        return _ask(np.repeat(items[row], each), np.repeat(questions[column], each))

    def _room(self, items: Ints, questions: Ints) -> Floats:
        whole = np.broadcast_to(self.per_cell, (self.problem.items, self.problem.questions))
        return np.asarray(whole[np.ix_(items, questions)])

    @property
    def _committee(self) -> int:
        if self._capped(self.tuning.few_per_cell):
            return self.tuning.large_committee
        return self.tuning.committee_many if self._told_many else self.tuning.committee

    @property
    def _worth_of_more(self) -> float:
        if self._told_many:
            return self.tuning.more_many
        return self.tuning.more_capped if self._capped(self.tuning.capped) else self.tuning.more

    @property
    def _told_many(self) -> bool:
        """Whether anchors tell of more than two groups."""
        return len(self.names) > 2 and bool((self.anchors >= 0).any())

    def _capped(self, most: int) -> bool:
        """Whether a typical cell takes at most ``most`` answers."""
        return self.same or float(np.median(self.per_cell)) <= most

    @property
    def _order(self) -> Ints:
        """The items but the anchors, in the order in which they are screened."""
        order = np.random.default_rng([self.root, 1 << 32]).permutation(self.problem.items)
        return order[self.anchors[order] < 0]

    @property
    def _pool(self) -> Ints:
        """The questions to screen: the defining ones, or all, or as many random ones as fit."""
        if len(self.defining):
            return self.defining
        d = self.problem.questions
        most = max(20, self._first_answers // self._first_items)
        order = np.random.default_rng([self.root, 1 << 33]).permutation(d)
        return np.sort(order[:most])

    @property
    def _first_items(self) -> int:
        return min(self.problem.items, self.tuning.first_items)

    @property
    def _first_answers(self) -> int:
        return max(8 * self.problem.items, self.tuning.first_answers)

    @property
    def _most_answers(self) -> float:
        # More groups need more items, because fewer questions tell any two of them apart.
        return self.tuning.most_screens * self._first_answers * math.log2(max(self.groups))


def _ask(items: Ints, questions: Ints) -> Plan:
    return Plan("screen", {}, {"items": items, "questions": questions})


def _freeze(rule: Rule, stable: float | None) -> Plan:
    agreed = None if stable is None else round(stable, 3)
    return Plan("freeze", {"rule": rule.to_dict(), "agreement": agreed})
