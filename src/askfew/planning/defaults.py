"""What to expect of a campaign where nobody says otherwise: one place for all forecasts.

`plan`, `create`, the form and the pages all simulate what ``default_unknown`` says.
"""

from __future__ import annotations

from askfew.answers import AnswerKind, Number
from askfew.planning.ranges import Range, Unknown
from askfew.planning.told import Told

__all__ = ["SHARE", "default_gap", "default_spread", "default_unknown", "default_useful"]

_GAP = 0.5, 0.8
"""How far groups differ where they do, of the width of the answers: eight or nine in ten answer a
question as their group would."""
_GAP_IN_SIGMAS = 1.5, 3.0
SHARE = Range(0.1, 0.5)
"""The small group's part of the items."""
_USEFUL = Range(2, 8)
_FEWEST_OF_A_RULE = 4
"""A rule needs this many questions that agree; with more than two groups, this many for
each."""
_SPREAD = 0.14
"""Of the gap, where items of a group may differ: a standard deviation of .1 at .85 against .15."""


def default_gap(kind: AnswerKind) -> Range:
    """In the answers' own units.

    >>> default_gap(Number(2.0))
    Range(low=3.0, high=6.0)
    """
    if isinstance(kind, Number):
        return Range(*(each * kind.sigma for each in _GAP_IN_SIGMAS))
    return Range(*(each * (kind.high - kind.low) for each in _GAP))


def default_useful(method: str, questions: int, groups: int = 2) -> Range:
    """How many questions tell the groups apart: at least one for each group after the first.

    >>> default_useful("frugal", 20), default_useful("rule", 6)
    (Range(low=2, high=8), Range(low=4, high=6))
    """
    fewest = max(_USEFUL.low, groups - 1)
    if method == "rule":
        fewest = _FEWEST_OF_A_RULE * (groups if groups > 2 else 1)
    most = max(_USEFUL.high, fewest)
    return Range(*(max(1, min(end, questions)) for end in (fewest, most)))


def default_spread(method: str) -> float:
    """How far items of a group differ: a method that assumes they do not is shown such worlds."""
    return _SPREAD if method == "rule" else 0.0


def default_unknown(
    kind: AnswerKind,
    items: int,
    questions: int,
    *,
    method: str,
    groups: int = 2,
    gap: Range | None = None,
    share: Range | None = None,
    useful: Range | None = None,
    spread: float | None = None,
    told: Told | None = None,
) -> Unknown:
    """What may be true of a campaign of this size; ``gap`` is in the answers' own units.

    What its owner ``told`` the method goes before what is usual, and what is said here before both.
    """
    told = told or Told()
    groups = told.groups or groups
    return Unknown.of(
        kind,
        items,
        questions,
        gap=gap or told.gap(kind) or default_gap(kind),
        share=share or SHARE,
        useful=useful or told.useful or default_useful(method, questions, groups),
        groups=groups,
        spread=default_spread(method) if spread is None else spread,
    )
