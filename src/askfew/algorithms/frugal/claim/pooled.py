r"""The claim for two groups: one-sided evidence against pooled references.

On one question call the group with the smaller mean *low* and the other *high*. An item is labelled
high when "it is low" is excluded, and low when "it is high" is. Against "it is low" the claim bets
upward only. Then **any other items may be references**: if the item is low, nobody's mean lies
below its own, and the evidence has expectation at most 1 whoever was presumed to be low. A wrong
presumption slows the test down and nothing else. So nobody is confirmed beforehand, and the answers
of the same step are the references of one another.

Order the groups by their mean on the question, ties by any fixed convention: every item has exactly
one true null on it, so ``log(items / part)`` is enough for all of them. Every question that labels
are given by has its own part of delta. Labels of two questions are joined through an item that has
one on both.

With a tolerance w, items of one group may differ by up to w on every question. Let low be the group
with the smallest mean of all. If an item is low, no other item's mean lies more than w below its
own; if it is high, nobody's lies more than w above: the same proof, with evidence beyond w.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from askfew.answers import AnswerKind
from askfew.errors import InvalidPlan
from askfew.evidence import log_evidence, nine_digits
from askfew.evidence.margin import Margins
from askfew.plans import Plan
from askfew.records import Batch, Floats, Ints, Problem, Snapshot, Tally, renumbered

__all__ = ["HIGH", "LOW", "Labelling", "PooledClaim", "part_of_delta"]

LOW, HIGH = 0, 1

_GRID = np.array([1.0, 1.25, 1.5, 2.0, 3.0])
"""Tolerances at which evidence is kept, as multiples of the given one. The margin that is reported
is one of them. The values are a plain choice; what matters is that they are fixed beforehand."""
_ODD = 6.0
"""An item is set aside if its evidence against its own side exceeds the threshold by this many
nats and by the logarithm of its answers. A plain choice, wide enough that items that are alike are
hardly ever set aside. It is safe: setting an item aside only takes a label back."""
_PART = 2**16
"""Rows that are weighed at a time: a bound on memory, no result depends on it."""


def part_of_delta(run: int, *, capped: bool = False) -> float:
    """The share of delta for the run-th question that labels are given by; they sum to 1.

    Without a cap the first question usually labels everybody, so it gets most of delta. Under a cap
    on the answers of a cell several questions are usually needed, so the shares fall by halves.

    >>> [part_of_delta(run) for run in (0, 1, 2, 3)]
    [0.9, 0.08, 0.01, 0.005]
    >>> [part_of_delta(run, capped=True) for run in (0, 1, 2)]
    [0.5, 0.25, 0.125]
    """
    if capped:
        return 0.5 ** (run + 1)
    return (0.9, 0.08)[run] if run < 2 else 0.02 / 2 ** (run - 1)


def nulls(items: int) -> int:
    """How many nulls the union bound counts: every item has one true null on a question."""
    return items


@dataclass(eq=False)
class Labelling:
    """Evidence and sides of all items on one question; nothing but fresh answers enters.

    ``evidence`` has a row "against low" and a row "against high". ``sides`` is -1 for undecided.
    """

    question: int
    threshold: float
    evidence: Floats
    sides: Ints
    counts: Floats
    sums: Floats
    odd: set[int] = field(default_factory=set)
    """Items that fit neither side."""
    margins: Margins | None = None
    """Evidence at larger tolerances, where one was given."""

    @classmethod
    def begin(cls, items: int, question: int, threshold: float) -> Labelling:
        """A labelling before anybody has been asked."""
        sides = np.full(items, -1)
        return cls(question, threshold, np.zeros((2, items)), sides, *np.zeros((2, items)))

    def decide(self, items: Ints) -> None:
        """Label the items that have one side left; an item with none left fits neither group."""
        out = nine_digits(self.evidence[:, items]) >= nine_digits(self.threshold)
        both = out.all(axis=0)
        self.sides[items[out[LOW] & ~both]] = HIGH
        self.sides[items[out[HIGH] & ~both]] = LOW
        self.odd.update(items[both].tolist())

    def set_aside(self, answers: AnswerKind, tolerance: float) -> None:
        """Take back labels of items whose answers are far from those of their own side.

        Exclusion is one-sided. So an item that lies far beyond its own side is labelled, too, and
        only this test notices it. Giving fewer labels breaks no promise.
        """
        for side in (LOW, HIGH):
            items = np.flatnonzero(self.sides == side)
            a, x = self.counts[items], self.sums[items]
            b, r = a.sum() - a, x.sum() - x
            own, others = x / np.maximum(a, 1), r / np.maximum(b, 1)
            far = log_evidence(answers, own, others, x, a, r, b, tolerance)
            margin = self.threshold + _ODD + np.log(np.maximum(a, 1))
            odd = items[nine_digits(far) >= nine_digits(margin)]
            self.sides[odd] = -1
            self.odd.update(odd.tolist())


@dataclass(eq=False)
class _Step:
    """What a plan fixed about the open Batch."""

    labelling: Labelling
    items: Ints
    roles: Ints
    levels: Floats
    references: Floats
    late: Ints
    own: Floats


@dataclass(eq=False)
class _Pool:
    """The references of one side in a step: which rows they are, and their answers together."""

    members: NDArray[np.bool_]
    answers: float
    total: float

    @classmethod
    def of(cls, members: NDArray[np.bool_], a: Floats, x: Floats) -> _Pool:
        return cls(members, float(a[members].sum()), float(x[members].sum()))

    def beside(self, rows: slice, a: Floats, x: Floats) -> tuple[Floats, Floats]:
        """Counts and sums of the references of these rows, whose own answers are a and x."""
        # An item is never among its own references: the proof needs its answers to be independent
        # of theirs.
        own = self.members[rows]
        return self.answers - np.where(own, a, 0.0), self.total - np.where(own, x, 0.0)


class PooledClaim:
    """The claim: it turns plans into Batches, and Tallies into labels."""

    def __init__(
        self, problem: Problem, delta: float, tolerance: float = 0.0, per_cell: int | None = None
    ) -> None:
        self.problem = problem
        self.per_cell = per_cell
        self._asked: dict[int, Ints] = {}
        self.delta = delta
        self.tolerance = tolerance
        self.labellings: list[Labelling] = []
        self.doubtful: set[int] = set()  # given up after many answers; it is only reported
        self.over = False
        self._step: _Step | None = None

    def ask(self, plan: Plan) -> Batch | None:
        """The Batch of a plan, or None if it ends the run; a plan that is not sound is refused."""
        if plan.kind == "end":
            self.over = True
            if "doubtful" in plan.columns:
                self.doubtful = set(plan.ints("doubtful").tolist())
            return None
        if plan.kind not in {"search", "hunt", "label"}:
            raise _refused("a plan must search, hunt, label or end", repr(plan.kind))
        items, repeats = plan.ints("items"), plan.ints("repeats")
        if items.shape != repeats.shape or not len(items) or (repeats < 1).any():
            raise _refused("every row of a plan must ask at least once", f"{len(items)} rows")
        if ((items < 0) | (items >= self.problem.items)).any():
            raise _refused(f"items must be 0 to {self.problem.items - 1}", "others")
        why = str(plan.facts.get("why", plan.kind))
        self._count(items, plan, repeats)
        if plan.kind != "label":
            known = Snapshot(plan.kind, self.labels(), question=_whole(plan.facts.get("best")))
            self._step = None
            return Batch(items, plan.ints("questions"), repeats, why, known)
        self._step = self._opened(plan, items)
        labelling = self._step.labelling
        expected = plan.facts.get("expected")
        known = Snapshot(
            "label",
            self.labels(),
            self.strongest(),
            labelling.threshold,
            labelling.question,
            float(expected) if isinstance(expected, int | float) else None,
        )
        questions = np.full(len(items), labelling.question)
        return Batch(items, questions, repeats, why, known)

    def room(self, question: int) -> Ints | None:
        """How often each item may still be asked a question; None if there is no cap."""
        if self.per_cell is None:
            return None
        asked = self._asked.get(question)
        room = np.full(self.problem.items, self.per_cell)
        return room if asked is None else room - asked

    def _count(self, items: Ints, plan: Plan, repeats: Ints) -> None:
        """Refuse a plan that asks a cell more often than allowed."""
        if self.per_cell is None:
            return
        fact = plan.facts.get("question")
        questions = np.full(len(items), fact) if plan.kind == "label" else plan.ints("questions")
        for question in np.unique(questions).tolist():
            rows = questions == question
            asked = self._asked.setdefault(question, np.zeros(self.problem.items, dtype=np.int64))
            np.add.at(asked, items[rows], repeats[rows])
            if asked.max() > self.per_cell:
                raise _refused(
                    f"no cell may be asked more than {self.per_cell} times", int(asked.max())
                )

    def settle(self, tally: Tally) -> None:
        """Count the answers; only those of a labelling step are evidence."""
        if self._step is None:
            return
        step, self._step = self._step, None
        a, x = tally.counts.astype(np.float64), tally.sums
        pools = [_Pool.of((step.roles >> side & 1).astype(bool), a, x) for side in (LOW, HIGH)]
        for start in range(0, len(step.items), _PART):
            self._weigh(step, slice(start, start + _PART), a, x, pools)

    def _weigh(self, step: _Step, rows: slice, a: Floats, x: Floats, pools: list[_Pool]) -> None:
        """Add the evidence of some rows of the step, and label their items."""
        labelling, items, a, x = step.labelling, step.items[rows], a[rows], x[rows]
        late = (step.late >= rows.start) & (step.late < rows.stop)
        # The evidence of a labelled item is frozen: later answers serve as references only.
        still = labelling.sides[items] < 0
        for side in (LOW, HIGH):
            b, r = pools[side].beside(rows, a, x)
            guess = np.full(len(items), step.levels[1 - side])
            guess[step.late[late] - rows.start] = step.own[late]
            block = self._block(guess, step.references[side], x, a, r, b, side)
            labelling.evidence[side, items[still]] += block[still]
            if labelling.margins is not None:
                wider = self._wider(guess, step.references[side], x, a, r, b, side)
                labelling.margins.add(items[still], side, wider[still])
        labelling.counts[items] += a
        labelling.sums[items] += x
        labelling.decide(items[still])

    def _block(
        self, guess: Floats, reference: float, x: Floats, a: Floats, r: Floats, b: Floats, side: int
    ) -> Floats:
        """Evidence against this side: a bet upward against low, downward against high."""
        # A bet in the wrong direction counts nothing: the proof for pooled references needs bets
        # upward against low and downward against high. Both guesses were fixed before the answers.
        rightly = guess >= reference if side == LOW else guess <= reference
        block = log_evidence(
            self.problem.kind, guess, reference, x, a, r, b, tolerance=self.tolerance
        )
        return np.where(rightly & (b > 0), block, 0.0)

    def _wider(
        self, guess: Floats, reference: float, x: Floats, a: Floats, r: Floats, b: Floats, side: int
    ) -> Floats:
        """The same evidence at every tolerance of the grid (items x grid)."""
        rightly = guess >= reference if side == LOW else guess <= reference
        guesses, x, a, r, b = (np.atleast_2d(each).T for each in (guess, x, a, r, b))
        blocks = log_evidence(
            self.problem.kind, guesses, reference, x, a, r, b, self.tolerance * _GRID
        )
        return np.where(rightly[:, np.newaxis] & (b > 0), blocks, 0.0)

    def margin(self) -> float | None:
        """How much items of a group may differ while all labels stay right; None if not kept.

        It is the largest tolerance of a fixed grid at which every label would have been given, and
        at all smaller ones too (see ``evidence.margin``). References rotate, so it is about every
        pair of items of a group.
        """
        found = [
            float(np.nanmin(each.margins.reported(each.sides)))
            for each in self.labellings
            if each.margins is not None and (each.sides >= 0).any()
        ]
        return min(found) if found else None

    def labelling(self, question: int) -> Labelling | None:
        """The labelling of a question, or None if no labels were looked for there."""
        return next((each for each in self.labellings if each.question == question), None)

    def _opened(self, plan: Plan, items: Ints) -> _Step:
        """The step of a checked plan; a question's first step takes the next part of delta."""
        question = _whole(plan.facts.get("question"))
        if question is None or not 0 <= question < self.problem.questions:
            raise _refused("a label plan must name its question", repr(question))
        if len(np.unique(items)) < len(items):
            raise _refused("a label plan must name no item twice", f"{len(items)} rows")
        roles, late = plan.ints("roles"), plan.ints("late")
        if roles.shape != items.shape or ((roles < 0) | (roles > 3)).any():
            raise _refused("roles must be 0 to 3, one per row", f"{len(roles)} roles")
        if ((late < 0) | (late >= len(items))).any() or len(np.unique(late)) < len(late):
            raise _refused("late must be rows of the plan", f"{len(late)} rows")
        levels, references = plan.floats("levels", 2), plan.floats("references", 2)
        if levels[LOW] > levels[HIGH]:
            raise _refused("levels must be low and high, in this order", levels.tolist())
        labelling = self.labelling(question)
        if labelling is None:
            # The share of delta depends on how many questions came before, so none is used twice.
            capped = self.per_cell is not None
            part = self.delta * part_of_delta(len(self.labellings), capped=capped)
            threshold = math.log(nulls(self.problem.items) / part)
            labelling = Labelling.begin(self.problem.items, question, threshold)
            if self.tolerance:
                grid = self.tolerance * _GRID
                labelling.margins = Margins(
                    grid, items=self.problem.items, groups=2, threshold=threshold
                )
            self.labellings.append(labelling)
        own = plan.floats("own", len(late))
        return _Step(labelling, items, roles, levels, references, late, own)

    def joined(self) -> Iterator[tuple[Labelling, int | None, Ints]]:
        """Labellings that share labelled items, the item that joins each, its sides as groups.

        The first labelling is the one with the most labels. If two disagree about an item, the
        assumptions are broken, and the item keeps its first label.
        """
        left = [each for each in self.labellings if (each.sides >= 0).any()]
        left.sort(key=lambda each: -int((each.sides >= 0).sum()))
        groups = np.full(self.problem.items, -1)
        while left:
            linked = [each for each in left if ((groups >= 0) & (each.sides >= 0)).any()]
            if not linked and (groups >= 0).any():
                return
            here = linked[0] if linked else left[0]
            # The group that lies low here may lie high on another question. One item with a label
            # on both tells: all labels are right together with probability at least 1 - delta.
            both = np.flatnonzero((groups >= 0) & (here.sides >= 0))
            flip = int(len(both) > 0 and groups[both[0]] != here.sides[both[0]])
            sides = np.where(here.sides >= 0, here.sides ^ flip, -1)
            yield here, int(both[0]) if len(both) else None, sides
            groups = np.where(groups >= 0, groups, sides)
            left.remove(here)

    def set_aside(self) -> None:
        """Take back the labels of items that fit their side badly; called when a run ends."""
        for each in self.labellings:
            each.set_aside(self.problem.kind, self.tolerance)

    def misfits(self) -> list[int]:
        """Items that fit neither side of a question."""
        return sorted(set().union(*(each.odd for each in self.labellings)))

    def labels(self) -> Ints:
        """The certified groups, -1 elsewhere; all are -1 until both groups have an item.

        So nothing is published if all items are alike: labels on both sides would mean that an item
        has crossed its true null, which has probability at most delta.
        """
        groups = np.full(self.problem.items, -1)
        if not self.labellings:
            return groups
        for _, _, sides in self.joined():
            groups = np.where(groups >= 0, groups, sides)
        groups[self.misfits()] = -1
        both = (groups == 0).any() and (groups == 1).any()
        return renumbered(groups) if both else np.full_like(groups, -1)

    def strongest(self) -> Floats:
        """Each item's strongest exclusion so far, in nats, over all questions and both sides."""
        found = [each.evidence.max(axis=0) for each in self.labellings]
        return np.max(found, axis=0) if found else np.zeros(self.problem.items)


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _refused(expected: str, got: object) -> InvalidPlan:
    return InvalidPlan(expected, got, "fix the guess that made it")
