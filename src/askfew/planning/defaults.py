"""The ranges that forecasts assume if nothing is said, in one place.

``askfew plan``, ``askfew create`` and the web pages all use ``default_unknown``.
"""

from __future__ import annotations

from askfew.answers import AnswerKind, Number
from askfew.planning.owner_knowledge import OwnerKnowledge
from askfew.planning.ranges import Range, Unknown

__all__ = ["SHARE", "default_gap", "default_spread", "default_unknown", "default_useful"]

_GAP = 0.5, 0.8
"""How far groups differ on a useful question, as a share of the answers' width. A plain choice:
.75 to .9 of the people answer as their group does. With this and the defaults below, 97 to 100 of
100 rehearsals stayed within 1.3 times the 90 % figure (benchmarks/rehearsal.md)."""
_GAP_IN_SIGMAS = 1.5, 3.0
"""The same for numbers. A plain choice: gaps that are as easy to see as those of yes/no answers."""
SHARE = Range(0.1, 0.5)
"""The small group's share of the items. A plain choice: from one in ten to one half."""
_USEFUL = Range(2, 8)
"""How many questions separate the groups. A plain choice: few do, or askfew would not be needed."""
_FEWEST_OF_A_RULE = 4
"""The fewest useful questions for the method "rule"; with more than two groups, for each group. A
plain choice: one more than the three that must agree (``Tuning.need``)."""
_SPREAD = 0.14
"""The standard deviation of a group's items, in gaps. It is the spread of the worlds on which the
method "rule" is measured (benchmarks/rule.md): .1 where groups lie at .85 and .15."""


def default_gap(kind: AnswerKind) -> Range:
    """The default range of the gap, in the answers' own units.

    >>> default_gap(Number(2.0))
    Range(low=3.0, high=6.0)
    """
    if isinstance(kind, Number):
        return Range(*(each * kind.sigma for each in _GAP_IN_SIGMAS))
    return Range(*(each * (kind.high - kind.low) for each in _GAP))


def default_useful(method: str, questions: int, groups: int = 2) -> Range:
    """The default range of useful questions: at least one for each group after the first.

    >>> default_useful("frugal", 20), default_useful("rule", 6)
    (Range(low=2, high=8), Range(low=4, high=6))
    """
    fewest = max(_USEFUL.low, groups - 1)
    if method == "rule":
        fewest = _FEWEST_OF_A_RULE * (groups if groups > 2 else 1)
    most = max(_USEFUL.high, fewest)
    return Range(*(max(1, min(end, questions)) for end in (fewest, most)))


def default_spread(method: str) -> float:
    """The default spread: 0 for a method that assumes that items of a group are the same."""
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
    told: OwnerKnowledge | None = None,
) -> Unknown:
    """The ranges for a campaign of this size; ``gap`` is in the answers' own units.

    Arguments override what the owner ``told`` the method, and that overrides the defaults.
    """
    told = told or OwnerKnowledge()
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
