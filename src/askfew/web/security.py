"""Security headers of every response, and limits on the size of requests."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askfew.web.access.authenticator import Authenticator
from askfew.web.problems import Refused

__all__ = ["BodyLimit", "SecurityHeaders"]

_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; object-src 'none';"
    " base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not no-referrer: browsers would then say "Origin: null" of our own forms, too.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_TLS_ONLY = {"Strict-Transport-Security": "max-age=31536000"}

SMALL = 64_000
"""The most bytes of a request's body: an answer, a form. A round number."""
LARGE = 100_000_000
"""The most bytes of an upload, which only the owner may send. A round number: 20 of the largest
pictures, or thousands of small ones."""
UPLOADS = ("/api/v1/campaigns", "/new")
"""The paths of uploads."""


class SecurityHeaders:
    """Scripts and styles from our own files only, no frames, caching of static files only."""

    def __init__(self, app: ASGIApp, *, secure: bool) -> None:
        self.app = app
        self.headers = {**_HEADERS, **(_TLS_ONLY if secure else {})}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(self.headers)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self.app(scope, receive, with_headers if scope["type"] == "http" else send)


class BodyLimit:
    """Counts what really comes in, whatever Content-Length says."""

    def __init__(self, app: ASGIApp, *, authenticator: Authenticator) -> None:
        self.app, self.authenticator = app, authenticator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit, came = SMALL, 0

        async def limited() -> Message:
            nonlocal limit, came
            message = await receive()
            came += len(message.get("body", b""))
            if came > limit and limit == SMALL and scope["path"].rstrip("/") in UPLOADS:
                await run_in_threadpool(self.authenticator.owner, Request(scope))
                limit = LARGE
            if came > limit:
                raise TooLarge(limit)
            return message

        await self.app(scope, limited, send)


class TooLarge(Refused):
    """The body is too long; the rest of it is not read."""

    def __init__(self, limit: int) -> None:
        headers = {"Connection": "close"}
        super().__init__(413, f"the request must have at most {limit:,} bytes", headers)
