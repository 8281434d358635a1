"""The application: API and pages over the campaigns of one store."""

from __future__ import annotations

from pathlib import Path

from anyio import CapacityLimiter
from fastapi import FastAPI, Request
from starlette.responses import JSONResponse, Response
from starlette.staticfiles import StaticFiles

from askfew import __version__
from askfew.campaigns.db import migrations
from askfew.campaigns.store import Store
from askfew.web import documentation, pages, problems
from askfew.web.access.authenticator import Authenticator, TokenThrottle
from askfew.web.access.dependencies import THREADS, OpenedCampaigns
from askfew.web.api import router as api
from askfew.web.pages.caches import PageCaches
from askfew.web.pages.rendering import page
from askfew.web.security import BodyLimit, SecurityHeaders
from askfew.web.shared import Shared

__all__ = ["create_app"]


def create_app(
    store: Store,
    *,
    secure_cookies: bool = False,
    url: str | None = None,
    shared: Shared | None = None,
) -> FastAPI:
    """An ASGI app. ``secure_cookies`` is for servers behind TLS: without TLS, browsers would drop
    such cookies. Links begin with ``url``, or else with the address of the request that makes them.
    ``shared`` is what it shares with other processes, if there are any.
    """
    shared = shared or Shared(TokenThrottle(store.clock))
    app = FastAPI(
        title="askfew",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
    )
    app.state.store, app.state.url = store, url
    app.state.campaigns = OpenedCampaigns(store)
    app.state.caches = PageCaches.over(shared.forecasts, shared.changes)
    app.state.authenticator = Authenticator(store, shared.throttle, secure=secure_cookies)
    app.state.threads = CapacityLimiter(THREADS)
    problems.install(app, _problem_page)
    app.add_middleware(BodyLimit, authenticator=app.state.authenticator)
    app.add_middleware(SecurityHeaders, secure=secure_cookies)
    app.include_router(api, prefix="/api/v1")
    app.add_api_route("/health", _health, include_in_schema=False)
    app.include_router(pages.router, include_in_schema=False)
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"))
    documentation.install(app)
    return app


def _problem_page(request: Request, problem: problems.ProblemDetails) -> Response:
    # "Forbidden" is harsh for somebody who was invited and has been revoked since.
    title = "This is closed to you" if problem.status == 403 else problem.title
    words = {"title": title, "sentence": problem.detail}
    return page(request, "message.html", None, problem.status, **words)


def _health(request: Request) -> JSONResponse:
    """200 while the store answers; if it does not, the error handler answers 503."""
    store: Store = request.app.state.store
    with store.database.read() as connection:
        migrations.version_of(connection)
    return JSONResponse({"status": "ok"})
