"""LEARN with one or two defining questions: whether a high answer means group 1 or group 0.

There is nothing to fit: such questions are the split. Anchors say which side is which group.
Without anchors the first question does, and a second one is turned to agree with it.
"""

from __future__ import annotations

import numpy as np

from askfew.algorithms.rule.guess.pilot import Pilot, freeze
from askfew.algorithms.rule.screen import Screen
from askfew.answers import Number
from askfew.estimates.classes import CellMeans
from askfew.plans import Plan
from askfew.records import Floats, Ints
from askfew.rule import Node, Rule

__all__ = ["learn_direction"]

_LARGEST_NOISE = 0.5
"""The largest standard deviation of an answer between 0 and 1."""


def learn_direction(pilot: Pilot, screen: Screen) -> Plan:
    """The next plan of the pilot."""
    kind = pilot.problem.kind
    bounded = not isinstance(kind, Number)
    known = np.flatnonzero(pilot.anchors >= 0)
    questions = np.sort(pilot.defining)
    signs, cuts = np.ones(len(questions)), np.zeros(len(questions))
    if len(known) or len(questions) > 1 or not bounded:
        if not screen.rows:
            who = known if len(known) else pilot.order[: pilot.tuning.unlabelled]
            return pilot.screen_plan(who, questions)
        items, _, counts, sums = screen.table()
        # Repeats count in full: what is looked for is these items' own means.
        answered = CellMeans.of(kind, counts, sums, discount=0.0)
        told = pilot.anchors[items]
        if len(known) and not _is_clear(answered, told, pilot.tuning.clear):
            again = min(counts.max(), pilot.tuning.anchor_times - counts.max())
            plan = pilot.screen_plan(known, questions, again, before=(items, questions, counts))
            if len(plan.columns["items"]):
                return plan
        signs = _by_anchors(answered, told) if len(known) else _by_first(answered)
        cuts = answered.overall
    if bounded:
        cuts = np.full(len(questions), (kind.low + kind.high) / 2)
    node = Node(
        tuple(range(len(questions))), tuple(signs.tolist()), tuple(cuts.tolist()), (0,), (1,)
    )
    return freeze(Rule(tuple(questions.tolist()), node, tuple(pilot.names or "01")), None)


def _by_anchors(answered: CellMeans, told: Ints) -> Floats:
    """+1 for each question on which the anchors of group 1 lie higher, else -1."""
    return np.where(_apart(answered, told)[0] < 0, -1.0, 1.0)


def _by_first(answered: CellMeans) -> Floats:
    """+1 for the first question and for one that goes along with it, else -1."""
    apart = np.where(answered.weights > 0, answered.means - answered.overall, 0.0)
    return np.where((apart * apart[:, :1]).sum(axis=0) < 0, -1.0, 1.0)


def _is_clear(answered: CellMeans, told: Ints, errors: float) -> bool:
    """Whether the anchors' groups lie at least ``errors`` standard errors apart on every question.

    The standard errors are those of these anchors' own means. They fall when the anchors are asked
    again; how much anchors of a group differ does not enter.
    """
    apart, error = _apart(answered, told)
    return bool((np.abs(apart) >= errors * error).all())


def _apart(answered: CellMeans, told: Ints) -> tuple[Floats, Floats]:
    """How much higher group 1 lies than group 0, all anchors weighted alike; its standard error."""
    sides, errors = [], []
    for group in (0, 1):
        weights, means = answered.weights[told == group], answered.means[told == group]
        heard = np.maximum((weights > 0).sum(axis=0), 1)
        sides.append(means.sum(axis=0) / heard)  # a mean is 0 where nothing was answered
        inverse = np.divide(1.0, weights, out=np.zeros_like(weights), where=weights > 0)
        errors.append(inverse.sum(axis=0) / heard**2)
    noise = _LARGEST_NOISE if answered.sigma is None else answered.sigma
    return sides[1] - sides[0], noise * np.sqrt(errors[0] + errors[1])
