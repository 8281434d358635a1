"""The claim for any number of groups of identical items: labels by exclusion.

A pair of items is confirmed to differ; the two represent the first groups. From then on every item
has one e-process against each representative's group: blocks of its fresh answers against fresh
answers of that group's references to the same question. At the threshold the item is excluded from
the group. An item excluded from every group found so far represents the next one. Once all groups
are represented, an item excluded from all but one belongs to that one.

Why it is right. The q-th registered pair is confirmed at log(q (q + 1) / delta_pair), from answers
asked after its registration: no pair of one group is confirmed, with probability 1 - delta_pair.
Then an item has one true null at most, its own group's, whose references are of that group: the
representative itself or, once all groups exist, items certified by the same rule. A wrong label and
a wrong later representative both need that an item crossed its one true null. So n - 2 nulls at
delta_label / (n - 2) are enough, whatever the number of groups.

Nobody is labelled before all groups are represented. Where their number is not told, references are
representatives only, so that every exclusion stays true when another group is found.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from askfew.algorithms.frugal.claim.groups import Groups
from askfew.errors import InvalidPlan
from askfew.evidence import log_evidence, nine_digits
from askfew.plans import Plan
from askfew.records import Batch, Floats, Ints, Problem, Snapshot, Tally, WhyUndecided, renumbered
from askfew.wording import counted

__all__ = ["REASONS", "Confirmed", "Exclusion"]

Key = tuple[int, int]
REASONS: tuple[WhyUndecided, ...] = ("few-answers", "not-told-apart")
"""Reasons for which a plan may give an item up; a plan writes their index."""
_PAIR_SHARE = 0.15
"""The largest part of delta that confirms the first pair. From 23 items on it is 4 / (items + 4):
labels then cost far more answers than the pair, and a smaller part adds only few to the pair's."""


@dataclass
class _Registered:
    """The e-process of a pair: it sees only answers asked after its registration."""

    q: int
    evidence: float = 0.0


@dataclass(frozen=True)
class Confirmed:
    """The first pair, and how it was confirmed."""

    items: Key
    q: int
    evidence: float
    needed: float


