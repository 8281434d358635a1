"""Checks tokens and cookies, and sets cookies. Nothing else reads them."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from starlette.requests import HTTPConnection
from starlette.responses import Response

from askfew.campaigns.store import Store
from askfew.web.access.tokens import (
    SESSION_SECONDS,
    Caller,
    by_session,
    by_token,
    close_session,
    csrf_of,
    hash_of,
    open_session,
    same,
)
from askfew.web.problems import Refused

__all__ = ["Authenticator", "BrowserSession", "TokenThrottle", "sent_by_another_site"]

_MOST = 20
"""Wrong tokens of one address in a minute. A plain choice: a person with an old link sends one or
two, and a program that guesses needs more than any number that could be allowed here."""
_WITHIN = 60.0
_REMEMBERED = 10_000
"""The most addresses that are remembered: one for every worker, and too few to fill memory."""
_NO_TOKEN = "a token is needed: send 'Authorization: Bearer TOKEN', or log in"
_WRONG_TOKEN = "this token is unknown or has expired: check it, or ask for a new one"
_NO_CSRF = "the page's token must be sent along: reload the page and try again"


class TokenThrottle:
    """Counts wrong tokens by the address they come from, after they were looked up.

    A valid token is accepted whatever else came from its address: many people share one (an office,
    a proxy), and somebody who guesses there must not lock the others out. This makes guessing no
    easier: tokens are 256 random bits, and nobody guesses one. The throttle only tells a program
    that keeps sending an old token to slow down. So counts are kept in memory: the processes of one
    ``askfew serve`` share them, a restart forgets them, and each machine has its own. A wrong token
    that is sent again (a page that was left open) counts once.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._wrong: OrderedDict[str, OrderedDict[str, float]] = OrderedDict()
        self._turn = Lock()

    def wrong(self, address: str, digest: str) -> int:
        """Note a wrong token by its hash. The seconds to wait if there were too many, else 0."""
        with self._turn:
            guesses, now = self._wrong.setdefault(address, OrderedDict()), self._clock()
            self._wrong.move_to_end(address)
            # The address that has been quiet longest is forgotten, so that nobody can fill memory.
            if len(self._wrong) > _REMEMBERED:
                self._wrong.popitem(last=False)
            while guesses and next(iter(guesses.values())) <= now - _WITHIN:
                guesses.popitem(last=False)
            # A page that was left open sends the same old token again: that is no guessing.
            if digest in guesses:
                return 0
            if len(guesses) >= _MOST:
                return max(math.ceil(next(iter(guesses.values())) + _WITHIN - now), 1)
            guesses[digest] = now
            return 0


Look = Callable[[Store, str, str | None], Caller | None]


@dataclass(frozen=True)
class BrowserSession:
    """A session that was just opened; call ``set_on`` with the first response."""

    caller: Caller
    name: str
    value: str
    secure: bool

    def set_on(self, response: Response) -> None:
        """Set the cookie. Lax, because it must be sent when a link in a mail is opened."""
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
    """Whether a page of another site made the browser send this request.

    The host alone is compared: behind a proxy, a server may not know that it is reached by TLS.
    A request without any of these headers comes from a program, which no page can trick.
    """
    site = request.headers.get("sec-fetch-site")  # sent over TLS or to localhost only
    if site is not None:
        return site not in ("same-origin", "none")
    source = request.headers.get("origin", request.headers.get("referer"))
    here = request.headers.get("host", "").lower()
    return source is not None and source.lower().partition("://")[2].partition("/")[0] != here


