"""Any number of groups of identical items: find a representative of each, label by exclusion."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from askfew.algorithms.frugal.claim.exclusion import Exclusion
from askfew.algorithms.frugal.claim.exclusion_certificate import exclusion_certificate
from askfew.algorithms.frugal.claim.pooled import named
from askfew.algorithms.frugal.guess.exclusion import Chooser
from askfew.errors import EndOfAnswers, InvalidInput
from askfew.records import Finding, Problem, Procedure, Status, WhyUndecided, planned

__all__ = ["many_groups"]


def many_groups(
    problem: Problem,
    delta: float,
    rng: np.random.Generator,
    *,
    groups: int | Literal["auto"],
    tolerance: float = 0.0,
) -> Procedure[Finding]:
    """All labels right with probability at least 1 - delta, for so many groups.

    Items of a group may differ by ``tolerance`` on every question. With "auto" further groups are
    looked for as long as it seems worth it; the certificate then says that there are at least as
    many as were found.
    """
    _check(problem, groups, tolerance)
    claim = Exclusion(problem, delta, None if groups == "auto" else groups, tolerance)
    return _run(claim, Chooser(claim, int(rng.integers(2**63))))


def _check(problem: Problem, groups: object, tolerance: float) -> None:
    whole = isinstance(groups, int) and not isinstance(groups, bool)
    if groups != "auto" and not (whole and 2 <= groups <= problem.items):  # type: ignore[operator]
        raise InvalidInput(
            f"groups must be a whole number from 2 to the {problem.items} items, or 'auto'",
            repr(groups),
            "say how many groups there are",
        )
    if not (math.isfinite(tolerance) and tolerance >= 0):
        raise InvalidInput(
            "tolerance, how far items of a group may differ, must be a number, at least 0",
            tolerance,
            "leave it out where they are alike",
        )


def _run(claim: Exclusion, chooser: Chooser) -> Procedure[Finding]:
    """Plan, ask and weigh until every item is certified or given up."""
    try:
        while True:
            plan = yield from planned(chooser.propose)
            batch = claim.ask(plan)
            chooser.accept(plan)
            if batch is not None:
                tally = yield batch
                claim.settle(tally)
                chooser.learn(plan, batch, tally)
            elif plan.kind == "end":
                break
    except EndOfAnswers as end:
        return _finding(claim, end.status, str(end))
    left = np.flatnonzero(claim.labels < 0)
    if not len(left):
        return _finding(claim, "done", "every item is certified")
    if set(left.tolist()) <= set(claim.misfits.tolist()):
        return _finding(claim, "undecided", "all items but those that fit no group are certified")
    return _finding(
        claim, "undecided", "the other items were asked for long and could not be told apart"
    )


def _finding(claim: Exclusion, status: Status, reason: str) -> Finding:
    labels = named(claim.labels)
    misfits = set(claim.misfits.tolist())
    why: dict[int, WhyUndecided] = {
        item: "misfit" if item in misfits else claim.left.get(item, "few-answers")
        for item in np.flatnonzero(labels < 0).tolist()
    }
    question = int(claim.carried.argmax()) if claim.carried.any() else None
    return Finding(
        labels,
        question,
        exclusion_certificate(claim),
        status,
        claim.spoken(),
        undecided=why,
        groups=max(claim.found, 2) if claim.groups is None else claim.groups,
        reason=reason,
    )
