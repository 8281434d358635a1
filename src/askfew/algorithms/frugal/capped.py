"""The promise "groups" under a cap: no cell is ever asked more than ``per_cell`` times.

Two groups and few answers per cell: panels that cover all items (``claim/cover.py``), no answer set
apart. Otherwise EXPLORE finds questions that tell the groups apart; nothing is claimed from it.
CERTIFY fixes a panel and labels everything by fresh answers over several questions
(``claim/panel.py``).
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from askfew.algorithms.frugal.claim.cover import Cover
from askfew.algorithms.frugal.claim.cover_certificate import cover_certificate
from askfew.algorithms.frugal.claim.panel import ATTEMPTS, MOST_GROUPS, Ledger, Panel
from askfew.algorithms.frugal.claim.panel_certificate import panel_certificate
from askfew.algorithms.frugal.guess.cover import CoverGuesser
from askfew.algorithms.frugal.guess.panel import Guesser
from askfew.errors import EndOfAnswers, InvalidInput, InvalidPlan
from askfew.plans import Plan
from askfew.records import (
    Certificate,
    Finding,
    Ints,
    Problem,
    Procedure,
    Status,
    WhyUndecided,
    planned,
)
from askfew.wording import counted

__all__ = ["capped"]

_MOST_CELLS = 5 * 10**6
"""Items times questions that are considered: of a larger problem, questions at random."""
_COVERED = 240
"""Items at most that panels may cover: every Batch weighs all of their partitions."""
_FEW_ANSWERS = 8
"""Answers per cell up to which panels cover all items: at 5 they took three quarters of what one
panel took, and all runs ended (8 worlds of 60 items); 12 is left to one panel."""


def capped(
    problem: Problem,
    delta: float,
    rng: np.random.Generator,
    *,
    groups: int,
    per_cell: int,
) -> Procedure[Finding]:
    """Labels of identical items from at most ``per_cell`` answers of any (item, question)."""
    if not _whole(per_cell):
        raise InvalidInput(
            "per_cell must be a whole number from 1", repr(per_cell), "pass for example 12"
        )
    most = min(MOST_GROUPS, problem.items)
    if not _whole(groups) or not 2 <= groups <= most:
        raise InvalidInput(
            f"with per_cell, groups must be a whole number from 2 to {most}",
            repr(groups),
            "pass how many groups there are",
        )
    root = int(rng.integers(2**63))
    if groups == 2 and 2 < problem.items <= _COVERED and per_cell <= _FEW_ANSWERS:
        return _cover(problem, delta, root, per_cell)
    return _run(problem, delta, root, groups, per_cell)


def _cover(problem: Problem, delta: float, root: int, per_cell: int) -> Procedure[Finding]:
    """Panels that cover all items, asked until nothing is left to be said."""
    ledger = Ledger(problem, per_cell, _deck(problem, root))
    cover = Cover(ledger, delta, np.random.default_rng([root, 0]).permutation(problem.items))
    guesser = CoverGuesser(cover, root)
    try:
        while (cover.labels < 0).any():
            plan = yield from planned(guesser.next)
            guesser.accept(plan)
            if plan.kind == "end":
                break
            batch = cover.ask(plan)
            tally = yield batch
            cover.settle(tally)
            guesser.learn()
    except EndOfAnswers as end:
        return _covered(cover, delta, end.status, str(end))
    if (cover.labels >= 0).all():
        return _covered(cover, delta, "done", "every item is certified")
    if (cover.labels >= 0).any():
        return _covered(cover, delta, "undecided", _more(per_cell))
    needed = max(cover.root_needed, cover.node_needed)
    if guesser.carried < needed:
        return _covered(cover, delta, "undecided", _too_little(plan, needed, per_cell))
    return _covered(cover, delta, "undecided", _no_panel(per_cell))


def _covered(cover: Cover, delta: float, status: Status, reason: str) -> Finding:
    """What was certified, in the order of the first items, and why the rest was not."""
    labels = _in_order(cover.labels)
    fits_badly, useful = set(cover.misfits.tolist()), cover.used > 0
    has_room = np.asarray((cover.ledger.room[:, useful] > 0).any(axis=1))
    why: dict[int, WhyUndecided] = {
        int(i): "misfit" if i in fits_badly else "between" if has_room[i] else "few-answers"
        for i in np.flatnonzero(labels < 0)
    }
    if not (labels >= 0).any():
        return Finding(labels, status=status, undecided=why, groups=2, reason=reason)
    return Finding(
        labels,
        int(cover.ledger.deck[int(np.argmax(cover.used))]),
        cover_certificate(cover, delta, labels),
        status,
        undecided=why,
        groups=2,
        reason=reason,
    )


def _run(
    problem: Problem, delta: float, root: int, groups: int, per_cell: int
) -> Procedure[Finding]:
    """EXPLORE and CERTIFY; where no panel can be certified, again with the next part of delta."""
    if problem.items == groups:
        promise = f"There are {groups} groups and {groups} items: nothing had to be asked."
        stated = Certificate(delta, promise, (f"there are exactly {groups} groups",))
        return Finding(np.arange(groups), None, stated, groups=groups)
    ledger = Ledger(problem, per_cell, _deck(problem, root))
    needed = math.log(problem.items / delta)
    guesser = Guesser(ledger, groups, needed, root)
    panel: Panel | None = None
    try:
        for attempt in range(1, ATTEMPTS + 1):
            found = yield from _explore(ledger, guesser, attempt > 1)
            if found.kind == "hopeless":
                return _finding(
                    ledger, groups, delta, None, "undecided", _too_little(found, needed, per_cell)
                )
            panel = Panel(ledger, groups, delta, attempt, found.ints("members").tolist())
            again = yield from _certify(panel, guesser)
            if not again:
                break
    except EndOfAnswers as end:
        return _finding(ledger, groups, delta, panel, end.status, str(end))
    assert panel is not None
    if (panel.labels >= 0).all():
        return _finding(ledger, groups, delta, panel, "done", "every item is certified")
    why = _more(per_cell) if (panel.labels >= 0).any() else _no_panel(per_cell)
    return _finding(ledger, groups, delta, panel, "undecided", why)


def _explore(ledger: Ledger, guesser: Guesser, again: bool) -> Procedure[Plan]:
    """Rounds that never count, until the guess proposes a panel or sees no hope."""
    if again:
        guesser.forget()
    while True:
        plan = yield from planned(partial(guesser.explore, again))
        guesser.accept(plan)
        again = False
        if plan.kind in ("panel", "hopeless"):
            return plan
        if plan.kind != "explore":
            raise InvalidPlan("a plan to explore, or a panel", plan.kind, "mend the guess")
        batch = ledger.explore(plan)
        tally = yield batch
        ledger.record(batch, tally)
        guesser.learn()


def _certify(panel: Panel, guesser: Guesser) -> Procedure[bool]:
    """Batches that count, until nothing is left to be said; whether to try another panel."""
    while (panel.labels < 0).any() and not panel.broken:
        guesser.refit(panel)
        plan = yield from planned(partial(guesser.certify, panel))
        if plan.kind != "certify":
            return plan.kind == "again" and not (panel.labels >= 0).any()
        batch = panel.ask(plan)
        tally = yield batch
        panel.settle(tally)
    return panel.broken


def _deck(problem: Problem, root: int) -> Ints:
    most = max(_MOST_CELLS // problem.items, 1)
    every = np.arange(problem.questions)
    if problem.questions <= most:
        return every
    return np.sort(np.random.default_rng([root, 1]).choice(every, most, replace=False))


def _no_panel(per_cell: int) -> str:
    return (
        f"no panel could be certified with {counted(per_cell, 'answer')} per cell; more questions"
        " that tell the groups apart, a larger per_cell, or promise='rule' with an error share"
        " would help"
    )


def _more(per_cell: int) -> str:
    return (
        "all items that the cap lets decide are certified; more questions that tell the groups"
        f" apart or a larger per_cell (now {per_cell}) would decide more"
    )


def _too_little(plan: Plan, needed: float, per_cell: int) -> str:
    try:
        carried, useful = float(plan.facts["carried"]), int(plan.facts["useful"])
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidPlan(
            "a hopeless plan says what is carried and useful", repr(error), "mend the guess"
        ) from error
    return (
        f"the questions do not carry enough: about {carried:.1f} nats of evidence can be had about"
        f" an item where {needed:.1f} are needed, and {counted(useful, 'question')} seem to tell"
        " the groups apart. More questions that do, a larger per_cell"
        f" (now {per_cell}), or promise='rule' with an error share would help"
    )


def _finding(
    ledger: Ledger, groups: int, delta: float, panel: Panel | None, status: Status, reason: str
) -> Finding:
    """What was certified, in the order of the first items, and why the rest was not."""
    n = ledger.problem.items
    if panel is None or not (panel.labels >= 0).any():
        left: dict[int, WhyUndecided] = dict.fromkeys(range(n), "few-answers")
        return Finding(np.full(n, -1), status=status, undecided=left, groups=groups, reason=reason)
    labels = _in_order(panel.labels)
    fits_badly = set(panel.misfits.tolist())
    useful = panel.used > 0
    has_room = np.asarray((ledger.room[:, useful] > 0).all(axis=1))
    why: dict[int, WhyUndecided] = {
        int(i): "misfit" if i in fits_badly else "between" if has_room[i] else "few-answers"
        for i in np.flatnonzero(labels < 0)
    }
    return Finding(
        labels,
        int(ledger.deck[int(np.argmax(panel.used))]),
        panel_certificate(panel, delta, labels),
        status,
        panel.for_labels(),
        undecided=why,
        groups=groups,
        reason=reason,
    )


def _in_order(labels: Ints) -> Ints:
    """Groups numbered by their first items."""
    seen = labels >= 0
    _, first, group = np.unique(labels[seen], return_index=True, return_inverse=True)
    named = labels.copy()
    named[seen] = np.argsort(np.argsort(first))[group]
    return named


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
