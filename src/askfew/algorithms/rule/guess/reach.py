"""Whether the caps of the cells still let items be certified; if not, learning ends at once.

A cell takes only so many answers, the pilot uses some of them, and what is left bounds the evidence
that an item can ever have. Two bounds are used, and both are generous:

- Before the first answer: every question is as good as a question can be, and every answer favours
  the item. With cuts t, a round adds at most ``log(1 + .85 (1 - t) / t)`` nats an answer for one
  side and ``log(1 + .85 t / (1 - t))`` for the other, so both sides are certified only if
  ``log(1.85)`` is enough.
- After answers: a typical item of a group gains ``KL(level, cut)`` nats an answer on average, even
  with the best bets. The levels are those of the fitted classes, two standard errors further apart.

Learning ends where fewer than half of the items could be certified that could have been without a
pilot. A campaign that finishes certifies nearly all.
"""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np

from askfew.algorithms.rule.guess.pilot import Pilot
from askfew.algorithms.rule.screen import Screen
from askfew.answers import Number, YesNo
from askfew.estimates.classes import EDGE, CellMeans, Classes
from askfew.estimates.separation import separation
from askfew.evidence.line import largest_bet
from askfew.plans import Plan
from askfew.records import Floats, Ints

__all__ = ["before_answers", "is_tight", "with_answers"]

_ITEMS = 2000
"""The most items that are looked at. A round number, for speed: only their share matters."""
_WEAK = 0.3
"""Nats an answer of a question that is worth asking. Where so much is enough nothing is tight. A
plain choice: half of what the best questions give, and it only saves time."""


def before_answers(pilot: Pilot) -> Plan | None:
    """A plan to stop, if no questions could be good enough for these caps."""
    if not _is_capped(pilot):
        return None
    return _verdict(pilot, None, np.full(len(pilot.pool), _perfect(pilot)), pilot.pool)


def is_tight(pilot: Pilot) -> bool:
    """Whether the fewest questions of a rule, if they are middling, are not enough."""
    if not _is_capped(pilot):
        return False
    gains = np.zeros(len(pilot.pool))
    gains[: pilot.tuning.need] = _WEAK
    return _verdict(pilot, None, gains, pilot.pool) is not None


def with_answers(pilot: Pilot, screen: Screen, model: Classes, told: Ints | None) -> Plan | None:
    """A plan to stop, if the questions are not good enough for these caps, as far as is known."""
    _, questions, counts, sums = screen.table()
    answered = CellMeans.of(pilot.problem.kind, counts, sums)
    return _verdict(pilot, screen, _gains(pilot, answered, model, told), questions)


def _is_capped(pilot: Pilot) -> bool:
    # A judge who repeats itself needs no rounds, and one number can be arbitrarily large.
    bounded = not isinstance(pilot.problem.kind, Number)
    return bounded and not pilot.same and bool(np.isfinite(pilot.per_cell).any())


def _perfect(pilot: Pilot) -> float:
    """Nats an answer where every answer favours the item and all cuts are in the middle."""
    most = largest_bet(YesNo(), [1.0], [0.5], 0.0) / 2
    return math.log1p(most * (1 - pilot.margin) / pilot.margin)


def _gains(pilot: Pilot, answered: CellMeans, model: Classes, told: Ints | None) -> Floats:
    """Nats an answer of each question, for the two groups that it tells apart best."""
    separated = separation(answered, model, told)
    found, doubtful = np.zeros((2, answered.weights.shape[1]))
    for levels in (model.levels, separated.levels):
        for g, h in permutations(range(len(levels)), 2):
            own, other = np.clip(levels[[g, h]], EDGE, 1 - EDGE)
            here, slope = _gain(pilot, own, other)
            error = slope * separated.spread * separated.errors[g, h]
            doubtful = np.where(here > found, error, doubtful)
            found = np.maximum(here, found)
    best = np.argsort(-found, kind="stable")[: pilot.committee]
    # Errors of several questions add up in squares: not all are better than they seem.
    more = pilot.tuning.doubt * math.sqrt(float((doubtful[best] ** 2).sum()))
    raised = found * (1 + more / max(float(found[best].sum()), 1e-9))
    return np.asarray(np.minimum(raised, _perfect(pilot)))


def _gain(pilot: Pilot, own: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Nats an answer of items at their own group's level, and how they grow with the distance."""
    cut = other + pilot.margin * (own - other)
    if isinstance(pilot.problem.kind, YesNo):
        gain = own * np.log(own / cut) + (1 - own) * np.log((1 - own) / (1 - cut))
        return gain, pilot.margin * np.abs(np.log(own * (1 - cut) / (cut * (1 - own))))
    # On a scale, answers that are always the same gain most: they never lose a bet.
    room = np.where(own > cut, cut, 1 - cut)
    return np.log1p(np.abs(own - cut) / room), 1 / room


def _verdict(pilot: Pilot, screen: Screen | None, gains: Floats, questions: Ints) -> Plan | None:
    """A plan to stop, if too few items could be certified with these gains an answer."""
    items = np.sort(pilot.order[:_ITEMS])
    caps = pilot.room(items, questions)
    # The most that the cells could have held without a pilot.
    able = _reached(caps, np.full(len(questions), _perfect(pilot)), pilot.committee) >= pilot.needed
    used = np.isin(items, pilot.order[: pilot.least_screened]).astype(np.int64)[:, np.newaxis]
    if screen is not None:
        used = np.maximum(used, screen.counts_of(questions)[items])
    nats = _reached(caps - used, gains, pilot.committee)
    reached = able & (nats >= pilot.needed)
    if able.any() and 2 * reached.sum() >= able.sum():
        return None
    return Plan(
        "out of reach",
        {
            "items": len(pilot.order),
            "reached": round(float(reached.mean()) * len(pilot.order)),
            "answers": _enough(pilot, gains),
            "share": bool(2 * (nats >= pilot.needed_of_share).sum() >= len(items)),
        },
    )


def _reached(room: Floats, gains: Floats, committee: int) -> Floats:
    """The most nats that each item can have, by its best committee: whole rounds of all of it."""
    best = np.argsort(-gains, kind="stable")
    room, gains = np.where(np.isfinite(room), room, 1e9)[:, best], gains[best]
    most = np.zeros(len(room))
    for rounds in np.unique(room[room >= 1]).tolist():
        able = room >= rounds
        chosen = able & (np.cumsum(able, axis=1) <= committee)
        most = np.maximum(most, rounds * (chosen @ gains))
    return most


def _enough(pilot: Pilot, gains: Floats) -> int:
    """How many answers per cell would be enough at least, the pilot's included."""
    each = float(np.sort(gains)[::-1][: pilot.tuning.committee].sum())
    return math.ceil(pilot.needed / max(each, 1e-3)) + (pilot.least_screened > 0)
