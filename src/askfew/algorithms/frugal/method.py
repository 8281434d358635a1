"""The frugal method: which way for how many groups, and the way for two.

Two groups: search a pair, hunt a good question, label every item by it. More groups go by exclusion
from representatives (``many_groups``), small caps on a cell by panels (``capped``).
"""

from __future__ import annotations

import math
from typing import Literal, Protocol

import numpy as np

from askfew.algorithms.frugal.capped import capped
from askfew.algorithms.frugal.claim.certificate import give_certificate, two_items
from askfew.algorithms.frugal.claim.pooled import PooledClaim
from askfew.algorithms.frugal.guess.choose import Chooser
from askfew.algorithms.frugal.many_groups import many_groups
from askfew.algorithms.frugal.tuning import Tuning
from askfew.answers import Number
from askfew.errors import EndOfAnswers, InvalidInput
from askfew.plans import Plan
from askfew.records import Finding, Problem, Procedure, Status, Tally, planned

__all__ = ["Guesser", "frugal", "goes_by_panels", "label_all"]

_ONE_QUESTION = 20
"""Answers of a cell from which on single questions can carry labels. At a cap of 40 (60 items, 4 of
40 questions useful, yes/no gap 0.7) this finished 100 of 100 runs with 926 answers, panels 98 with
1708; at 20 it finished half of them."""


def frugal(
    problem: Problem,
    delta: float,
    rng: np.random.Generator,
    *,
    groups: int | Literal["auto"] = 2,
    per_cell: int | None = None,
    tolerance: float = 0.0,
    hunt: float = Tuning.hunt,
    growth: float = Tuning.growth,
    step: float = Tuning.step,
) -> Procedure[Finding]:
    """All labels right with probability at least 1 - delta, from few answers.

    Items of one of the ``groups`` differ by at most ``tolerance`` on every question, in the
    answers' units. No (item, question) is asked more than ``per_cell`` times. The other options are
    those of ``Tuning``, for two groups: they change what is asked, never what is promised.
    """
    tuning = Tuning(hunt, growth, step)
    _check(problem, groups, per_cell, tolerance)
    if groups == 2 and problem.items == 2:
        return _two_items(delta)
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
        return capped(problem, delta, rng, groups=groups, per_cell=per_cell)
    if groups != 2:
        return many_groups(problem, delta, rng, groups=groups, tolerance=tolerance)
    claim = PooledClaim(problem, delta, tolerance, per_cell)
    return label_all(claim, Chooser(claim, int(rng.integers(2**63)), tuning))


def goes_by_panels(groups: object, per_cell: int | None) -> bool:
    """Whether labels come from panels over several questions: a cap, and not single questions.

    >>> goes_by_panels(2, 40), goes_by_panels(2, 12), goes_by_panels(3, 40), goes_by_panels(3, None)
    (False, True, True, False)
    """
    return per_cell is not None and (per_cell < _ONE_QUESTION or groups != 2)


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


def _whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _two_items(delta: float) -> Procedure[Finding]:
    """Nothing has to be asked."""
    return Finding(np.array([0, 1]), None, two_items(delta))
    yield  # a procedure all the same


class Guesser(Protocol):
    """Whoever proposes plans, and learns what they brought."""

    def propose(self) -> Plan:
        """The next plan."""

    def learn(self, plan: Plan, tally: Tally) -> None:
        """Take in what a plan brought, whoever proposed it."""


def label_all(claim: PooledClaim, guesser: Guesser) -> Procedure[Finding]:
    """The guess proposes, the claim asks and counts, until there is nothing left to ask."""
    try:
        while True:
            plan = yield from planned(guesser.propose)
            batch = claim.ask(plan)
            if batch is None:
                break
            tally = yield batch
            claim.settle(tally)
            guesser.learn(plan, tally)
    except EndOfAnswers as end:
        if not claim.labellings:
            raise
        claim.set_aside()
        return _finding(claim, end.status, str(end))
    claim.set_aside()
    if (claim.labels() >= 0).all():
        return _finding(claim, "done", "every item is certified")
    if set(np.flatnonzero(claim.labels() < 0).tolist()) <= set(claim.misfits()):
        return _finding(claim, "undecided", "all items but those that fit no group are certified")
    if claim.misfits() and (claim.labels() < 0).all():
        return _finding(claim, "undecided", "once misfits are set aside, only one group is left")
    if claim.per_cell is not None:
        return _finding(
            claim,
            "undecided",
            f"with at most {claim.per_cell} answers a cell, the questions do not carry more labels;"
            " more questions that tell the groups apart would help, or a larger per_cell",
        )
    return _finding(claim, "stalled", "some items give no answer")


def _finding(claim: PooledClaim, status: Status, reason: str) -> Finding:
    labels, misfits = claim.labels(), set(claim.misfits())
    certificate = give_certificate(claim)
    return Finding(
        labels,
        claim.labellings[0].question if certificate is None else certificate.question,
        certificate,
        status,
        claim.strongest(),
        undecided={
            int(item): "misfit" if item in misfits else "few-answers"
            for item in np.flatnonzero(labels < 0)
        },
        reason=reason,
    )
