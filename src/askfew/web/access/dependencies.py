"""What a route asks for: ``Owner``, or ``Worker``, who works for the campaign ``name`` in the path.

Both are for the API and for pages alike: where a program gets 401, a browser is led to /login.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.concurrency import run_in_threadpool

from askfew.web.access.authenticator import Authenticator
from askfew.web.access.callers import Caller

__all__ = [
    "Documented",
    "Entered",
    "Owner",
    "Worker",
    "authenticator",
    "csrf_sent",
    "owner",
    "worker",
]

_bearer = HTTPBearer(
    auto_error=False, description="The owner's token, or a worker's from their invitation."
)
# The document says it; the authenticator itself looks at the header.
Documented = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
_SAFE = ("GET", "HEAD", "OPTIONS")


def authenticator(request: Request) -> Authenticator:
    """The app's, for pages that let browsers in and out."""
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
    """What came along with a change, in the header or in the form; None if it is no change."""
    if request.method in _SAFE:
        return None
    sent = request.headers.get("x-csrf-token")
    kind = request.headers.get("content-type", "")
    if sent is None and kind.startswith(("application/x-www-form", "multipart/form-data")):
        field = (await request.form()).get("csrf")
        sent = field if isinstance(field, str) else None
    return sent or ""


Owner = Annotated[Caller, Depends(owner)]
Worker = Annotated[Caller, Depends(worker)]
Entered = Annotated[Authenticator, Depends(authenticator)]
