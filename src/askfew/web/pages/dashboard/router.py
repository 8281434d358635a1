"""The dashboard's addresses: the page, its parts that renew themselves, and what the owner does."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, Form, Query, Request
from starlette.responses import JSONResponse, Response

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.naming import name_group
from askfew.campaigns.reading.tallies import answers_about
from askfew.errors import InvalidInput
from askfew.web.access import invitations
from askfew.web.access.dependencies import Opened, Owner
from askfew.web.access.tokens import Caller
from askfew.web.pages.dashboard.gallery import gallery_of
from askfew.web.pages.dashboard.people import people_of
from askfew.web.pages.dashboard.view import DashboardData, View
from askfew.web.pages.rendering import page
from askfew.web.problems import Refused

__all__ = ["router"]

router = APIRouter(prefix="/campaigns/{name}")

_MOST_POINTS = 1000
"""The most points of a chart: more than a screen has pixels to show. A round number."""
_SAME = 204
"""The status for "nothing new since the page was loaded": htmx then changes nothing."""

Seen = Annotated[str, Query()]


def _view(request: Request, _: Owner, campaign: Opened) -> View:
    return View(request, campaign)


Viewed = Annotated[View, Depends(_view)]


@router.get("")
def dashboard(request: Request, caller: Owner, view: Viewed) -> Response:
    """The whole page."""
    return page(request, "dashboard/page.html", caller, **_context(view))


@router.get("/parts/summary")
def summary(request: Request, caller: Owner, view: Viewed, seen: Seen = "") -> Response:
    """State, figures, and what the owner can do."""
    found = view.summary()
    # Pages ask every few seconds. Usually nothing is new, and nothing need be rendered.
    if seen == found.standing.version:
        return Response(status_code=_SAME)
    context = _context(view, summary=found)
    return page(request, "dashboard/summary.html", caller, **context)


@router.get("/parts/groups")
def groups(
    request: Request,
    caller: Owner,
    view: Viewed,
    seen: Seen = "",
    shelf: int | None = None,
    number: Annotated[int, Query(alias="page", ge=1, le=10**6)] = 1,
) -> Response:
    """A page of the gallery."""
    if seen and seen == view.details().standing.version:
        return Response(status_code=_SAME)
    return _gallery(request, caller, view, shelf, number)


@router.get("/items/{number}")
def item(request: Request, caller: Owner, view: Viewed, number: int) -> Response:
    """An item with all its answers, for the dialog."""
    campaign = view.campaign
    if not 0 <= number < len(campaign.items):
        raise Refused(404, "there is no such item: reload the page")
    details = view.details()
    known, guesses = details.standing.known, details.guesses
    label = int(known.labels[number])
    return page(
        request,
        "dashboard/item.html",
        caller,
        settings=view.settings,
        item=campaign.items[number],
        state=known.state(number),
        group=known.names[label] if label >= 0 else None,
        guess=known.names[int(guesses.groups[number])],
        confidence=float(guesses.confidence[number]),
        why=known.why_undecided.get(number, ""),
        found=answers_about(campaign, number),
        going=known.outcome is None,
        flags=details.flags.get(number, ()),
    )


@router.post("/name")
def name(
    request: Request,
    caller: Owner,
    view: Viewed,
    group: Annotated[str, Form()] = "",
    called: Annotated[str, Form()] = "",
) -> Response:
    """Name a group."""
    sentence = ""
    try:
        name_group(view.campaign, view.standing().known.own_names, group, called)
    except InvalidInput as error:
        sentence = str(error)
    view.changed()
    response = _gallery(request, caller, view, None, 1, sentence)
    # Other parts of the page show names, too, and renew themselves on this event.
    response.headers["HX-Trigger"] = "renamed"
    return response


@router.get("/parts/split")
def split(request: Request, caller: Owner, view: Viewed, seen: Seen = "") -> Response:
    """Which split it is."""
    details = view.details()
    if seen == details.standing.version:
        return Response(status_code=_SAME)
    return page(
        request,
        "dashboard/split.html",
        caller,
        settings=view.settings,
        standing=details.standing,
        split=details.split,
    )


@router.get("/parts/questions")
def questions(request: Request, caller: Owner, view: Viewed, seen: Seen = "") -> Response:
    """The questions, by how far they separate the groups."""
    details = view.details()
    if seen == details.standing.version:
        return Response(status_code=_SAME)
    return page(request, "dashboard/questions.html", caller, **_question_context(view))


@router.get("/parts/people")
def people(request: Request, caller: Owner, view: Viewed, seen: Seen = "") -> Response:
    """The table of people."""
    context = _people_context(view)
    if seen == context["people_version"]:
        return Response(status_code=_SAME)
    return page(request, "dashboard/people.html", caller, **context)


@router.get("/charts")
def charts(view: Viewed, seen: Seen = "") -> Response:
    """Numbers for the charts, a bounded number of them."""
    standing = view.standing()
    if seen == standing.version:
        return Response(status_code=_SAME)
    return JSONResponse(
        {
            "version": standing.version,
            "answers": {"times": standing.curve.times, "counts": standing.curve.counts},
            "evidence": _evidence(standing),
        }
    )


@router.post("/pause")
def pause(request: Request, caller: Owner, view: Viewed) -> Response:
    """Pause the campaign."""
    return _act(request, caller, view, view.campaign.pause)


@router.post("/resume")
def resume(request: Request, caller: Owner, view: Viewed) -> Response:
    """Resume the campaign."""
    return _act(request, caller, view, view.campaign.resume)


@router.post("/close")
def close(request: Request, caller: Owner, view: Viewed) -> Response:
    """Close the campaign for good."""
    return _act(request, caller, view, view.campaign.close)


@router.post("/revoke")
def revoke(
    request: Request, caller: Owner, view: Viewed, worker: Annotated[str, Form()] = ""
) -> Response:
    """Lock a worker out."""
    if not invitations.revoke(view.campaign, worker):
        raise Refused(404, "there is no worker of this name: reload the page")
    view.changed()
    return page(request, "dashboard/people.html", caller, **_people_context(view))


def _act(request: Request, caller: Caller, view: View, act: Callable[[], None]) -> Response:
    with suppress(InvalidInput):  # somebody else was faster: the page shows the new state
        act()
    view.changed()
    return page(request, "dashboard/summary.html", caller, **_context(view))


def _gallery(
    request: Request,
    caller: Caller,
    view: View,
    shelf: int | None,
    number: int,
    sentence: str = "",
) -> Response:
    details = view.details()
    known = details.standing.known
    return page(
        request,
        "dashboard/groups.html",
        caller,
        settings=view.settings,
        standing=details.standing,
        gallery=gallery_of(view.campaign, details, shelf, number),
        certified=bool(((known.labels >= 0) & (known.told < 0)).any()),
        sentence=sentence,
    )


def _context(view: View, **more: object) -> dict[str, Any]:
    found = more.pop("summary", None) or view.summary()
    campaign: Campaign = view.campaign
    return {
        "settings": view.settings,
        "summary": found,
        "items": campaign.problem.items,
        "questions": campaign.problem.questions,
        **more,
    }


def _question_context(view: View) -> dict[str, Any]:
    details = view.details()
    ranked = details.tallies.questions
    kind = view.settings.answers
    width = max([kind.high - kind.low] if np.isfinite(kind.high) else [], default=0.0)
    widest = max([each.high for each in ranked if each.high is not None], default=1.0)
    known = details.standing.known
    in_use = {question.id for each in known.divisions for question in each.questions}
    if known.rule is None and known.question is not None:
        in_use = {view.campaign.questions[known.question].id}
    return {
        "settings": view.settings,
        "standing": details.standing,
        "ranked": ranked,
        "width": width or widest or 1.0,
        "in_use": in_use,
    }


def _people_context(view: View) -> dict[str, Any]:
    details = view.details()
    people = people_of(view.campaign, details)
    counts = [sum(each) for each in zip(*((p.came, p.revoked) for p in people), strict=True)]
    return {
        "settings": view.settings,
        "standing": details.standing,
        "people": people,
        "people_version": "-".join(map(str, (details.standing.version, len(people), *counts))),
    }


def _evidence(standing: DashboardData) -> dict[str, Any] | None:
    """The evidence per item, sorted, the surest first; at most a thousand points."""
    known = standing.known
    if known.evidence is None or max(known.evidence, default=0.0) <= 0:
        return None
    chosen = [
        n
        for n in range(len(known.labels))
        if not standing.represents(n) and known.state(n) != "told"
    ]
    values = np.maximum(np.array([known.evidence[n] for n in chosen]), 0.0)
    decided = standing.labels[chosen] >= 0
    order = np.lexsort((-values, ~decided))
    if len(order) > _MOST_POINTS:
        order = order[np.linspace(0, len(order) - 1, _MOST_POINTS).round().astype(int)]
    return {
        "values": values[order].round(3).tolist(),
        "decided": decided[order].tolist(),
        "threshold": known.threshold,
        "items": len(chosen),
    }
