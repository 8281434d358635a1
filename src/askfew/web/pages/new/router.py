"""The form of a new campaign: check and forecast first, then create."""

from __future__ import annotations

import json
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.responses import Response

from askfew.answers import PLAIN_KINDS
from askfew.campaigns.forecast import CrowdForecast, Sizes, crowd_forecast, unknown_of
from askfew.campaigns.forecast_words import forecast_sentences, upper_words
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput
from askfew.planning import Range
from askfew.web.access.dependencies import Owner
from askfew.web.access.tokens import Caller
from askfew.web.pages.caches import caches_of
from askfew.web.pages.forecasts import RUNS, ForecastRequest
from askfew.web.pages.new.draft import RANGES, Draft, FormInput, read_draft
from askfew.web.pages.rendering import address, page

__all__ = ["router"]

router = APIRouter(prefix="/new")

_MOST_FILES = 20_000
"""The most files of one form: a picture for every item. A round number."""
_FIRST = {
    field: place
    for place, field in enumerate(
        ("name", "items", "known", "questions", "answers", "guidelines", "method")
    )
}
"""Fields in the order of the form, to name the first one that is wrong."""


@router.get("")
def form(request: Request, caller: Owner) -> Response:
    """The empty form."""
    store: Store = request.app.state.store
    others = store.names()[::-1]
    return page(request, "new/page.html", caller, others=others, plain=PLAIN_KINDS.values())


@router.post("")
async def filled_form(request: Request, caller: Owner) -> Response:
    """Say what is wrong, or show the forecast; create the campaign if the owner says so."""
    async with request.form(max_files=_MOST_FILES) as sent:
        filled = await _form_input(sent)
    return await run_in_threadpool(_answer, request, caller, filled)


def _answer(request: Request, caller: Caller, filled: FormInput) -> Response:
    draft, sentences = read_draft(filled)
    store: Store = request.app.state.store
    # Checked before the forecast, so that nobody waits for one and is refused then.
    if draft is not None and draft.settings.name in store.names():
        sentences = {"name": "There is a campaign of this name already: choose another."}
    if draft is None or sentences:
        in_order = sorted(sentences.items(), key=lambda each: _FIRST.get(each[0], len(_FIRST)))
        return page(request, "new/wrong.html", caller, sentences=dict(in_order))
    if filled.texts.get("step") != "create":
        return page(request, "new/checked.html", caller, draft=draft, query=_query(draft))
    try:
        parts = (draft.settings, draft.items, draft.questions)
        store.create(*parts, reuse=draft.reuse, forecast=_kept_forecast(request, draft))
    except InvalidInput as error:
        return page(request, "new/wrong.html", caller, sentences={"name": str(error)})
    there = address("campaigns", draft.settings.name)
    # htmx would follow a plain redirect and put the whole dashboard into a part of this page.
    return Response(status_code=204, headers={"HX-Redirect": there})


class ForecastQuery(BaseModel):
    """What a forecast is asked for, as it stands in the page's address."""

    items: int = Field(ge=2, le=200_000)
    questions: int = Field(ge=1, le=100_000)
    anchors: str = Field("", pattern=r"^(\d{1,6}(,\d{1,6}){0,99})?$")
    """Known items of each group, with commas between them."""
    defining: int = Field(0, ge=0, le=100_000)
    settings: str = Field(max_length=10_000)
    gap: str = ""
    share: str = ""
    useful: str = ""

    @property
    def sizes(self) -> Sizes:
        """Of the campaign."""
        anchors = tuple(int(each) for each in self.anchors.split(",") if each)
        return Sizes(self.items, self.questions, anchors, self.defining)


@router.get("/forecast")
def forecast(request: Request, caller: Owner, query: Annotated[ForecastQuery, Query()]) -> Response:
    """The progress of the forecast, or the forecast."""
    try:
        settings = Settings.from_dict({"name": "forecast", **json.loads(query.settings)})
    except (TypeError, ValueError):
        raise InvalidInput("settings must be JSON", "something else", "check the form") from None
    expected = {key: Range.read(text) for key in RANGES if (text := getattr(query, key))}
    sizes = query.sizes
    unknown_of(settings, sizes, expected)  # refuses what cannot be
    job = caches_of(request).forecasts.get(_forecast_request(settings, sizes, expected))
    said = [] if job.forecast is None else forecast_sentences(job.forecast, settings)
    return page(
        request,
        "new/forecast.html",
        caller,
        job=job,
        said=said,
        upper="" if job.forecast is None else upper_words(job.forecast.simulated),
        runs=RUNS,
        query=str(request.url.query),
        price=settings.price,
    )


def _kept_forecast(request: Request, draft: Draft) -> CrowdForecast:
    """The forecast that is kept with the campaign: the one that its owner has seen."""
    sizes = Sizes.of(draft.items, draft.questions)
    seen = caches_of(request).forecasts.made(
        _forecast_request(draft.settings, sizes, draft.expected or {})
    )
    # It may have been pushed out by newer ones, or the campaign is too small to show one.
    return seen or crowd_forecast(draft.settings, sizes, draft.expected)


def _forecast_request(
    settings: Settings, sizes: Sizes, expected: dict[str, Range]
) -> ForecastRequest:
    return ForecastRequest(_settings_that_matter(settings), sizes, tuple(expected.items()))


def _query(draft: Draft) -> str:
    if draft.expected is None:
        return ""
    sizes = Sizes.of(draft.items, draft.questions)
    return urlencode(
        {
            "items": sizes.items,
            "questions": sizes.questions,
            "anchors": ",".join(str(each) for each in sizes.anchors),
            "defining": sizes.defining,
            "settings": _settings_that_matter(draft.settings),
            **{key: f"{each.low!r}:{each.high!r}" for key, each in draft.expected.items()},
        }
    )


def _settings_that_matter(settings: Settings) -> str:
    """The settings that a forecast depends on and that differ from the defaults, as JSON."""
    usual = Settings("forecast").to_dict()
    # Without name and guidelines, so that changing a text does not start the simulation again.
    own = {**settings.to_dict(), "name": "forecast", "guidelines": ""}
    changed = {key: value for key, value in own.items() if value != usual[key]}
    return json.dumps({"name": "forecast", **changed}, sort_keys=True)


async def _form_input(sent: FormData) -> FormInput:
    texts = {key: value for key, value in sent.multi_items() if isinstance(value, str)}
    pictures = [
        (each.filename, await each.read())
        for each in sent.getlist("pictures")
        if isinstance(each, UploadFile) and each.filename
    ]
    return FormInput(
        {"questions": "", **texts},
        await _file(sent, "items_file"),
        await _file(sent, "questions_file"),
        pictures,
    )


async def _file(sent: FormData, key: str) -> bytes | None:
    value = sent.get(key)
    return await value.read() if isinstance(value, UploadFile) and value.filename else None
