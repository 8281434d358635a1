"""The promise "groups" under a cap: no cell is ever asked more than ``per_cell`` times.

EXPLORE finds questions that tell the groups apart; nothing is claimed from it. CERTIFY fixes a
panel and labels everything by fresh answers over several questions (``claim/panel.py``).
"""

from __future__ import annotations

import math

import numpy as np

from askfew.algorithms.frugal.claim.panel import ATTEMPTS, MOST_GROUPS, Ledger, Panel
from askfew.algorithms.frugal.guess.panel import Guesser
from askfew.errors import EndOfAnswers, InvalidInput, InvalidPlan
from askfew.records import Finding, Problem, Procedure, Status, planned

__all__ = ["capped"]

_MOST_CELLS = 5 * 10**6
"""Items times questions that are considered: of a larger problem, questions at random."""


def capped(
    problem: Problem,
    delta: float,
    rng: np.random.Generator,
    *,
    groups: int,
    per_cell: int,
) -> Procedure[Finding]:
    """Labels of identical items from at most ``per_cell`` answers of any (item, question)."""
    return _run(problem, delta, int(rng.integers(2**63)), groups, per_cell)


def _run(problem: Problem, delta: float, root: int, groups: int, per_cell: int) -> Procedure[Finding]:
    most = max(_MOST_CELLS // problem.items, 1)
    deck = np.arange(problem.questions)
    if problem.questions > most:
        deck = np.sort(np.random.default_rng([root, 1]).choice(deck, most, replace=False))
    ledger = Ledger(problem, per_cell, deck)
    guesser = Guesser(ledger, groups, math.log(problem.items / delta), root)
    panel = None
    status: Status = "undecided"
    try:
        for attempt in range(1, ATTEMPTS + 1):
            again = attempt > 1
            while True:
                plan = yield from planned(lambda: guesser.explore(again))
                again = False
                if plan.kind == "panel":
                    break
                batch = ledger.explore(plan)
                tally = yield batch
                ledger.record(batch, tally)
            panel = Panel(ledger, groups, delta, attempt, plan.ints("members").tolist())
            while (panel.labels < 0).any():
                now = panel
                plan = yield from planned(lambda: guesser.certify(now))
                if plan.kind != "certify":
                    break
                batch = panel.ask(plan)
                tally = yield batch
                panel.settle(tally)
            if plan.kind != "again":
                break
    except EndOfAnswers as end:
        status = end.status
    labels = np.full(problem.items, -1) if panel is None else panel.labels
    if (labels >= 0).all():
        status = "done"
    return Finding(labels, None, None, status, groups=groups)