class Exclusion:
    """Checks every plan, asks it, and weighs what came back; delta is spent here."""

    def __init__(
        self, problem: Problem, delta: float, told: int | None, tolerance: float = 0.0
    ) -> None:
        self.problem, self.delta, self.tolerance = problem, delta, tolerance
        self.groups = Groups(problem.items, told)
        self.delta_pair = delta * min(4 / (problem.items + 4), _PAIR_SHARE)
        self.attempt = 1
        """Pairs that labelling was tried with, this one included; each has its own part of delta.
        """
        self.registered = 0
        """Pairs registered so far. It is never reset, because the pairs of all attempts share
        ``delta_pair``."""
        self.pairs: dict[Key, _Registered] = {}
        self.confirmed: Confirmed | None = None
        self.carried: Floats = np.zeros(problem.questions)
        """Nats that each question brought; it is shown to people, and nothing rests on it."""
        self.given_up: dict[int, WhyUndecided] = {}
        self.over = False
        self._open: _Pairs | _Rows | None = None

    @property
    def threshold(self) -> float:
        """Nats that exclude: this attempt's part of delta, shared by the items to label."""
        return math.log(items_to_label(self.problem.items) / self.item_delta)

    @property
    def item_delta(self) -> float:
        """The attempt's part of what confirming the pair leaves of delta; the parts sum to it."""
        part = 0.9 if self.attempt == 1 else 0.1 / 2 ** (self.attempt - 1)
        return part * (self.delta - self.delta_pair)

    @property
    def done(self) -> bool:
        """Whether nothing is left to be certified."""
        return self.groups.complete and not len(self.groups.open_items)

    def known(self, phase: str) -> Snapshot:
        """The snapshot for people."""
        question = int(self.carried.argmax()) if self.carried.any() else None
        labels = self.groups.labels
        if self.groups.complete:
            labels = renumbered(labels)
        evidence = self.groups.for_labels(self.threshold)
        return Snapshot(phase, labels, evidence, self.threshold, question)

    def ask(self, plan: Plan) -> Batch | None:
        """The Batch of a plan, after checking every field of it; None if it asks nothing."""
        found = self.groups.found
        if plan.kind == "compare":
            _check(not found, "pairs are compared until one is confirmed")
            return self._compare(_Pairs.read(plan, self.problem))
        if plan.kind == "exclude":
            rows = self._open = _Rows.read(plan, self.problem, self.groups)
            phase = str(plan.facts.get("phase", "label"))
            return rows.batch(phase, self.known(phase))
        if plan.kind == "restart" and found:
            self._restart()
        elif plan.kind == "close" and found >= 2 and self.groups.told is None:
            self.groups.closed = True
        elif plan.kind == "end" and found:
            self._end(plan)
        else:
            raise InvalidPlan(
                f"with {counted(found, 'group')} found, a plan must be one that can be made",
                repr(plan.kind),
                "fix the guess that made it",
            )
        return None

    def _compare(self, pairs: _Pairs) -> Batch:
        """The Batch that compares pairs of items, each on a question; some are registered now."""
        self._open = pairs
        for row in pairs.register.tolist():
            # A pair that is registered again begins a new process, with a q of its own and from 0.
            self.registered += 1
            self.pairs[pairs.key(row)] = _Registered(self.registered)
        return Batch(
            np.concatenate([pairs.first, pairs.second]),
            np.tile(pairs.questions, 2),
            np.tile(pairs.repeats, 2),
            f"search: compare {counted(len(pairs.first), 'pair')} of items",
            Snapshot("search", self.groups.labels),
        )

    def _restart(self) -> None:
        """Forget the representatives and all evidence; the next attempt has its part of delta."""
        self.attempt += 1
        self.confirmed = None
        self.groups = Groups(self.problem.items, self.groups.told)
        self.pairs.clear()

    def _end(self, plan: Plan) -> None:
        items, why = plan.ints("left"), plan.ints("why")
        _check(items.shape == why.shape and _within(why, len(REASONS)), "who is left has a reason")
        _check(_within(items, self.problem.items), "items of the problem are left")
        for item, place in zip(items.tolist(), why.tolist(), strict=True):
            self.given_up[item] = REASONS[place]
        self.over = True

    def settle(self, tally: Tally) -> None:
        """Weigh what came back on the last plan."""
        asked, self._open = self._open, None
        if isinstance(asked, _Pairs):
            self._weigh_pairs(asked, tally)
        else:
            assert asked is not None, "ask comes before settle"
            self._weigh_items(asked, tally)
            self.groups.add_misfits()

    def _weigh_pairs(self, asked: _Pairs, tally: Tally) -> None:
        """Add blocks to the registered pairs; the first that is confirmed represents two groups."""
        (a, b), (x, r) = tally.counts.reshape(2, -1), tally.sums.reshape(2, -1)
        guesses = asked.first_guess, asked.second_guess
        blocks = np.asarray(log_evidence(self.problem.kind, *guesses, x, a, r, b, self.tolerance))
        for row, block in enumerate(blocks.tolist()):
            pair = self.pairs.get(asked.key(row))
            if pair is not None:
                pair.evidence += block
        for key, pair in self.pairs.items():
            # 1 / (q (q + 1)) sums to 1 over all q, so any number of pairs share delta_pair.
            needed = math.log(pair.q * (pair.q + 1) / self.delta_pair)
            if nine_digits(pair.evidence) >= nine_digits(needed):
                self.confirmed = Confirmed(key, pair.q, pair.evidence, needed)
                self.pairs.clear()
                for item in key:
                    self.groups.add(item)
                return

    def _weigh_items(self, asked: _Rows, tally: Tally) -> None:
        """Add every block of an item and a group whose references answered the same question."""
        groups, rows = self.groups, len(asked.items)
        questions, column = np.unique(asked.questions, return_inverse=True)
        b, r = np.zeros((groups.found, len(questions))), np.zeros((groups.found, len(questions)))
        used = np.isin(asked.about, questions)
        where = asked.of_group[used], np.searchsorted(questions, asked.about[used])
        np.add.at(b, where, tally.counts[rows:][used])
        np.add.at(r, where, tally.sums[rows:][used])
        a, x = tally.counts[:rows, np.newaxis], tally.sums[:rows, np.newaxis]
        guesses, references = (asked.own_guess, asked.group_guess), (r[:, column].T, b[:, column].T)
        blocks = log_evidence(self.problem.kind, *guesses, x, a, *references, self.tolerance)
        # A process ends when it excludes. Answers of settled items serve as references only.
        ended = groups.excluded[asked.items] | groups.settled[asked.items, np.newaxis]
        blocks = np.where(ended, 0.0, blocks)
        np.add.at(groups.evidence, asked.items, blocks)
        np.add.at(self.carried, asked.questions, np.maximum(blocks, 0).sum(axis=1))
        groups.excluded |= nine_digits(groups.evidence) >= nine_digits(self.threshold)


