"""The pilot: what it is given, and the plans and rules that all ways of learning make of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from askfew.algorithms.rule.guess.tree import grow
from askfew.algorithms.rule.tuning import Tuning
from askfew.estimates.classes import CellMeans, Classes
from askfew.estimates.separation import separation
from askfew.evidence.decisions import Error
from askfew.plans import Plan
from askfew.records import Floats, Ints, Problem
from askfew.rule import Rule

__all__ = ["Pilot", "ask_cells", "freeze", "give_up"]

_FEWEST_QUESTIONS = 20
"""The fewest questions that are screened, if there are as many. A round number."""


@dataclass(frozen=True, eq=False)
class Pilot:
    """What is known before the first answer, the caps of cells, and the order of asking."""

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
    error: Error
    delta: float
    margin: float
    tuning: Tuning
    root: int
    """The seed of all random choices."""

    def grown_rule(
        self,
        answered: CellMeans,
        model: Classes,
        questions: Ints,
        doubt: float,
        told: Ints | None = None,
    ) -> Rule | None:
        """The rule for these classes; None if it cannot tell even two sides apart."""
        groups = len(model.shares)
        return grow(
            separation(answered, model, told),
            model.levels,
            self.problem.kind,
            questions,
            self.names if len(self.names) == groups else [str(g) for g in range(groups)],
            self.tuning,
            doubt=doubt,
            committee=self.committee,
            need=min(self.tuning.need, self.problem.questions),
            more=self.worth_of_more,
        )

    def promising(
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
                # A division needs several questions, so a few more than that stay in any case.
                far[: 2 * self.tuning.need] = True
                chosen.update(best[far].tolist())
        return np.array(sorted(chosen))

    def _each(self, groups: int) -> int:
        """The most questions that are looked at for one pair of groups."""
        return 3 * self.committee if groups == 2 else max(2 * self.committee // groups, 3)

    def screen_plan(
        self,
        items: Ints,
        questions: Ints,
        times: int = 1,
        before: tuple[Ints, Ints, Ints] | None = None,
    ) -> Plan:
        """A plan to ask these items all of these questions, as far as their cells have room.

        ``before`` are items, questions and counts of what was asked already.
        """
        room = self.room(items, questions).copy()
        if before is not None:
            # Answers so far use up the caps, also those that did not help.
            asked, known, counts = before
            here, there = np.isin(asked, items), np.isin(known, questions)
            place = {int(item): at for at, item in enumerate(items)}
            at = np.array([place[int(item)] for item in asked[here]], dtype=np.int64)
            in_order = np.searchsorted(questions, known[there])
            room[np.ix_(at, in_order)] -= counts[np.ix_(here, there)]
        repeats = np.minimum(times, room).clip(min=0).astype(np.int64)
        row, column = np.nonzero(repeats)
        each = repeats[row, column]
        return ask_cells(np.repeat(items[row], each), np.repeat(questions[column], each))

    def room(self, items: Ints, questions: Ints) -> Floats:
        """The caps of these items' cells on these questions."""
        whole = np.broadcast_to(self.per_cell, (self.problem.items, self.problem.questions))
        return np.asarray(whole[np.ix_(items, questions)])

    @property
    def committee(self) -> int:
        """The most questions of a node."""
        if self._capped(self.tuning.few_per_cell):
            return self.tuning.large_committee
        return self.tuning.committee_many if self.told_many else self.tuning.committee

    @property
    def worth_of_more(self) -> float:
        """What one more question at the same margin is worth, relative to the first."""
        if self.told_many:
            return self.tuning.more_many
        return self.tuning.more_capped if self._capped(self.tuning.capped) else self.tuning.more

    @property
    def told_many(self) -> bool:
        """Whether anchors tell of more than two groups."""
        return len(self.names) > 2 and bool((self.anchors >= 0).any())

    @property
    def needed(self) -> float:
        """The fewest nats that a label can need: with one division, and all items labelled."""
        if self.error == "share":
            return self.needed_of_share
        return self.needed_of_share + math.log(max(len(self.order), 1))

    @property
    def needed_of_share(self) -> float:
        """The same if the share of errors is bounded."""
        return -math.log(self.delta)

    @property
    def least_screened(self) -> int:
        """How many items answer the rule's questions before there is a rule, anchors aside."""
        told = bool((self.anchors >= 0).any())
        if 0 < len(self.defining) < self.tuning.need:
            return 0 if told else self.tuning.unlabelled
        if told:
            return self.tuning.unlabelled_many if self.told_many else self.tuning.unlabelled
        if len(self.groups) > 1:
            return self.tuning.items_to_count
        return self.tuning.sharp_items if self.groups[0] == 2 else self.tuning.first_items

    def _capped(self, most: int) -> bool:
        """Whether a typical cell takes at most ``most`` answers."""
        return self.same or float(np.median(self.per_cell)) <= most

    @property
    def order(self) -> Ints:
        """The items but the anchors, in the order in which they are screened."""
        # A seed that no step has: steps are numbered from 0.
        order = np.random.default_rng([self.root, 1 << 32]).permutation(self.problem.items)
        return order[self.anchors[order] < 0]

    @property
    def pool(self) -> Ints:
        """The questions to screen: the defining ones, or all, or as many random ones as fit."""
        if len(self.defining):
            return self.defining
        d = self.problem.questions
        most = max(_FEWEST_QUESTIONS, self.first_answers // self.first_items)
        order = np.random.default_rng([self.root, 1 << 33]).permutation(d)
        return np.sort(order[:most])

    @property
    def first_items(self) -> int:
        """How many items the first screen asks."""
        return min(self.problem.items, self.tuning.first_items)

    @property
    def first_answers(self) -> int:
        """How many answers the first screen may ask for."""
        return max(8 * self.problem.items, self.tuning.first_answers)

    @property
    def most_answers(self) -> float:
        """The answers after which the pilot gives up."""
        # More groups need more items, because fewer questions tell any two of them apart.
        return self.tuning.most_screens * self.first_answers * math.log2(max(self.groups))


def ask_cells(items: Ints, questions: Ints) -> Plan:
    """A plan to ask these cells, one after the other; a cell may come more than once."""
    return Plan("screen", {}, {"items": items, "questions": questions})


def give_up(stable: float | None) -> Plan:
    """A plan to end without a rule; ``stable`` is how well halves of the items agreed."""
    return Plan("give up", {"agreement": None if stable is None else round(stable, 3)})


def freeze(rule: Rule, stable: float | None) -> Plan:
    """A plan to freeze the rule; ``stable`` is how well halves of the items agreed."""
    agreed = None if stable is None else round(stable, 3)
    return Plan("freeze", {"rule": rule.to_dict(), "agreement": agreed})
