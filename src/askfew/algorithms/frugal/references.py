"""Who answers for a group: its representative, and the items labelled in earlier steps."""

from __future__ import annotations

import numpy as np

from askfew.algorithms.frugal.course import Course
from askfew.algorithms.frugal.labelling import Asked, Labelling
from askfew.records import Floats, Ints

__all__ = ["references"]

_SORTED = 2**16 - 1
"""Sixteen bits sort in linear time; beyond them one need not know who was asked least."""


def references(
    course: Course, state: Labelling, asked: Asked, wanted: Ints, most: int
) -> tuple[Ints, Ints, Ints]:
    """Items to ask as references, the group each stands for, and how often.

    All items labelled so far take turns, the least asked first, as long as none is asked much more
    often than the open items; the representative gives the rest.
    """
    often = asked.counts[asked.counts > 0]
    room_for_all = 2 * float(np.median(often)) if len(often) else float(most)
    chosen = []
    for group, size in enumerate(wanted.tolist()):
        members = _members(course, state, asked, group)
        room = np.maximum(np.floor(room_for_all - asked.counts[members]), 0).astype(np.int64)
        dealt = _deal(size, room, asked.counts[members])
        rest = size - int(dealt.sum())
        who = np.append(members[dealt > 0], state.representatives[group : group + (rest > 0)])
        times = np.append(dealt[dealt > 0], [rest] * (rest > 0))
        chosen.append(np.stack([who, np.full(len(who), group), times]))
    items, groups, repeats = np.concatenate(chosen, axis=1).astype(np.int64)
    return items, groups, repeats


def _members(course: Course, state: Labelling, asked: Asked, group: int) -> Ints:
    """Labelled items of the group that answer, without its representative."""
    if not course.options.rotate:
        return np.zeros(0, dtype=np.int64)
    members = np.flatnonzero((state.labels == group) & (asked.silent == 0))
    return np.asarray(members[members != state.representatives[group]])


def _deal(size: int, room: Ints, asked: Floats) -> Ints:
    """Spread ``size`` answers over the members, the least asked first, none beyond its room."""
    dealt = np.zeros(len(room), dtype=np.int64)
    order = np.argsort(np.minimum(asked, _SORTED).astype(np.uint16), kind="stable")
    order = order[room[order] > 0]
    if len(order) == 0:
        return dealt
    each = -(-size // len(order))
    grant = np.minimum(room[order], each)
    before = np.cumsum(grant) - grant
    dealt[order] = np.clip(size - before, 0, grant)
    return dealt
