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
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from askfew.algorithms.frugal.claim.pooled import named
from askfew.answers import AnswerKind
from askfew.errors import InvalidPlan
from askfew.evidence import log_evidence, nine_digits
from askfew.plans import Plan
from askfew.records import Batch, Floats, Ints, Problem, Snapshot, Tally, WhyUndecided
from askfew.wording import counted

__all__ = ["REASONS", "Confirmed", "Exclusion", "Mask", "Registered"]

Mask = NDArray[np.bool_]
Key = tuple[int, int]
REASONS: tuple[WhyUndecided, ...] = ("few-answers", "not-told-apart")
"""Why a plan may give an item up, as it writes them."""
_PAIR_SHARE = 0.15
"""The largest part of delta that confirms the first pair; less the more items there are."""


@dataclass
class Registered:
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


@dataclass
class Exclusion:
    """Representatives, evidence and exclusions; checks every plan, and weighs what came back."""

    problem: Problem
    delta: float
    groups: int | None
    """How many there are; None where nobody knows."""
    tolerance: float = 0.0
    attempt: int = 1
    """Pairs labelled by so far, this one included: each has its own part of delta."""
    registered: int = 0
    """Pairs registered so far; it never goes back."""
    pairs: dict[Key, Registered] = field(default_factory=dict)
    confirmed: Confirmed | None = None
    representatives: list[int] = field(default_factory=list)
    closed: bool = False
    """Whether the search for further groups has ended, where their number is not told."""
    left: dict[int, WhyUndecided] = field(default_factory=dict)
    """Items that were given up, and why."""

    def __post_init__(self) -> None:
        n = self.problem.items
        self.delta_pair = self.delta * min(4 / (n + 4), _PAIR_SHARE)
        self.evidence: Floats = np.zeros((n, 0))
        """Nats against each group (items x groups); a process ends when it excludes."""
        self.excluded: Mask = np.zeros((n, 0), dtype=bool)
        self.carried: Floats = np.zeros(self.problem.questions)
        """Nats that each question brought."""
        self._plan: Plan | None = None

    # What is known.

    @property
    def found(self) -> int:
        """Groups that have a representative."""
        return len(self.representatives)

    @property
    def complete(self) -> bool:
        """Whether every group is represented, as far as is told or believed."""
        return self.found == self.groups or (self.closed and self.groups is None)

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
    def group_of(self) -> Ints:
        """The group that an item was not excluded from, if that is one only; else -1."""
        if not self.found:
            return np.full(self.problem.items, -1)
        one = (~self.excluded).sum(axis=1) == 1
        return np.where(one, self.excluded.argmin(axis=1), -1)

    @property
    def labels(self) -> Ints:
        """Certified groups, by representative; all -1 while a group may be missing."""
        return self.group_of if self.complete else np.full(self.problem.items, -1)

    @property
    def misfits(self) -> Ints:
        """Items excluded from every group there is."""
        return np.flatnonzero(self.excluded.all(axis=1)) if self.found else np.zeros(0, np.int64)

    @property
    def open_items(self) -> Ints:
        """Items that are neither a representative, nor labelled, nor misfits."""
        return np.flatnonzero((self.labels < 0) & ~self._settled())

    @property
    def done(self) -> bool:
        """Whether nothing is left to be certified."""
        return self.complete and not len(self.open_items)

    def _settled(self) -> Mask:
        mine = np.zeros(self.problem.items, dtype=bool)
        mine[self.misfits] = True
        mine[self.representatives] = True
        return mine

    def spoken(self) -> Floats:
        """For each item, the nats of its weakest exclusion but one: those for its label."""
        if self.found < 2:
            return np.zeros(self.problem.items)
        best = np.partition(self.evidence, 1, axis=1)[:, 1]
        best[self.representatives] = self.threshold
        return np.asarray(best)

    def known(self, phase: str) -> Snapshot:
        """The snapshot for people."""
        question = int(self.carried.argmax()) if self.carried.any() else None
        labels = named(self.labels) if self.complete else self.labels
        return Snapshot(phase, labels, self.spoken(), self.threshold, question)

    # What is asked.

    def ask(self, plan: Plan) -> Batch | None:
        """The Batch of a plan, after checking every field of it; None if it asks nothing."""
        self._plan = plan
        if plan.kind == "compare":
            return self._compare(plan)
        if plan.kind == "exclude":
            return self._exclude(plan)
        if plan.kind == "restart" and self.found:
            self._restart()
        elif plan.kind == "close" and self.found >= 2 and self.groups is None:
            self.closed = True
        elif plan.kind == "end" and self.found:
            self._give_up(plan)
        else:
            raise InvalidPlan(
                f"with {counted(self.found, 'group')} found, a plan must be one that can be made",
                repr(plan.kind),
                "mend the guess that made it",
            )
        return None

    def _compare(self, plan: Plan) -> Batch:
        """Pairs of items, each on a question; some of them are registered now."""
        first, second = plan.ints("first"), plan.ints("second")
        questions, repeats = plan.ints("questions"), plan.ints("repeats")
        rows = len(first)
        plan.floats("first_guess", rows), plan.floats("second_guess", rows)
        register = plan.ints("register")
        n = self.problem.items
        _check(not self.found, "pairs are compared until one is confirmed")
        _check(rows > 0 and second.shape == questions.shape == first.shape, "pairs need a question")
        _check(_within(first, n) and _within(second, n), f"items lie between 0 and {n - 1}")
        _check(bool((first != second).all()), "a pair is two items")
        _check(_within(register, rows), "a registered pair must be asked")
        self._check_rows(questions, repeats, rows)
        for row in register.tolist():
            self.registered += 1
            self.pairs[_key(first[row], second[row])] = Registered(self.registered)
        why = f"search: compare {counted(rows, 'pair')} of items"
        return Batch(
            np.concatenate([first, second]),
            np.tile(questions, 2),
            np.tile(repeats, 2),
            why,
            Snapshot("search", self.labels),
        )

    def _exclude(self, plan: Plan) -> Batch:
        """Items on questions; where references of a group answer the same question, a block."""
        items, questions, repeats = plan.ints("items"), plan.ints("questions"), plan.ints("repeats")
        who, groups = plan.ints("reference_items"), plan.ints("reference_groups")
        about, times = plan.ints("reference_questions"), plan.ints("reference_repeats")
        rows, n = len(items), self.problem.items
        plan.floats("own_guess", rows * self.found), plan.floats("group_guess", rows * self.found)
        _check(self.found >= 2, "there must be representatives to exclude from")
        _check(rows + len(who) > 0, "a plan must ask something")
        _check(_within(items, n) and _within(who, n), f"items lie between 0 and {n - 1}")
        self._check_rows(questions, repeats, rows)
        self._check_rows(about, times, len(who))
        cells = items * self.problem.questions + questions
        # Two blocks of one process must not share their references.
        _check(len(np.unique(cells)) == rows, "a cell is asked once")
        _check(_within(groups, self.found) and groups.shape == who.shape, "references have a group")
        _check(bool(self._may_refer(who, groups).all()), "references must be certified")
        phase = str(plan.facts.get("phase", "label"))
        many = counted(len(np.unique(items)), "item")
        return Batch(
            np.concatenate([items, who]),
            np.concatenate([questions, about]),
            np.concatenate([repeats, times]),
            f"{phase}: ask {many}, with {counted(int(times.sum()), 'answer')} of references",
            self.known(phase),
        )

    def _may_refer(self, items: Ints, groups: Ints) -> Mask:
        """Whether these items are certified to be of these groups."""
        representatives = np.array(self.representatives)[groups] == items
        return np.asarray(representatives | (self._rotating & (self.labels[items] == groups)))

    @property
    def _rotating(self) -> bool:
        """Whether any certified member may be a reference: all groups exist, and are counted."""
        return self.found == self.groups

    def _check_rows(self, questions: Ints, repeats: Ints, rows: int) -> None:
        d = self.problem.questions
        _check(questions.shape == repeats.shape == (rows,), "every row has a question")
        _check(_within(questions, d), f"questions lie between 0 and {d - 1}")
        _check(not rows or repeats.min() >= 1, "a row asks at least once")

    def _restart(self) -> None:
        """Forget the representatives and all evidence; the next attempt has its part of delta."""
        self.attempt += 1
        self.confirmed, self.representatives, self.closed = None, [], False
        self.pairs.clear()
        n = self.problem.items
        self.evidence, self.excluded = np.zeros((n, 0)), np.zeros((n, 0), dtype=bool)

    def _give_up(self, plan: Plan) -> None:
        items, why = plan.ints("left"), plan.ints("why")
        _check(items.shape == why.shape and _within(why, len(REASONS)), "who is left has a reason")
        _check(_within(items, self.problem.items), "items of the problem are left")
        for item, place in zip(items.tolist(), why.tolist(), strict=True):
            self.left[item] = REASONS[place]

    # What the answers say.

    def settle(self, tally: Tally) -> None:
        """Weigh what came back on the last plan."""
        assert self._plan is not None, "ask comes before settle"
        plan, self._plan = self._plan, None
        if plan.kind == "compare":
            self._weigh_pairs(plan, tally)
        else:
            self._weigh_items(plan, tally)
            self._found_groups()

    def _weigh_pairs(self, plan: Plan, tally: Tally) -> None:
        """Add blocks to the registered pairs; the first that is confirmed represents two groups."""
        rows = len(plan.ints("first"))
        (a, b), (x, r) = tally.counts.reshape(2, -1), tally.sums.reshape(2, -1)
        guesses = plan.floats("first_guess", rows), plan.floats("second_guess", rows)
        blocks = block_evidence(self.problem.kind, *guesses, x, a, r, b, self.tolerance)
        pairs = zip(plan.ints("first").tolist(), plan.ints("second").tolist(), strict=True)
        for (first, second), block in zip(pairs, blocks.tolist(), strict=True):
            pair = self.pairs.get(_key(first, second))
            if pair is not None:
                pair.evidence += block
        for key, pair in self.pairs.items():
            needed = evidence_needed(pair.q, self.delta_pair)
            if nine_digits(pair.evidence) >= nine_digits(needed):
                self.confirmed = Confirmed(key, pair.q, pair.evidence, needed)
                self.pairs.clear()
                for item in key:
                    self._represent(item)
                return

    def _weigh_items(self, plan: Plan, tally: Tally) -> None:
        """Add every block of an item and a group whose references answered the same question."""
        items, questions = plan.ints("items"), plan.ints("questions")
        rows, k = len(items), self.found
        own = plan.floats("own_guess", rows * k).reshape(rows, k)
        group = plan.floats("group_guess", rows * k).reshape(rows, k)
        asked, column = np.unique(questions, return_inverse=True)
        b, r = np.zeros((k, len(asked))), np.zeros((k, len(asked)))
        about = plan.ints("reference_questions")
        used = np.isin(about, asked)
        where = plan.ints("reference_groups")[used], np.searchsorted(asked, about[used])
        np.add.at(b, where, tally.counts[rows:][used])
        np.add.at(r, where, tally.sums[rows:][used])
        a, x = tally.counts[:rows, np.newaxis], tally.sums[:rows, np.newaxis]
        blocks = block_evidence(
            self.problem.kind, own, group, x, a, r[:, column].T, b[:, column].T, self.tolerance
        )
        frozen = self._settled() | (self.labels >= 0)
        blocks = np.where(self.excluded[items] | frozen[items, np.newaxis], 0.0, blocks)
        np.add.at(self.evidence, items, blocks)
        np.add.at(self.carried, questions, np.maximum(blocks, 0).sum(axis=1))
        self.excluded |= nine_digits(self.evidence) >= nine_digits(self.threshold)

    def _found_groups(self) -> None:
        """Whoever is excluded from every group represents the next, if there may be one more."""
        while self.groups is None or self.found < self.groups:
            new = self.misfits
            if not len(new):
                return
            self._represent(int(new[0]))
            self.closed = False

    def _represent(self, item: int) -> None:
        """One more group: everybody's process against it begins now."""
        n, before = self.problem.items, self.representatives
        self.evidence = np.column_stack([self.evidence, np.zeros(n)])
        self.excluded = np.column_stack([self.excluded, np.zeros(n, dtype=bool)])
        self.excluded[before, -1] = True
        self.excluded[item, : len(before)] = True
        self.representatives = [*before, item]


def block_evidence(
    answers: AnswerKind,
    own: Floats,
    group: Floats,
    x: Floats,
    a: Ints | Floats,
    r: Floats,
    b: Ints | Floats,
    tolerance: float,
) -> Floats:
    """Nats of blocks against "the means differ by ``tolerance`` at most"."""
    return np.asarray(log_evidence(answers, own, group, x, a, r, b, tolerance))


def evidence_needed(q: int, delta_pair: float) -> float:
    """What the q-th registered pair must reach; 1/(q (q+1)) sums to 1 over all q."""
    return math.log(q * (q + 1) / delta_pair)


def items_to_label(items: int) -> int:
    """The union bound's count: every item but the first two representatives."""
    return max(items - 2, 1)


def _key(first: int, second: int) -> Key:
    return (int(min(first, second)), int(max(first, second)))


def _within(values: Ints, size: int) -> bool:
    return not len(values) or bool(values.min() >= 0 and values.max() < size)


def _check(right: bool, expected: str) -> None:
    if not right:
        raise InvalidPlan(expected, "a plan that breaks this", "mend the guess that made it")
