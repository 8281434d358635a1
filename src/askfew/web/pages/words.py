"""Where a campaign stands, in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["PHASES", "Ending", "Phase", "ending_of", "phase_of"]


@dataclass(frozen=True)
class Ending:
    """How a campaign stands: a short ``word``, a ``title`` and a sentence that explains it."""

    kind: str
    """running, paused, closed, or how the method ended: done, budget, stalled, model, exhausted."""
    word: str
    title: str
    sentence: str


@dataclass(frozen=True)
class Phase:
    """A part of the way, as its method calls it, and in words."""

    key: str
    word: str
    sentence: str


_ENDINGS = {
    each.kind: each
    for each in (
        Ending("running", "Running", "Collecting answers", ""),
        Ending(
            "paused",
            "Paused",
            "Paused",
            "Nothing is handed out. Answers on their way are still taken.",
        ),
        Ending(
            "closed",
            "Closed",
            "Closed before the end",
            "Nothing more is asked or taken. What was known by then is shown; nothing is promised"
            " about it.",
        ),
        Ending("done", "Done", "Done: every item has its group", ""),
        Ending(
            "budget",
            "Out of budget",
            "Stopped at its cap on answers",
            "The next step would have asked for more answers than the cap allows. The groups so far"
            " are what was known by then; nothing is promised about them.",
        ),
        Ending(
            "stalled",
            "Stalled",
            "Stopped: nobody answers",
            "Several steps in a row brought no answers at all. Invite more people and start a new"
            " campaign that reuses these answers.",
        ),
        Ending(
            "undecided",
            "Some undecided",
            "Finished: all items that can be decided are",
            "Some items lie between the groups, fit none, or had too few answers. What is promised"
            " is promised about the others.",
        ),
        Ending(
            "no-consensus",
            "No consensus",
            "Stopped: no split is carried by several questions",
            "The questions do not agree on a way to sort the items. Give a few items whose group"
            " you know, mark the questions that define the split, or bring a rule.",
        ),
        Ending(
            "exhausted",
            "Exhausted",
            "Stopped: no more answers can be had",
            "The recorded answers are used up. The groups so far are what was known by then;"
            " nothing is promised about them.",
        ),
    )
}

PHASES = (
    Phase("search", "Search", "Comparing pairs of items to find two that clearly differ."),
    Phase("hunt", "Choose", "Looking for the question that tells the two groups apart best."),
    Phase("label", "Sort", "Asking about one item after the other until each has its group."),
)
"""Of the frugal method; others have names of their own."""


def ending_of(state: str, outcome: dict[str, Any] | None) -> Ending:
    """How a campaign in this state, with this outcome, stands.

    >>> ending_of("ended", {"status": "budget", "reason": "..."}).word
    'Out of budget'
    """
    kind = outcome["status"] if outcome is not None else state
    return _ENDINGS.get(kind, Ending(kind, kind.capitalize(), kind.capitalize(), ""))


def phase_of(key: str) -> Phase | None:
    """The phase that a method calls so, if there are words for it."""
    return next((each for each in PHASES if each.key == key), None)
