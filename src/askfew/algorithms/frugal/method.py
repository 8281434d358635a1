"""The frugal method: the choice between its three ways, and the loop they share.

POOLED      two groups: search a pair, hunt a good question, label every item by it
EXCLUSION   more groups: find an item that represents each, exclude everybody from all but one
PANELS      a small cap on the answers of a cell: evidence is added up over many questions

Each way has a claim, which all labels rest on (``claim/``), and a guess, which decides whom to ask
(``guess/``). An AUDIT may follow, which looks for questions that split a group. docs/method.md is
the specification.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Literal, Protocol, TypeVar

import numpy as np

from askfew.algorithms.frugal.claim.audit import AuditClaim
from askfew.algorithms.frugal.claim.cover import Cover
from askfew.algorithms.frugal.claim.exclusion import Exclusion
from askfew.algorithms.frugal.claim.exclusion_certificate import exclusion_finding
from askfew.algorithms.frugal.claim.ledger import Ledger
from askfew.algorithms.frugal.claim.panel import MOST_GROUPS, PanelClaim
from askfew.algorithms.frugal.claim.panel_certificates import cover_finding, panel_finding
from askfew.algorithms.frugal.claim.pooled import PooledClaim
from askfew.algorithms.frugal.claim.pooled_certificate import pooled_finding
from askfew.algorithms.frugal.guess.exclusion.phases import Chooser as ExclusionChooser
from askfew.algorithms.frugal.guess.panels.cover import CoverGuesser
from askfew.algorithms.frugal.guess.panels.panel import PanelGuesser
from askfew.algorithms.frugal.guess.pooled.history import Tuning
from askfew.algorithms.frugal.guess.pooled.phases import Chooser as PooledChooser
from askfew.answers import Number
from askfew.errors import EndOfAnswers, InvalidInput
from askfew.estimates.cells import Cells
from askfew.plans import Plan
from askfew.records import Batch, Certificate, Finding, Problem, Procedure, Tally, planned

__all__ = [
    "by_exclusion",
    "by_panels",
    "frugal",
    "goes_by_panels",
    "nothing_to_ask",
    "run_claim",
]

_ONE_QUESTION = 20
"""Answers of a cell from which on single questions can carry labels. At a cap of 40 (60 items, 4 of
40 questions useful, yes/no gap 0.7) this finished 100 of 100 runs with 926 answers, panels 98 with
1708; at 20 it finished half of them."""
_COVERED = 240
"""Most items that panels may cover. A plain choice: every Batch weighs all of their partitions, so
the time grows with the items. More items are left to one panel, whose promise is the same."""
_FEW_ANSWERS = 8
"""Answers per cell up to which panels cover all items: at 5 they took three quarters of what one
panel took, and all runs ended (8 worlds of 60 items); 12 is left to one panel."""


def frugal(
    problem: Problem,
    delta: float,
    rng: np.random.Generator,
    *,
    groups: int | Literal["auto"] = 2,
    per_cell: int | None = None,
    tolerance: float = 0.0,
    audit: int = 0,
    hunt: float = Tuning.hunt,
    growth: float = Tuning.growth,
    step: float = Tuning.step,
) -> Procedure[Finding]:
    """Label all items, rightly with probability at least 1 - delta, from few answers.

    Items of one of the ``groups`` differ by at most ``tolerance`` on every question, in the
    answers' units. No (item, question) is asked more than ``per_cell`` times. At most ``audit``
    answers are asked for after the last label, to see whether items of a group are alike; no label
    depends on them. The other options are those of ``Tuning``, for two groups: they change what is
    asked, never what is promised.
    """
    tuning = Tuning(hunt, growth, step)
    _check(problem, groups, per_cell, tolerance)
    _check_audit(audit, per_cell)
    if groups == 2 and problem.items == 2:
        return nothing_to_ask(delta, 2)
    if goes_by_panels(groups, per_cell):
        assert per_cell is not None
        if groups == "auto" or tolerance:
            what = 'groups = "auto"' if groups == "auto" else f"a tolerance of {tolerance:g}"
            raise InvalidInput(
                f"per_cell below {_ONE_QUESTION}, or with more than two groups, needs a known"
                " number of groups and no tolerance",
                what,
                'leave it out, or use method "rule"',
            )
        return by_panels(problem, delta, rng, groups=groups, per_cell=per_cell, audit=audit)
    if groups != 2:
        return by_exclusion(problem, delta, rng, groups=groups, tolerance=tolerance, audit=audit)
    claim, root = PooledClaim(problem, delta, tolerance, per_cell), _root(rng)
    after = _Audit(problem, audit, root, tolerance, per_cell)
    return run_claim(claim, PooledChooser(claim, root, tuning), pooled_finding, after)


def goes_by_panels(groups: object, per_cell: int | None) -> bool:
    """Whether labels come from panels over several questions: a cap, and not single questions.

    >>> goes_by_panels(2, 40), goes_by_panels(2, 12), goes_by_panels(3, 40), goes_by_panels(3, None)
    (False, True, True, False)
    """
    return per_cell is not None and (per_cell < _ONE_QUESTION or groups != 2)


def by_exclusion(
    problem: Problem,
    delta: float,
    rng: np.random.Generator,
    *,
    groups: int | Literal["auto"],
    tolerance: float = 0.0,
    audit: int = 0,
) -> Procedure[Finding]:
    """Any number of groups: find a representative of each, label by exclusion.

    With "auto" further groups are looked for as long as it seems worth it; the certificate then
    says that there are at least as many as were found.
    """
    claim = Exclusion(problem, delta, None if groups == "auto" else groups, tolerance)
    root = _root(rng)
    after = _Audit(problem, audit, root, tolerance)
    return run_claim(claim, ExclusionChooser(claim, root), exclusion_finding, after)


def by_panels(
    problem: Problem,
    delta: float,
    rng: np.random.Generator,
    *,
    groups: int,
    per_cell: int,
    audit: int = 0,
) -> Procedure[Finding]:
    """Label items under a small cap: at most ``per_cell`` answers of any (item, question).

    A label then needs several questions.

    Two groups and few answers per cell: panels that cover all items, no answer set apart. Otherwise
    some answers explore, and one panel is certified by fresh ones.
    """
    most = min(MOST_GROUPS, problem.items)
    if groups > most:
        raise InvalidInput(
            f"with per_cell, groups must be a whole number from 2 to {most}",
            repr(groups),
            "pass how many groups there are",
        )
    if problem.items == groups:
        return nothing_to_ask(delta, groups)
    root = _root(rng)
    ledger = Ledger.deal(problem, per_cell, root)
    after = _Audit(problem, audit, root, per_cell=per_cell)
    if groups == 2 and problem.items <= _COVERED and per_cell <= _FEW_ANSWERS:
        cover = Cover(ledger, delta, np.random.default_rng([root, 0]).permutation(problem.items))
        return run_claim(cover, CoverGuesser(cover, root), cover_finding, after)
    claim = PanelClaim(ledger, groups, delta)
    return run_claim(claim, PanelGuesser(claim, root), panel_finding, after)


def nothing_to_ask(delta: float, groups: int) -> Procedure[Finding]:
    """Return labels without asking: there are as many items as groups, so each item is alone."""
    many = "two" if groups == 2 else str(groups)
    promise = f"There are {many} groups and {many} items: nothing had to be asked."
    stated = Certificate(delta, promise, (f"there are exactly {many} groups",))
    return Finding(np.arange(groups), None, stated, groups=groups)
    yield  # never reached; it makes this function a generator, as every procedure is


class Claim(Protocol):
    """The part of a way that labels rest on: it checks plans, asks them, and counts the answers."""

    @property
    def over(self) -> bool:
        """Whether there is nothing left to ask."""

    def ask(self, plan: Plan) -> Batch | None:
        """The Batch of a plan, or None if it asks nothing; a plan that is not sound is refused."""

    def settle(self, tally: Tally) -> None:
        """Count the answers of the last Batch."""


class Guess(Protocol):
    """The part of a way that proposes plans, and learns from their answers."""

    def propose(self) -> Plan:
        """The next plan, from all that was accepted and learnt. A replay does not call it."""

    def accept(self, plan: Plan) -> None:
        """Note the plan that is carried out, also if it came from the log."""

    def learn(self, plan: Plan, batch: Batch, tally: Tally) -> None:
        """Take in the answers to the plan, after the claim has."""


C = TypeVar("C", bound=Claim)


class _Audit:
    """What comes after the last label: more answers about labelled items, if they are wanted."""

    def __init__(
        self,
        problem: Problem,
        most: int,
        root: int,
        tolerance: float = 0.0,
        per_cell: int | None = None,
    ) -> None:
        self.problem, self.most, self.root = problem, most, root
        self.tolerance, self.per_cell = tolerance, per_cell
        self._heard, self._asked = Cells(problem), Cells(problem)

    def hear(self, batch: Batch, tally: Tally) -> None:
        """Remember who was asked what, and what came back."""
        if self.most:
            self._heard.add(batch, tally)
            if self.per_cell is not None:
                self._asked.add(batch, Tally(batch.repeats, np.zeros(len(batch))))

    def of(self, found: Finding) -> Procedure[Finding]:
        """The same finding, and what was asked about it."""
        from askfew.algorithms.frugal.guess.audit import Auditor  # it needs SciPy

        asked = self._asked.sums()
        cells = asked.item * self.problem.questions + asked.question
        claim = AuditClaim(
            self.problem, found, self.most, per_cell=self.per_cell, cells=cells, times=asked.count
        )
        if claim.over:
            return found
        auditor = Auditor(claim, self._heard, self.root, self.tolerance)
        try:
            while not claim.over:
                yield from _one_step(claim, auditor, self)
        except EndOfAnswers:
            pass  # what is certified stands
        return replace(found, audited=claim.audited)


def run_claim(
    claim: C,
    guess: Guess,
    finding: Callable[[C, EndOfAnswers | None], Finding],
    audit: _Audit | None = None,
) -> Procedure[Finding]:
    """Let the guess propose and the claim ask and count, until there is nothing left to ask."""
    try:
        while not claim.over:
            yield from _one_step(claim, guess, audit)
    except EndOfAnswers as end:
        return finding(claim, end)
    found = finding(claim, None)
    return found if audit is None else (yield from audit.of(found))


def _one_step(claim: Claim, guess: Guess, audit: _Audit | None) -> Procedure[None]:
    """One plan, its Batch and its answers; none of them is kept for the next step."""
    plan = yield from planned(guess.propose)
    batch = claim.ask(plan)
    guess.accept(plan)
    if batch is not None:
        tally = yield batch
        # The claim counts first: the guess then sees the labels as they stand.
        claim.settle(tally)
        guess.learn(plan, batch, tally)
        if audit is not None:
            audit.hear(batch, tally)


def _root(rng: np.random.Generator) -> int:
    """The seed of all random numbers of the guess.

    One number is drawn at the start. Later draws depend on it and on the step only, so a replay
    that skips the guess's proposals draws the same numbers afterwards.
    """
    return int(rng.integers(2**63))


def _check(problem: Problem, groups: object, per_cell: object, tolerance: float) -> None:
    if groups != "auto" and not (_whole(groups, 2) and groups <= problem.items):  # type: ignore[operator]
        raise InvalidInput(
            f"groups must be a whole number from 2 to the {problem.items} items, or 'auto'",
            repr(groups),
            "say how many groups there are",
        )
    if per_cell is not None and not _whole(per_cell, 1):
        raise InvalidInput(
            "per_cell must be a whole number from 1", repr(per_cell), "pass for example 12"
        )
    kind = problem.kind
    widest = math.inf if isinstance(kind, Number) else kind.high - kind.low
    if not (isinstance(tolerance, int | float) and 0 <= tolerance < widest):
        raise InvalidInput(
            "tolerance, how far items of one group may differ, must be a number from 0"
            + ("" if math.isinf(widest) else f" and less than {widest:g}"),
            tolerance,
            "leave it out where they are alike",
        )


def _check_audit(audit: object, per_cell: int | None) -> None:
    if not _whole(audit, 0):
        raise InvalidInput(
            "audit, the answers to ask for after the last label, must be a whole number from 0",
            repr(audit),
            "pass for example 300",
        )
    if audit and per_cell == 1:
        raise InvalidInput(
            "an audit asks the same twice, so it needs a per_cell of at least 2",
            "per_cell 1",
            "leave audit out",
        )


def _whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
