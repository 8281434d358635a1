"""LABEL: exclude for every item all representatives but one.

Each open item carries one log e-process against "same as the group of r" for every
representative r. Labels are given by exclusion; nothing else is ever certified.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from askfew.algorithms.frugal.course import Course
from askfew.algorithms.frugal.decide import decide, is_futile
from askfew.algorithms.frugal.labelling import Asked, Labelling, Mask
from askfew.algorithms.frugal.levels import Levels
from askfew.algorithms.frugal.references import references
from askfew.algorithms.frugal.sizing import ample, probe_size, step_sizes
from askfew.evidence import log_evidence
from askfew.records import Batch, Floats, Ints, Known, Procedure
from askfew.wording import counted

__all__ = ["label"]

End = Literal["done", "futile", "silent"]

_SILENT = 5
"""Empty returns in a row after which an item is not asked this question any more."""
_LEAST_PROBE = 4
"""A smaller probe is not worth a round."""
_DOUBT = 3.0
"""A late item between the groups is doubted until it has answered this many times what is ample."""


def label(course: Course, state: Labelling, levels: Levels) -> Procedure[End]:
    """Ask every open item, beside fresh references, until it is labelled or the question fails."""
    asked = Asked.nobody(course.problem.items)
    enough = ample(course, state, levels)
    yield from _probe(course, state, levels, asked)
    while len(items := state.open):
        if is_futile(course, levels):
            return "futile"
        items = items[asked.silent[items] < _SILENT]
        if len(items) == 0 or (asked.silent[state.representatives] >= _SILENT).any():
            return "silent"
        late = asked.counts[items] > enough
        yield from _step(course, state, levels, asked, items, late)
        decide(course, state, levels, asked, items, late & (asked.counts[items] < _DOUBT * enough))
    return "done"


def _probe(course: Course, state: Labelling, levels: Levels, asked: Asked) -> Procedure[None]:
    """Ask some references alone: if the gap is not there, no item need be asked.

    Bets may learn from them, but they are evidence for nobody: futility has looked at them.
    """
    size = probe_size(course, state, levels)
    if size < _LEAST_PROBE:
        return
    wanted = np.full(len(levels.counts), size)
    referees, groups, repeats = references(course, state, asked, wanted, size)
    why = f"label: see if question {levels.question} still tells the groups apart"
    known = state.known(levels.question, None)
    tally = yield from course.ask(_batch(levels, referees, repeats, why, known))
    levels.record(groups, tally.counts, tally.sums)
    asked.record(referees, tally.counts, tally.sums)


def _step(
    course: Course, state: Labelling, levels: Levels, asked: Asked, items: Ints, late: Mask
) -> Procedure[None]:
    """One block for every open item; sizes and bets are fixed before it is asked."""
    means = levels.means
    bets = _bets(state, means, asked, items, late)
    sizes, wanted, expected = step_sizes(course, state, levels, asked, items, late)
    referees, groups, repeats = references(course, state, asked, wanted, int(sizes.max()))
    who, times = np.concatenate([referees, items]), np.concatenate([repeats, sizes])
    why = f"label: {counted(len(items), 'item')} open on question {levels.question}"
    known = state.known(levels.question, expected)
    tally = yield from course.ask(_batch(levels, who, times, why, known))
    k = len(referees)
    b, r = levels.record(groups, tally.counts[:k], tally.sums[:k])
    a, x = tally.counts[k:], tally.sums[k:]
    for group, mean in enumerate(means):
        block = log_evidence(course.problem.answers, bets[group], mean, x, a, r[group], b[group])
        state.evidence[items, group] += block
    asked.record(who, tally.counts, tally.sums)


def _bets(state: Labelling, means: Floats, asked: Asked, items: Ints, late: Mask) -> Floats:
    """What each item is bet to answer when it is tested against each group (groups x items).

    As the likeliest other group does; one that takes too long, as it has answered so far.
    """
    against = state.against(items)
    own = asked.sums[items] / np.maximum(asked.counts[items], 1)
    bets = np.empty_like(against)
    for group in range(len(means)):
        others = np.delete(np.arange(len(means)), group)
        bets[group] = means[others[np.argmin(against[others], axis=0)]]
    return np.where(late, own, bets)


def _batch(levels: Levels, items: Ints, repeats: Ints, why: str, known: Known) -> Batch:
    return Batch(items, np.full(len(items), levels.question), repeats, why, known)
