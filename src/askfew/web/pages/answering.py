"""The page where a worker answers, and what it asks the server for."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from askfew.answers import AnswerKind
from askfew.campaigns.campaign import Assignment, Campaign
from askfew.campaigns.db.queries.slots import at_least_open, leases_of, open_and_leased
from askfew.campaigns.db.queries.workers import ACTIVE_SECONDS, active_count
from askfew.campaigns.reading.status import CampaignStatus, status_of
from askfew.campaigns.records import FLAGS
from askfew.campaigns.steps.advance import GOING
from askfew.web.access.dependencies import Opened, Worker
from askfew.web.access.tokens import OWNER, Caller
from askfew.web.pages.caches import caches_of
from askfew.web.pages.forecasts import least_answers
from askfew.web.pages.rendering import page
from askfew.wording import counted

__all__ = [
    "Choice",
    "Progress",
    "choices_for",
    "leases_unknown_to_page",
    "may_hold",
    "progress_of",
    "router",
    "why_waiting",
]

router = APIRouter()

_SKIPS = ("cannot tell", "it does not apply", "broken or not shown")
"""Why somebody skips a question. Kept with the skip, and told to the owner."""
_AHEAD = 2
"""Questions that a page holds: the one that is shown, and the next, so that nobody waits for it."""
_MOST_COUNTED = 1000
"""Open questions are counted up to this number, for speed. A round number."""
_ROUNDS = 3
"""The fewest open questions per active worker with which a page may hold two: those, and one more
because answers do not all take equally long."""


@dataclass(frozen=True)
class Choice:
    """A button: what it says, what is sent, and its keys, the one that is hinted at first."""

    word: str
    value: str
    keys: tuple[str, ...]


def choices_for(kind: AnswerKind) -> list[Choice]:
    """Buttons for yes/no and for short scales of whole numbers; none where a number is typed.

    >>> from askfew.answers import Scale
    >>> [choice.keys for choice in choices_for(Scale(1, 3))]
    [('1',), ('2',), ('3',)]
    """
    if not kind.in_words:
        return [
            Choice(word, word, (word,) if 0 <= value <= 9 else ()) for word, value in kind.choices
        ]
    arrows = ("ArrowLeft", "ArrowRight") if len(kind.choices) == 2 else ()
    return [
        Choice(word.capitalize(), word, (word[0], f"{n + 1}", *arrows[n : n + 1]))
        for n, (word, _) in enumerate(kind.choices)
    ]


@dataclass(frozen=True)
class Progress:
    """The progress of a campaign: a share between 0 and 1, and what the page says beside it."""

    share: float
    answers: int
    """As many as there were a moment ago; the page adds its own."""
    sorted: str = ""
    """How many items are sorted; empty as long as that says nothing."""


def progress_of(status: CampaignStatus, usual: float) -> Progress:
    """``usual`` is how many answers a campaign like this may need, for as long as its method does
    not say what it still expects.
    """
    answers, of_all = status.answers, f"{status.decided:,} of {status.items:,} sorted"
    if status.state in ("ended", "closed"):
        return Progress(1.0, answers, of_all)
    if status.expected is not None:
        return Progress(answers / max(answers + status.expected, 1.0), answers, of_all)
    # Nothing is sorted before two items are found that differ: the bar grows ever more slowly.
    return Progress(answers / max(answers + usual, 1.0), answers)


@router.get("/answer/{name}")
def answer_page(request: Request, caller: Worker, campaign: Opened) -> Response:
    """The page. Its script fetches the questions."""
    settings = campaign.settings
    return page(
        request,
        "answer.html",
        caller,
        settings=settings,
        worker=_worker(caller),
        choices=choices_for(settings.answers),
        scale=_bounded(settings.answers),
        skips=_SKIPS,
        flags=FLAGS,
    )


class Holding(BaseModel):
    """What the page holds: questions without an answer, and answers that it has not sent yet."""

    holding: list[str] = Field(max_length=10)
    answered: list[str] = Field(default=[], max_length=1000)
    lost: bool = False
    """Whether questions may have got lost on their way here: a reload, a broken connection."""


@router.post("/answer/{name}/next")
def next_questions(
    request: Request, caller: Worker, campaign: Opened, sent: Holding
) -> dict[str, Any]:
    """The next questions, as many as the page may have; and how far the campaign is."""
    worker = _worker(caller)
    # An answer that is still on its way holds its lease; its question must not be shown again.
    known = {*sent.holding, *sent.answered}
    asked = leases_unknown_to_page(campaign, worker, known) if sent.lost else []
    room = may_hold(campaign, worker) - len(sent.holding) - len(asked)
    if room > 0:
        asked += campaign.ask(worker, room)
    state = "running" if asked else campaign.state
    if state == "running" and not asked and not sent.holding:
        # Where nothing else is left, a step may wait for what a page asked for and never got: a
        # request can arrive after the page that sent it was reloaded.
        asked = leases_unknown_to_page(campaign, worker, known)
    status = _status(request, campaign, over=state not in GOING)
    return {
        "state": state,
        "questions": [asdict(each) for each in asked],
        "given": campaign.given_by(worker),
        "progress": asdict(progress_of(status, _usual(campaign))),
        "waiting": None if asked or sent.holding else why_waiting(campaign),
    }


def _status(request: Request, campaign: Campaign, *, over: bool) -> CampaignStatus:
    """A moment old while the campaign goes on; "All done" beside figures of the middle is wrong."""
    statuses, name = caches_of(request).statuses, campaign.settings.name
    if over:
        return statuses.get(name, lambda: status_of(campaign), over=True)
    return statuses.lately(name, lambda: status_of(campaign))


def _bounded(kind: AnswerKind) -> AnswerKind | None:
    """The kind, if its answers are numbers between two ends that can be shown."""
    return kind if math.isfinite(kind.high) and not kind.in_words else None


def _worker(caller: Caller) -> str:
    return caller.worker or OWNER


def _usual(campaign: Campaign) -> float:
    """About how many answers the method asks for: twice the lower bound. A rough figure for the bar
    of progress, used only until the method has one of its own.
    """
    return 2 * least_answers(campaign.settings, campaign.problem)


def may_hold(campaign: Campaign, worker: str) -> int:
    """Two, if the open slots keep everybody busy until this worker has answered both; else one.

    A question that lies ready on one page may be one that somebody else waits for: when few are
    left, everybody takes one at a time, and no page holds two of the last.
    """
    pace, typical = campaign.paces.of(worker), campaign.paces.typical()
    # A slow worker keeps two questions for longer, so more must be open for the others.
    slower = pace / typical if pace and typical else 1.0
    with campaign.database.read() as connection:
        since = campaign.clock() - ACTIVE_SECONDS
        active = max(active_count(connection, campaign.id, since), 1)
        enough = math.ceil(_ROUNDS * active * max(slower, 1.0))
        return _AHEAD if at_least_open(connection, campaign.id, enough) else 1


def why_waiting(campaign: Campaign) -> str:
    """The sentence for a worker for whom there is no question just now."""
    with campaign.database.read() as connection:
        open_ones, held = open_and_leased(connection, campaign.id, _MOST_COUNTED)
    more = " or more" if _MOST_COUNTED in (open_ones, held) else ""
    if open_ones:
        some = f"{counted(open_ones, 'open question')}{more}"
        return f"{some}, none that you may answer: more people are needed."
    if held:
        last = "the last question" if held == 1 else f"the last {held:,}{more} questions"
        return f"Others are answering {last} of this round. Then this page goes on by itself."
    return "The next questions are being chosen. This page goes on by itself."


def leases_unknown_to_page(campaign: Campaign, worker: str, known: set[str]) -> list[Assignment]:
    """Questions leased to the worker that the page does not know of. Without this, they would be
    held until their leases expire, and a step would wait for them.
    """
    with campaign.database.read() as connection:
        rows = leases_of(connection, campaign.id, worker)
    held = [
        Assignment(
            lease,
            campaign.items[item],
            campaign.questions[question],
            expires,
            max(expires - campaign.clock(), 0.0),
        )
        for lease, item, question, expires in rows
    ]
    return [each for each in held + campaign.gold_held_by(worker) if each.id not in known]