@dataclass(frozen=True, eq=False)
class _Pairs:
    """A plan that compares pairs of items, checked."""

    first: Ints
    second: Ints
    questions: Ints
    repeats: Ints
    first_guess: Floats
    second_guess: Floats
    register: Ints
    """Rows of pairs whose e-process begins now."""

    @classmethod
    def read(cls, plan: Plan, problem: Problem) -> _Pairs:
        """From a plan, or InvalidPlan."""
        names = ("first", "second", "questions", "repeats")
        first, second, questions, repeats = (plan.ints(name) for name in names)
        rows, n = len(first), problem.items
        guesses = plan.floats("first_guess", rows), plan.floats("second_guess", rows)
        register = plan.ints("register")
        _check(rows > 0 and second.shape == questions.shape == first.shape, "pairs need a question")
        _check(_within(first, n) and _within(second, n), f"items lie between 0 and {n - 1}")
        _check(bool((first != second).all()), "a pair is two items")
        _check(_within(register, rows), "a registered pair must be asked")
        _check_rows(problem, questions, repeats, rows)
        return cls(first, second, questions, repeats, *guesses, register)

    def key(self, row: int) -> Key:
        """The row's two items, the smaller first."""
        one, other = int(self.first[row]), int(self.second[row])
        return (min(one, other), max(one, other))


@dataclass(frozen=True, eq=False)
class _Rows:
    """A plan that asks items and references, checked.

    Where references of a group answer an item's question, that is a block against the group.
    """

    items: Ints
    questions: Ints
    repeats: Ints
    references: Ints
    of_group: Ints
    about: Ints
    """The references' questions."""
    times: Ints
    own_guess: Floats
    group_guess: Floats
    """What an item and each group are bet to answer (rows x groups)."""

    @classmethod
    def read(cls, plan: Plan, problem: Problem, groups: Groups) -> _Rows:
        """From a plan, or InvalidPlan."""
        items, questions, repeats = plan.ints("items"), plan.ints("questions"), plan.ints("repeats")
        who, of_group = plan.ints("reference_items"), plan.ints("reference_groups")
        about, times = plan.ints("reference_questions"), plan.ints("reference_repeats")
        rows, n, k = len(items), problem.items, groups.found
        own, group = plan.floats("own_guess", rows * k), plan.floats("group_guess", rows * k)
        _check(k >= 2, "there must be representatives to exclude from")
        _check(rows + len(who) > 0, "a plan must ask something")
        _check(_within(items, n) and _within(who, n), f"items lie between 0 and {n - 1}")
        _check_rows(problem, questions, repeats, rows)
        _check_rows(problem, about, times, len(who))
        cells = items * problem.questions + questions
        # If a cell came twice, two blocks of one process would use the same answers of references,
        # and their product need not have expectation at most 1.
        _check(len(np.unique(cells)) == rows, "a cell is asked once")
        _check(_within(of_group, k) and of_group.shape == who.shape, "references have a group")
        _check(bool(groups.may_refer(who, of_group).all()), "references must be certified")
        guesses = own.reshape(rows, k), group.reshape(rows, k)
        return cls(items, questions, repeats, who, of_group, about, times, *guesses)

    def batch(self, phase: str, known: Snapshot) -> Batch:
        """Items first, then their references."""
        many = counted(len(np.unique(self.items)), "item")
        answers = counted(int(self.times.sum()), "answer")
        return Batch(
            np.concatenate([self.items, self.references]),
            np.concatenate([self.questions, self.about]),
            np.concatenate([self.repeats, self.times]),
            f"{phase}: ask {many}, with {answers} of references",
            known,
        )


def items_to_label(items: int) -> int:
    """How many nulls the union bound counts: every item but the first two representatives."""
    return max(items - 2, 1)


def _within(values: Ints, size: int) -> bool:
    return not len(values) or bool(values.min() >= 0 and values.max() < size)


def _check_rows(problem: Problem, questions: Ints, repeats: Ints, rows: int) -> None:
    d = problem.questions
    _check(questions.shape == repeats.shape == (rows,), "every row has a question")
    _check(_within(questions, d), f"questions lie between 0 and {d - 1}")
    _check(not rows or repeats.min() >= 1, "a row asks at least once")


def _check(right: bool, expected: str) -> None:
    if not right:
        raise InvalidPlan(expected, "a plan that breaks this", "fix the guess that made it")
