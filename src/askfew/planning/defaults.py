"""What to expect of a campaign where nobody says otherwise: one place for all forecasts."""

from __future__ import annotations

from askfew.answers import AnswerKind, Number, Scale
from askfew.planning.ranges import Range
from askfew.simulation import Instance

__all__ = ["GAP", "SHARE", "default_spread", "default_useful", "typical_instance"]

GAP = Range(0.5, 0.8)
"""How far groups differ where they do, of the width of the answers."""
SHARE = Range(0.1, 0.5)
"""The small group's part of the items."""
_TYPICAL_GAP = 0.6
"""A question that eight in ten answer as their group would."""
_TYPICAL_GAP_IN_SIGMAS = 2.0
_TYPICAL_USEFUL = 0.2
"""Of the questions."""
_USEFUL = Range(2, 8)
_FEWEST_OF_A_RULE = 4
"""A rule needs several questions that agree."""
_SPREAD = 0.14
"""Of the gap, where items of a group may differ: a standard deviation of .1 at .85 against .15."""


def default_useful(method: str, questions: int, groups: int = 2) -> Range:
    """How many questions tell the groups apart: at least one for each group after the first.

    >>> default_useful("frugal", 20), default_useful("rule", 6)
    (Range(low=2, high=8), Range(low=4, high=6))
    """
    fewest = max(_FEWEST_OF_A_RULE if method == "rule" else _USEFUL.low, groups - 1)
    most = max(_USEFUL.high, fewest)
    return Range(*(max(1, min(end, questions)) for end in (fewest, most)))


def default_spread(method: str) -> float:
    """How far items of a group differ: a method that assumes they do not is shown such worlds."""
    return _SPREAD if method == "rule" else 0.0


def typical_instance(
    kind: AnswerKind, items: int, questions: int, method: str = "frugal", groups: int = 2
) -> Instance:
    """Groups that differ plainly.

    >>> print(typical_instance(Number(2.0), 50, 30, "rule"))
    50 items, 30 questions, 6 useful, gap 4, gaussian answers (sigma 2), balance 0.5, spread 0.14
    """
    useful = min(max(groups - 1, round(questions * _TYPICAL_USEFUL)), questions)
    if method == "rule":
        fewest = _FEWEST_OF_A_RULE if groups == 2 else _FEWEST_OF_A_RULE * groups
        useful = min(max(useful, fewest), questions)
    noise, sigma, gap = "yes-no", 1.0, _TYPICAL_GAP
    if isinstance(kind, Number):
        noise, sigma, gap = "gaussian", kind.sigma, _TYPICAL_GAP_IN_SIGMAS * kind.sigma
    elif isinstance(kind, Scale):
        noise = "scale"
    spread = default_spread(method)
    return Instance(items, questions, useful, gap, noise, sigma, groups=groups, spread=spread)
