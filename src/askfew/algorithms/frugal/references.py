"""Who answers for a group: its representative, and the items labelled in earlier steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from askfew.algorithms.frugal.course import Course
from askfew.records import Floats, Ints

if TYPE_CHECKING:
    from askfew.algorithms.frugal.label import Labelling

__all__ = ["references"]


def references(
    state: Labelling, asked: Floats, wanted: Ints, sizes: Ints, course: Course
) -> tuple[Ints, Ints, Ints]:
    """Items to ask as references, the group each stands for, and how often."""
    items, groups, repeats = [], [], []
    busiest = float(asked[state.open].max(initial=0) + sizes.max())
    for group, size in enumerate(wanted.tolist()):
        members = np.flatnonzero(state.labels == group) if course.options.rotate else np.zeros(0, int)
        members = members[members != state.representatives[group]]
        room = np.maximum(np.floor(2 * busiest - asked[members]), 0).astype(np.int64)
        dealt = _deal(size, room, asked[members])
        rows = np.flatnonzero(dealt)
        rest = size - int(dealt.sum())
        who, times = members[rows], dealt[rows]
        if rest > 0:
            who, times = np.append(state.representatives[group], who), np.append(rest, times)
        items.append(who)
        repeats.append(times)
        groups.append(np.full(len(who), group))
    return np.concatenate(items), np.concatenate(groups), np.concatenate(repeats).astype(np.int64)


def _deal(size: int, room: Ints, asked: Floats) -> Ints:
    """Spread ``size`` answers over the members, the least asked first, none beyond its room."""
    dealt = np.zeros(len(room), dtype=np.int64)
    order = np.argsort(asked, kind="stable")
    order = order[room[order] > 0]
    if len(order) == 0:
        return dealt
    each = -(-size // len(order))
    grant = np.minimum(room[order], each)
    before = np.cumsum(grant) - grant
    dealt[order] = np.clip(size - before, 0, grant)
    return dealt
