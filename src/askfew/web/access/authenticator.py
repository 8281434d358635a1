"""The one place where tokens and cookies are looked at, and cookies given."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import HTTPConnection
from starlette.responses import Response

from askfew.campaigns.store import Store
from askfew.web.access.callers import (
    SESSION_SECONDS,
    Caller,
    by_session,
    by_token,
    close_session,
    open_session,
)
from askfew.web.access.throttle import TokenThrottle
from askfew.web.access.tokens import csrf_of, hash_of, same
from askfew.web.problems import Refused

__all__ = ["Authenticator", "BrowserSession", "sent_by_another_site"]

Look = Callable[[Store, str], Caller | None]

_NO_TOKEN = "a token is needed: send 'Authorization: Bearer TOKEN', or log in"
_WRONG_TOKEN = "this token is not one of ours, or has run out: check it, or ask for a new one"
_NO_CSRF = "the page's token must be sent along: reload the page and try again"


@dataclass(frozen=True)
class BrowserSession:
    """A browser that has just come in: ``set_on`` the response that welcomes it."""

    caller: Caller
    name: str
    value: str
    secure: bool

    def set_on(self, response: Response) -> None:
        """Give the browser its cookie. Lax: it must come along when a link in a mail is opened."""
        response.set_cookie(
            self.name,
            self.value,
            max_age=int(SESSION_SECONDS),
            httponly=True,
            samesite="lax",
            secure=self.secure,
            path="/",
        )


def sent_by_another_site(request: HTTPConnection) -> bool:
    """Whether a browser says that a page of another site made it send this.

    The host alone is compared: behind a proxy, a server may not know that it is reached by TLS.
    """
    site = request.headers.get("sec-fetch-site")  # not sent without TLS, but for this machine
    if site is not None:
        return site not in ("same-origin", "none")
    origin = request.headers.get("origin")
    here = request.headers.get("host", "").lower()
    return origin is not None and origin.lower().partition("://")[2] != here


class Authenticator:
    """Looks at what a request shows. Browsers show cookies: one of the owner's, one a campaign."""

    def __init__(self, store: Store, *, secure: bool) -> None:
        self.store, self.secure = store, secure
        self._guesses = TokenThrottle(store.clock)

    def enter(self, request: HTTPConnection, token: str) -> BrowserSession:
        """Turn a token (the owner's, or an invitation's) into a session, or raise Refused."""
        caller = self._looked_up(request, token, by_token)
        value = open_session(self.store, token)
        campaign, worker = caller.campaign, caller.worker
        named = Caller(campaign, worker, csrf_of(value))
        return BrowserSession(named, self._cookie(campaign), value, self.secure)

    def leave(self, request: HTTPConnection, response: Response, campaign: str | None) -> None:
        """End the owner's session (None), or the one of a campaign's worker."""
        name = self._cookie(campaign)
        if name in request.cookies:
            close_session(self.store, request.cookies[name])
        response.delete_cookie(name, path="/", httponly=True, samesite="lax", secure=self.secure)

    def owner(self, request: HTTPConnection, csrf: str | None = None) -> Caller:
        """The owner, or Refused. ``csrf`` is what came along; None if nothing is to be changed."""
        caller = self._admitted(request, None, csrf)
        if not caller.is_owner:
            raise Refused(403, "this is for the owner")
        return caller

    def worker(self, request: HTTPConnection, campaign: str, csrf: str | None = None) -> Caller:
        """A worker of this campaign, or the owner; else Refused."""
        caller = self._admitted(request, campaign, csrf)
        if not caller.is_owner and caller.campaign != campaign:
            raise Refused(403, "this invitation is for another campaign")
        return caller

    def _admitted(self, request: HTTPConnection, campaign: str | None, csrf: str | None) -> Caller:
        """The first that is good; somebody with a worn-out worker's cookie may be the owner."""
        refusal = Refused(401, _NO_TOKEN, {"WWW-Authenticate": "Bearer"})
        for secret, look in self._secrets(request, campaign):
            try:
                caller = self._looked_up(request, secret, look)
            except Refused as error:
                refusal = error
                continue
            if csrf is None or not caller.csrf or same(csrf, caller.csrf):
                return caller
            refusal = Refused(403, _NO_CSRF)
        raise refusal

    def _secrets(self, request: HTTPConnection, campaign: str | None) -> list[tuple[str, Look]]:
        """What the request shows: a token, or else the cookies that fit."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme:
            return [(token.strip(), by_token)] if scheme.lower() == "bearer" else []
        names = [None] if campaign is None else [campaign, None]
        cookies = [request.cookies.get(self._cookie(name)) for name in names]
        return [(cookie, by_session) for cookie in cookies if cookie]

    def _looked_up(self, request: HTTPConnection, secret: str, look: Look) -> Caller:
        caller = look(self.store, secret)
        if caller is None:
            address = request.client.host if request.client else ""
            self._guesses.wrong(address, hash_of(secret))
            raise Refused(401, _WRONG_TOKEN, {"WWW-Authenticate": "Bearer"})
        return caller

    def _cookie(self, campaign: str | None) -> str:
        """Cookie names take few characters, campaigns' names many."""
        whose = "owner" if campaign is None else hashlib.sha256(campaign.encode()).hexdigest()[:16]
        return f"{'__Host-' if self.secure else ''}askfew_{whose}"
