"""Dependencies of routes: ``Owner``, or ``Worker`` of the campaign ``name`` in the path; and that
campaign itself, ``Opened``. Campaigns are kept open, because opening one reads all its items.

The API and the pages share them: where a program gets 401, a browser is redirected to /login.

Routes for questions and answers take a ``Visit`` instead. It looks its sender up in the thread that
does the work: changing threads costs more than the lookup, so it is done once per request.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Coroutine
from threading import Lock
from typing import Annotated, Any, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import Depends, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.concurrency import run_in_threadpool

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.setting_values import read_setting
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput, StoreUnreachable
from askfew.web.access.authenticator import Authenticator
from askfew.web.access.tokens import Caller
from askfew.web.problems import Refused

__all__ = [
    "THREADS",
    "AdmittingRoute",
    "Documented",
    "Entered",
    "Opened",
    "OpenedCampaigns",
    "Owner",
    "Visit",
    "Visiting",
    "Worker",
    "authenticator",
    "csrf_sent",
    "opened",
    "owner",
    "worker",
]

_bearer = HTTPBearer(
    auto_error=False, description="The owner's token, or a worker's from their invitation."
)
# The document says it; the authenticator itself looks at the header.
Documented = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
_SAFE = ("GET", "HEAD", "OPTIONS")
T = TypeVar("T")
THREADS = 10
"""Threads that serve requests: as many as PostgreSQL's pool keeps connections."""


def authenticator(request: Request) -> Authenticator:
    """The authenticator of the app, for pages that log browsers in and out."""
    found: Authenticator = request.app.state.authenticator
    return found


async def owner(request: Request, _: Documented) -> Caller:
    """The owner of the store; everybody else is refused."""
    csrf = await csrf_sent(request)
    return await run_in_threadpool(authenticator(request).owner, request, csrf)


async def worker(request: Request, name: str, _: Documented) -> Caller:
    """A worker of the campaign ``name``, or the owner; everybody else is refused."""
    csrf = await csrf_sent(request)
    return await run_in_threadpool(authenticator(request).worker, request, name, csrf)


async def csrf_sent(request: Request) -> str | None:
    """The page's token from the header or the form; None if the request changes nothing."""
    if request.method in _SAFE:
        return None
    sent = request.headers.get("x-csrf-token")
    kind = request.headers.get("content-type", "")
    if sent is None and kind.startswith(("application/x-www-form", "multipart/form-data")):
        field = (await request.form()).get("csrf")
        sent = field if isinstance(field, str) else None
    # Not None: a change without the page token must be refused, not be taken for a read.
    return sent or ""


Owner = Annotated[Caller, Depends(owner)]
Worker = Annotated[Caller, Depends(worker)]
Entered = Annotated[Authenticator, Depends(authenticator)]


class Visit:
    """A request about the campaign ``name``, whose sender is not known yet."""

    def __init__(self, request: Request, name: str) -> None:
        self._request, self._name = request, name
        self._seen = False

    async def served(self, work: Callable[[Caller], T]) -> T:
        """Look up the sender and do the work, in one thread; Refused if they may not come in."""
        csrf = await csrf_sent(self._request)
        # Not the default limiter, which has more threads than the database has connections.
        limiter: CapacityLimiter = self._request.app.state.threads

        def admitted() -> T:
            # Noted before the work, so that an error of the work itself causes no second lookup.
            self._seen = True
            return work(authenticator(self._request).worker(self._request, self._name, csrf))

        return await to_thread.run_sync(admitted, limiter=limiter)

    async def admit(self) -> None:
        """Look up the sender, unless that was done."""
        if not self._seen:
            await self.served(lambda caller: caller)


async def _visit(request: Request, _: Documented) -> Visit:
    visit: Visit = request.state.visit
    return visit


Visiting = Annotated[Visit, Depends(_visit)]


class AdmittingRoute(APIRoute):
    """Checks the sender before it reports any other error. A stranger must not learn what is wrong
    with a request, or whether a campaign exists; FastAPI finds both before the route begins.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """As FastAPI calls it."""
        handle = super().get_route_handler()

        async def admitting(request: Request) -> Response:
            visit = request.state.visit = Visit(request, request.path_params["name"])
            try:
                return await handle(request)
            except (RequestValidationError, Refused):
                await visit.admit()
                raise

        return admitting


class OpenedCampaigns:
    """Campaign objects by name, each opened once; any number of threads may use one."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._known: dict[str, Campaign] = {}
        self._turn = Lock()

    def known(self, name: str) -> Campaign | None:
        """The campaign of that name, if it is open already."""
        return self._known.get(name)

    def get(self, name: str) -> Campaign:
        """The campaign of that name, or Refused (404)."""
        known = self.known(name)
        if known is not None:
            return known
        try:
            # Names are stored in NFC, but some systems write accents in addresses as separate
            # characters.
            proper = read_setting("name", unicodedata.normalize("NFC", name))
            found = self.store.campaign(proper)
        except StoreUnreachable:
            raise
        except InvalidInput:
            raise Refused(404, "there is no campaign of this name: check it") from None
        # Two threads may have opened it at the same time. All must use one object, because it keeps
        # the method's session between steps.
        with self._turn:
            return self._known.setdefault(found.settings.name, found)


async def opened(request: Request, name: str) -> Campaign:
    """The campaign of the path. Only opening it the first time takes a thread."""
    campaigns: OpenedCampaigns = request.app.state.campaigns
    known = campaigns.known(name)
    return await run_in_threadpool(campaigns.get, name) if known is None else known


Opened = Annotated[Campaign, Depends(opened)]