class Authenticator:
    """Finds out who sent a request, by its token or its cookies. A browser may have two cookies:
    the owner's, and an invited person's, which is good for all their campaigns.
    """

    def __init__(self, store: Store, throttle: TokenThrottle, *, secure: bool) -> None:
        self.store, self.secure = store, secure
        self._throttle = throttle

    def enter(self, request: HTTPConnection, token: str) -> BrowserSession:
        """Turn a token (the owner's, or an invitation's) into a session, or raise Refused."""
        caller = self._looked_up(request, token, by_token, None)
        value = open_session(self.store, token)
        named = Caller(None, caller.worker, csrf_of(value))
        return BrowserSession(named, self._cookie(owner=caller.is_owner), value, self.secure)

    def leave(self, request: HTTPConnection, response: Response) -> None:
        """End the owner's session."""
        name = self._cookie(owner=True)
        if name in request.cookies:
            close_session(self.store, request.cookies[name])
        response.delete_cookie(name, path="/", httponly=True, samesite="lax", secure=self.secure)

    def note_wrong_token(self, request: HTTPConnection, token: str) -> None:
        """Count a wrong token; Refused if too many came from the same address."""
        address = request.client.host if request.client else ""
        wait = self._throttle.wrong(address, hash_of(token))
        if wait:
            sentence = f"too many wrong tokens: wait {wait} seconds"
            raise Refused(429, sentence, {"Retry-After": str(wait)})

    def person(self, request: HTTPConnection) -> Caller:
        """A person who was invited to any campaign, or Refused."""
        cookie = request.cookies.get(self._cookie(owner=False))
        if cookie is None:
            raise Refused(401, _NO_TOKEN)
        caller = self._looked_up(request, cookie, by_session, None)
        if caller.is_owner:
            raise Refused(401, _NO_TOKEN)
        return caller

    def knows_person(self, request: HTTPConnection) -> bool:
        """Whether the browser has the session of a person who was invited."""
        cookie = request.cookies.get(self._cookie(owner=False))
        return cookie is not None and by_session(self.store, cookie, None) is not None

    def owner(self, request: HTTPConnection, csrf: str | None = None) -> Caller:
        """The owner, or Refused. ``csrf`` is the page's token; None if nothing is changed."""
        caller = self._admitted(request, None, csrf)
        if not caller.is_owner:
            raise Refused(403, "this is for the owner")
        return caller

    def worker(self, request: HTTPConnection, campaign: str, csrf: str | None = None) -> Caller:
        """A worker of this campaign or the owner, or Refused."""
        return self._admitted(request, campaign, csrf)

    def _admitted(self, request: HTTPConnection, campaign: str | None, csrf: str | None) -> Caller:
        """Try each credential. An owner may also have an old worker's cookie."""
        refusal = Refused(401, _NO_TOKEN, {"WWW-Authenticate": "Bearer"})
        for secret, look in self._credentials(request, campaign):
            try:
                caller = self._looked_up(request, secret, look, campaign)
            except Refused as error:
                found = error
            else:
                # A token from a header needs no page token: browsers add cookies to a request by
                # themselves, but never this header.
                if csrf is None or not caller.csrf or same(csrf, caller.csrf):
                    return caller
                found = Refused(403, _NO_CSRF)
            # Of two cookies, one may be unknown (401). What is wrong with the other says more.
            if refusal.status_code == 401:
                refusal = found
        raise refusal

    def _credentials(self, request: HTTPConnection, campaign: str | None) -> list[tuple[str, Look]]:
        """The token of the request, or else its cookies, with how to look each up."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme:
            return [(token.strip(), by_token)] if scheme.lower() == "bearer" else []
        # In a campaign a worker's cookie comes first: an owner who was invited, too, answers under
        # their own name there.
        owners = (True,) if campaign is None else (False, True)
        cookies = [request.cookies.get(self._cookie(owner=owner)) for owner in owners]
        return [(cookie, by_session) for cookie in cookies if cookie]

    def _looked_up(
        self, request: HTTPConnection, secret: str, look: Look, campaign: str | None
    ) -> Caller:
        caller = look(self.store, secret, campaign)
        if caller is None:
            self.note_wrong_token(request, secret)
            raise Refused(401, _WRONG_TOKEN, {"WWW-Authenticate": "Bearer"})
        return caller

    def _cookie(self, *, owner: bool) -> str:
        # Browsers accept a __Host- cookie only over TLS and only from this host, not from a
        # subdomain.
        return f"{'__Host-' if self.secure else ''}askfew_{'owner' if owner else 'worker'}"
