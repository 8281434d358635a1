"""Requests whose sender is looked up in the thread that does their work.

Every question and every answer comes this way. A trip to a thread costs more than looking up a
token, so there is one a request. And there are few of these threads: more of them would only wait
for each other, for the store's one writer, or for connections that PostgreSQL has to make first.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import Depends, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute

from askfew.web.access.callers import Caller
from askfew.web.access.dependencies import Documented, authenticator, csrf_sent
from askfew.web.problems import Refused

__all__ = ["THREADS", "AdmittingRoute", "Visit", "Visiting"]

T = TypeVar("T")

THREADS = 10
"""As many as PostgreSQL's pool keeps connections."""


class Visit:
    """A request for the campaign ``name``: a worker's, or the owner's, as will turn out."""

    def __init__(self, request: Request, name: str) -> None:
        self._request, self._name = request, name
        self._seen = False

    async def served(self, work: Callable[[Caller], T]) -> T:
        """What the work gives for whoever came, or Refused; both in one thread."""
        csrf = await csrf_sent(self._request)
        limiter: CapacityLimiter = self._request.app.state.threads

        def admitted() -> T:
            self._seen = True
            return work(authenticator(self._request).worker(self._request, self._name, csrf))

        return await to_thread.run_sync(admitted, limiter=limiter)

    async def admit(self) -> None:
        """See who came, unless that was done."""
        if not self._seen:
            await self.served(lambda caller: caller)


async def _visit(request: Request, _: Documented) -> Visit:
    visit: Visit = request.state.visit
    return visit


Visiting = Annotated[Visit, Depends(_visit)]


class AdmittingRoute(APIRoute):
    """A stranger is told nothing but that: neither what is wrong with a request, nor whether there
    is such a campaign. FastAPI finds both before the route begins, and the sender is seen first.
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
