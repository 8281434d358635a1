"""Where a campaign stands, in plain words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from askfew.algorithms.frugal import goes_by_panels
from askfew.campaigns.reading.knowledge import Knowledge
from askfew.campaigns.records import StoredOutcome
from askfew.campaigns.settings import Settings
from askfew.wording import counted

__all__ = ["Ending", "Phase", "course_of", "ending_of", "explained", "phase_of", "promise_of"]


@dataclass(frozen=True)
class Ending:
    """How a campaign stands: a short ``word``, a ``title`` and a sentence that explains it."""

    kind: str
    """running, paused, closed, or how the method ended: done, undecided, budget, stalled,
    exhausted, no-consensus."""
    word: str
    title: str
    sentence: str
    fell_short: bool = False
    """Whether it ended with nothing sorted, or before its end."""


@dataclass(frozen=True)
class Phase:
    """A part of the way, as its method calls it, and in words."""

    key: str
    word: str
    sentence: str
    others: tuple[str, ...] = ()
    """What the method calls parts of it."""


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
            "Nothing more is asked or taken. The results of the closed steps stand.",
        ),
        Ending("done", "Done", "Done: every item has its group", ""),
        Ending(
            "undecided",
            "Some undecided",
            "Finished: all items that can be decided are",
            "The others lie between the groups, fit none, or had too few answers.",
        ),
        Ending(
            "budget",
            "Cap reached",
            "Stopped at its cap on answers",
            "The next step would have asked for more answers than the cap allows.",
            True,
        ),
        Ending(
            "stalled",
            "Stalled",
            "Stopped: nobody answers",
            "Several steps in a row brought no answers at all. Invite more people and start a new"
            " campaign that reuses these answers.",
            True,
        ),
        Ending(
            "exhausted",
            "Exhausted",
            "Stopped: no more answers can be had",
            "The recorded answers are used up.",
            True,
        ),
        Ending(
            "no-consensus",
            "No consensus",
            "Stopped: no split is carried by several questions",
            "The questions do not agree on a way to sort the items. Give a few items whose group"
            " you know, mark the questions that define the split, or bring a rule.",
            True,
        ),
    )
}

_ALL_THAT_CAN_BE = "all items that can be decided are certified"
"""How the method "rule" begins its reason."""

_SEARCH = Phase("search", "Search", "Comparing pairs of items to find two that clearly differ.")
_TWO_GROUPS = (
    _SEARCH,
    Phase("hunt", "Choose", "Looking for the question that tells the groups apart best."),
    Phase("label", "Sort", "Asking about one item after the other until each has its group."),
)
_MORE_GROUPS = (
    _SEARCH,
    Phase(
        "classify",
        "Find groups",
        "Looking for an item of every group, and for questions that tell the groups apart.",
        ("hunt", "screen", "probe"),
    ),
    Phase("label", "Sort", "Every group has an item. The others are compared with these."),
)
_CAPPED = (
    Phase(
        "explore",
        "Explore",
        "Asking some items many questions, to see which of them tell the groups apart.",
    ),
    Phase(
        "certify",
        "Certify",
        "A panel of items was chosen. Its groups are certified, and then the other items by it.",
    ),
)
_AUDIT = Phase(
    "audit",
    "Audit",
    "Every label is given. Items of a group are asked further questions, to see whether they are"
    " alike.",
)
_LEARN = Phase(
    "learn",
    "Learn",
    "Asking some items many questions, to find out what sorts them. The rule comes next.",
)
_CERTIFY = Phase(
    "certify",
    "Certify",
    "The rule is found and frozen. Every item is asked its questions until it is sure on which"
    " side the item lies.",
)
_EVALUATE = Phase(
    "evaluate", "Fill in", "The rule is found. What it looks at is asked once of every item."
)


def course_of(settings: Settings) -> tuple[Phase, ...]:
    """The phases that a campaign goes through, as far as its method has any."""
    if settings.method == "frugal":
        course: tuple[Phase, ...] = _TWO_GROUPS if settings.groups == 2 else _MORE_GROUPS
        if goes_by_panels(settings.groups, settings.most_per_cell):
            course = _CAPPED
        return (*course, _AUDIT) if settings.audit else course
    if settings.method == "rule":
        last = _EVALUATE if settings.repeats == "same" else _CERTIFY
        return (last,) if settings.rule is not None else (_LEARN, last)
    return ()


def promise_of(known: Knowledge) -> str:
    """What is promised at the end, and about how many items; nothing more than that."""
    certificate = None if known.outcome is None else known.outcome.certificate
    undecided, told = int((known.labels < 0).sum()), int((known.told >= 0).sum())
    labelled = len(known.labels) - undecided - told
    said = []
    if certificate is not None and not known.promised:
        said.append(
            "Nothing is promised: the answers contradict what the certificate assumes, as it says"
            " itself."
        )
    elif certificate is not None:
        said.append(certificate["promise"])
    elif labelled:
        said.append(f"Nothing is promised about the {counted(labelled, 'label')} known by then.")
    elif undecided:
        said.append("What is shown are guesses, and nothing is promised about them.")
    if certificate is not None and undecided:
        said.append(f"{_are(undecided, 'other item')} undecided.")
    if told:
        said.append(
            f"{counted(told, 'anchor')} {'keeps' if told == 1 else 'keep'} the group given."
        )
    return " ".join(said)


def _are(count: int, what: str) -> str:
    return f"{counted(count, what)} {'is' if count == 1 else 'are'}"


def ending_of(state: str, outcome: StoredOutcome | None, anchors: Collection[int] = ()) -> Ending:
    """How a campaign in this state, with this outcome, stands. Its word says how many items are
    sorted; ``anchors`` are sorted in any case.

    >>> ending_of("ended", StoredOutcome("budget", labels=[-1, -1])).word
    'Cap reached, none sorted'
    >>> ending_of("ended", StoredOutcome("budget", labels=[0, 1, -1])).word
    '2 of 3 sorted, 1 undecided'
    """
    kind = outcome.status if outcome is not None and state == "ended" else state
    ending = _ENDINGS.get(kind, Ending(kind, kind.capitalize(), kind.capitalize(), ""))
    labels: Sequence[int] = () if outcome is None else outcome.labels
    left = sum(label < 0 and item not in anchors for item, label in enumerate(labels))
    found = sum(label >= 0 and item not in anchors for item, label in enumerate(labels))
    if labels and not left:
        return replace(ending, word=f"All {len(labels):,} sorted")
    if found:
        word = f"{len(labels) - left:,} of {len(labels):,} sorted, {left:,} undecided"
        return replace(ending, word=word)
    if kind == "undecided":
        word, title = "None could be sorted", "Finished: no item could be certified"
        return replace(ending, word=word, title=title, fell_short=True)
    return replace(ending, word=f"{ending.word}, none sorted") if labels else ending


def explained(ending: Ending, outcome: StoredOutcome) -> str:
    """Why it ended: in the method's own words, if it has some and items were left."""
    # The title says that much already.
    reason = outcome.reason.removeprefix(_ALL_THAT_CAN_BE).removeprefix(": ")
    if ending.kind != "undecided" or not reason:
        return ending.sentence
    return f"{reason[0].upper()}{reason[1:].rstrip('.')}."


def phase_of(key: str, course: tuple[Phase, ...]) -> Phase | None:
    """The phase that a method calls by this key, if it is one of these."""
    return next((each for each in course if key in (each.key, *each.others)), None)
