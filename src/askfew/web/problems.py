"""Errors: a problem document (RFC 9457) for programs, a page for people."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Match

from askfew.campaigns.db.failures import TOO_BUSY
from askfew.errors import (
    AskfewError,
    InvalidInput,
    MissingExtra,
    NotAdmitted,
    ReplayMismatch,
    StoreFull,
    StoreUnreachable,
)

__all__ = ["MEDIA_TYPE", "ProblemDetails", "Refused", "install"]

MEDIA_TYPE = "application/problem+json"
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_NOWHERE = "nothing is at this address: check it"
_AGAIN = {"Retry-After": "2"}
_LATER = {"Retry-After": "30"}
"""Seconds: a database restarts within seconds, and its owner must act if a disk is full. Plain
choices."""


class ProblemDetails(BaseModel):
    """An error, as RFC 9457 has it; ``detail`` is a sentence that says what to do."""

    type: str = "about:blank"
    title: str = Field(description="The status in words.")
    status: int
    detail: str


class Refused(HTTPException):
    """A request that is turned down, with its HTTP status and a sentence."""


def install(app: FastAPI, page: Callable[[Request, ProblemDetails], Response]) -> None:
    """Answer every error of this app in this form; ``page`` is the one for people."""
    app.state.problem_page = page
    app.add_exception_handler(AskfewError, lambda request, error: _answer(request, _said(error)))
    app.add_exception_handler(
        TOO_BUSY,
        lambda request, _: _answer(request, Refused(503, "too busy: try again soon", _AGAIN)),
    )
    app.add_exception_handler(
        RequestValidationError, lambda request, error: _answer(request, _invalid(error))
    )
    app.add_exception_handler(HTTPException, _answer)
    app.add_exception_handler(
        Exception,
        lambda request, _: _answer(request, Refused(500, "something broke: the log says what")),
    )


def _said(error: Exception) -> Refused:
    """The response to an error of askfew's own."""
    if isinstance(error, StoreFull):
        return Refused(503, "the store has no room left: tell its owner, and try again", _LATER)
    if isinstance(error, StoreUnreachable):
        # Its own sentence names the store's address, which is nobody's business.
        return Refused(503, "the store does not answer: try again soon", _AGAIN)
    if isinstance(error, NotAdmitted):
        return Refused(403, str(error))
    if isinstance(error, ReplayMismatch):  # trying again would not help
        return Refused(409, _plain(str(error), most=1000))
    known = isinstance(error, InvalidInput | MissingExtra)
    return Refused(422 if known else 500, _plain(str(error)))


def _invalid(error: Exception) -> Refused:
    """The first thing that is wrong, and where; what was sent is not repeated."""
    assert isinstance(error, RequestValidationError)
    first: dict[str, Any] = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return Refused(422, _plain(f"{place}: {first['msg']}"))


def _plain(text: str, most: int = 300) -> str:
    """A text with parts of the request in it, made safe: cut short, without broken characters."""
    return text.encode(errors="replace").decode()[:most]


def _allowed(request: Request) -> str:
    """The methods of this path: it may have several routes, and each knows only its own."""
    routes, scope = request.app.router.routes, request.scope

    def takes(method: str) -> bool:
        there = {**scope, "method": method}
        return any(route.matches(there)[0] is Match.FULL for route in routes)

    return ", ".join(filter(takes, _METHODS))


def _answer(request: Request, refused: Exception) -> Response:
    assert isinstance(refused, HTTPException)
    status, detail = refused.status_code, refused.detail
    if status == 405:
        refused.headers = {"Allow": _allowed(request)}
    title = HTTPStatus(status).phrase
    if status == 404 and detail == title:  # no route: Starlette has no sentence of its own
        detail = _NOWHERE
    problem = ProblemDetails(title=title, status=status, detail=detail)
    sent_json = request.headers.get("content-type", "").startswith("application/json")
    if request.url.path.startswith("/api/") or sent_json:  # a script of ours shows the sentence
        return JSONResponse(problem.model_dump(), status, refused.headers, media_type=MEDIA_TYPE)
    if status == 401:
        if "hx-request" in request.headers:  # htmx follows redirects into a part of the page
            return Response(status_code=401, headers={"HX-Redirect": "/login"})
        return RedirectResponse("/login", 303)
    page: Response = request.app.state.problem_page(request, problem)
    page.headers.update(refused.headers or {})
    return page
