"""The form of a new campaign: check and forecast first, then create."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.responses import Response

from askfew.campaigns.forecast import CrowdForecast, crowd_forecast
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput
from askfew.planning import Range, Unknown
from askfew.web.access.callers import Caller
from askfew.web.access.dependencies import Owner
from askfew.web.pages.caches import caches_of
from askfew.web.pages.new.draft import Draft, Filled, read_draft
from askfew.web.pages.rendering import address, page
from askfew.web.pages.simulating import RUNS, Wish

__all__ = ["router"]

router = APIRouter(prefix="/new")

_MOST_FILES = 20_000
_FIRST = {"name": 0, "items": 1, "questions": 2, "answers": 3, "guidelines": 4, "method": 5}
"""In the order of the form."""


@router.get("")
def form(request: Request, caller: Owner) -> Response:
    """The empty form."""
    store: Store = request.app.state.store
    return page(request, "new/page.html", caller, others=store.names()[::-1])


@router.post("")
async def filled_form(request: Request, caller: Owner) -> Response:
    """Say what is wrong, or show the forecast; create the campaign when that is wished."""
    async with request.form(max_files=_MOST_FILES) as sent:
        filled = await _filled(sent)
    return await run_in_threadpool(_answer, request, caller, filled)


def _answer(request: Request, caller: Caller, filled: Filled) -> Response:
    draft, sentences = read_draft(filled)
    store: Store = request.app.state.store
    if draft is not None and draft.settings.name in store.names():
        sentences = {"name": "There is a campaign of this name already: choose another."}
    if draft is None or sentences:
        in_order = sorted(sentences.items(), key=lambda each: _FIRST.get(each[0], len(_FIRST)))
        return page(request, "new/wrong.html", caller, sentences=dict(in_order))
    if filled.texts.get("step") != "create":
        query = _query(draft)
        small = draft.unknown is None
        foreseen = None if query or small else _foreseen(request, draft)
        return page(
            request, "new/checked.html", caller, draft=draft, query=query, foreseen=foreseen
        )
    try:
        parts = (draft.settings, draft.items, draft.questions)
        store.create(*parts, reuse=draft.reuse, forecast=_foreseen(request, draft))
    except InvalidInput as error:
        return page(request, "new/wrong.html", caller, sentences={"name": str(error)})
    there = address("campaigns", draft.settings.name)
    return Response(status_code=204, headers={"HX-Redirect": there})


class Wished(BaseModel):
    """What a forecast is asked for, as it stands in the page's address."""

    items: int = Field(ge=4, le=200_000)
    questions: int = Field(ge=1, le=100_000)
    noise: str
    sigma: float
    gap: str
    share: str
    useful: str
    delta: float = Field(gt=0, lt=1)
    price: float = Field(ge=0)
    cap: int = Field(ge=1)


@router.get("/forecast")
def forecast(request: Request, caller: Owner, wished: Annotated[Wished, Query()]) -> Response:
    """How far the forecast is, or what it says."""
    unknown = Unknown(
        wished.items,
        wished.questions,
        Range.read(wished.gap),
        Range.read(wished.share),
        Range.read(wished.useful),
        noise=wished.noise,
        sigma=wished.sigma,
    )
    job = caches_of(request).forecasts.get(Wish(unknown, wished.delta, wished.price, wished.cap))
    return page(
        request,
        "new/forecast.html",
        caller,
        job=job,
        runs=RUNS,
        query=str(request.url.query),
        cap=wished.cap,
        price=wished.price,
        unknown=unknown,
    )


def _foreseen(request: Request, draft: Draft) -> CrowdForecast:
    """What the campaign will be held against: the figures that its owner has seen."""
    settings, items, questions = draft.settings, len(draft.items), len(draft.questions)
    foreseen = crowd_forecast(settings, items, questions)
    seen = caches_of(request).forecasts.made(_wish(draft)) if _query(draft) else None
    if seen is None:
        return foreseen
    unknown = seen.unknown
    return replace(
        foreseen,
        typical_answers=math.ceil(seen.median),
        most_answers=math.ceil(seen.q90),
        assumed=f"{seen.runs} simulated campaigns, gap {unknown.gap}, smaller group"
        f" {unknown.share} of the items, useful questions {unknown.useful}",
    )


def _wish(draft: Draft) -> Wish:
    assert draft.unknown is not None
    settings = draft.settings
    return Wish(draft.unknown, settings.delta, settings.price, settings.max_answers)


def _query(draft: Draft) -> str:
    unknown, settings = draft.unknown, draft.settings
    if unknown is None or settings.method != "frugal" or settings.arguments():
        return ""  # these ranges are about two groups and a method without options
    return urlencode(
        {
            "items": unknown.items,
            "questions": unknown.questions,
            "noise": unknown.noise,
            "sigma": unknown.sigma,
            **{key: _text(getattr(unknown, key)) for key in ("gap", "share", "useful")},
            "delta": settings.delta,
            "price": settings.price,
            "cap": settings.max_answers,
        }
    )


def _text(range_: Range) -> str:
    return f"{range_.low!r}:{range_.high!r}"


async def _filled(sent: FormData) -> Filled:
    texts = {key: value for key, value in sent.multi_items() if isinstance(value, str)}
    pictures = [
        (each.filename, await each.read())
        for each in sent.getlist("pictures")
        if isinstance(each, UploadFile) and each.filename
    ]
    return Filled(
        {"questions": "", **texts},
        await _file(sent, "items_file"),
        await _file(sent, "questions_file"),
        pictures,
    )


async def _file(sent: FormData, key: str) -> bytes | None:
    value = sent.get(key)
    return await value.read() if isinstance(value, UploadFile) and value.filename else None
