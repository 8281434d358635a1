"""The frugal method for two groups: search a pair, hunt a good question, label every item."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from askfew.algorithms.frugal.claim.certificate import give_certificate, two_items
from askfew.algorithms.frugal.claim.pooled import PooledClaim
from askfew.algorithms.frugal.guess.choose import Chooser
from askfew.algorithms.frugal.tuning import Tuning
from askfew.errors import EndOfAnswers, InvalidInput
from askfew.plans import Plan
from askfew.records import Finding, Problem, Procedure, Status, Tally, planned

__all__ = ["Guesser", "frugal", "label_all"]


def frugal(
    problem: Problem,
    delta: float,
    rng: np.random.Generator,
    *,
    tolerance: float = 0.0,
    hunt: float = Tuning.hunt,
    growth: float = Tuning.growth,
    step: float = Tuning.step,
) -> Procedure[Finding]:
    """All labels right with probability at least 1 - delta, from few answers.

    Items of one group may differ by up to ``tolerance`` on every question, in the answers' units.
    The other options are those of ``Tuning``: they change what is asked, never what is promised.
    """
    if not (math.isfinite(tolerance) and tolerance >= 0):
        raise InvalidInput(
            "tolerance, how far items of one group may differ, must be a number from 0",
            tolerance,
            "0 if they are the same",
        )
    tuning = Tuning(hunt, growth, step)
    if problem.items == 2:
        return Finding(np.array([0, 1]), None, two_items(delta))
    claim = PooledClaim(problem, delta, tolerance)
    chooser = Chooser(claim, int(rng.integers(2**63)), tuning)
    return (yield from label_all(claim, chooser))


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
