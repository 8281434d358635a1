"""LEARN with anchors: items whose group the user knows define the groups.

The anchors are asked first. Then other items confirm the questions on which the anchors differ, and
sharpen the levels of the groups.
"""

from __future__ import annotations

import numpy as np

from askfew.algorithms.rule.guess.pilot import Pilot, freeze, give_up
from askfew.algorithms.rule.screen import Screen
from askfew.algorithms.rule.tuning import Tuning
from askfew.estimates.classes import CellMeans, fit
from askfew.estimates.separation import Separation, separation
from askfew.plans import Plan
from askfew.records import Ints

__all__ = ["learn_with_anchors"]

_FEWEST_QUESTIONS = 60
"""The fewest questions that the anchors are asked first, if there are as many. A round number:
there are few anchors, so it costs little."""
_HOPE = 2.0
"""Standard errors that are added to a question's separation where it was asked too little: the
usual two."""
_FULL = 99
"""More answers than any cell of the pilot has: nobody is asked what they answered before."""


def learn_with_anchors(pilot: Pilot, screen: Screen, rng: np.random.Generator) -> Plan:
    """The next plan of the pilot."""
    known = np.flatnonzero(pilot.anchors >= 0)
    two = len(pilot.names) == 2
    if not screen.rows:
        most = max(_FEWEST_QUESTIONS, pilot.first_answers // len(known) // 2)
        return pilot.screen_plan(known, pilot.pool[:most], 1 if pilot.same or two else 2)
    items, questions, counts, sums = screen.table()
    told = pilot.anchors[items]
    others = pilot.order[~np.isin(pilot.order, items)]
    unlabelled = len(items) - len(known)
    if two and unlabelled < pilot.tuning.unlabelled and len(others):
        return _narrow(pilot, screen, known, others, rng)
    answered = CellMeans.of(pilot.problem.kind, counts, sums)
    model = fit(answered, len(pilot.names), rng, known=told)
    if not unlabelled and len(others):
        # Among many groups every question is the best for some two: nothing can be narrowed.
        promising = questions[pilot.promising(answered, model, told, 0.0)]
        return pilot.screen_plan(others[: pilot.tuning.unlabelled_many], promising)
    rule = pilot.grown_rule(answered, model, questions, pilot.tuning.doubt_anchors, told)
    if rule is not None:
        return freeze(rule, None)
    if screen.answers >= pilot.most_answers or len(screen.rows) > pilot.tuning.most_stages:
        return give_up(None)
    if len(screen.rows) % 2:
        # Items of unknown groups sharpen the levels. Those that were asked before come first.
        promising = questions[pilot.promising(answered, model, told, 0.0)]
        missing = counts[:, np.isin(questions, promising)] == 0
        who = items[missing.any(axis=1)]
        if missing.mean() < pilot.tuning.few_missing:
            who = np.concatenate([who, others[: pilot.tuning.unlabelled]])
        plan = pilot.screen_plan(
            who, promising, before=(items, questions, np.minimum(counts, 1) * _FULL)
        )
    else:
        # A good question may have been overlooked, so the anchors are asked about candidates.
        promising = questions[pilot.promising(answered, model, told, _HOPE)]
        plan = pilot.screen_plan(known, promising, before=(items, questions, counts))
    return plan if len(plan.columns["items"]) else give_up(None)


def _narrow(
    pilot: Pilot, screen: Screen, known: Ints, others: Ints, rng: np.random.Generator
) -> Plan:
    """Ask about fewer and fewer questions: first the anchors again, then new items.

    Anchors come first because their groups are certain. But there are few of them, and each is
    an exception somewhere, so other items must confirm what the anchors show.
    """
    items, questions, counts, sums = screen.table()
    told = pilot.anchors[items]
    # Repeats count in full: only the next questions are decided here.
    answered = CellMeans.of(pilot.problem.kind, counts, sums, discount=0.0)
    model = fit(answered, 2, rng, known=told)
    separated = separation(answered, model, told)
    if len(screen.rows) * len(known) < 2 * pilot.tuning.anchor_answers:
        contenders = _contenders(pilot.tuning, separated, len(questions) >> len(screen.rows))
        plan = pilot.screen_plan(known, questions[contenders], before=(items, questions, counts))
        if len(plan.columns["items"]):
            return plan
    waves = (len(items) - len(known)) // pilot.tuning.wave
    least = len(pilot.promising(answered, model, told, 0.0)) >> waves
    contenders = _contenders(pilot.tuning, separated, least)
    return pilot.screen_plan(others[: pilot.tuning.wave], questions[contenders])


def _contenders(tuning: Tuning, separated: Separation, least: int) -> Ints:
    """The questions that may be among the best, but at least ``least`` of them."""
    distance, error = separated.distances[0, 1], tuning.hope * separated.errors[0, 1]
    best = np.argsort(-distance, kind="stable")
    sure = np.sort(distance - error)[::-1][: tuning.need]
    may_be = (distance + error)[best] >= sure[-1]
    may_be[:least] = True  # few answers must not decide alone
    return np.sort(best[may_be])
