"""The client of a server's HTTP API, and the desk that uses it."""

from __future__ import annotations

import time
from types import ModuleType
from typing import Any
from urllib.parse import quote

from askfew.answer_warnings import AnswerWarning, read_warning
from askfew.campaigns.campaign import Assignment, Shown
from askfew.campaigns.db.queries.calls import Call, CallLimits, add_call
from askfew.campaigns.setting_values import read_kind
from askfew.campaigns.slots.intake import Receipt, Received
from askfew.errors import InvalidInput, MissingExtra, StoreUnreachable
from askfew.workers.desk import CampaignInfo, Handout

__all__ = ["ServerApi", "ServerDesk"]


class ServerDesk:
    """A desk that calls a server. The token says which worker it is for.

    An owner's token may act for any ``worker``.
    """

    def __init__(self, url: str, token: str, campaign: str, worker: str | None = None) -> None:
        self._api = ServerApi(url, token, repr(campaign))
        self._campaign = f"/campaigns/{quote(campaign, safe='')}"
        self._named = worker
        self._invited = False
        self._calls: list[Call] = []
        self.worker = worker or ""

    def describe(self) -> CampaignInfo:
        """Describe the campaign; also learn which worker the token is for."""
        about = self._api.send("GET", self._campaign)
        own = about.get("worker")
        if own and self._named and own != self._named:
            raise InvalidInput(
                f"the token is for worker {own}", repr(self._named), "leave --worker out"
            )
        self.worker, self._invited = own or self._named or "", bool(own)
        known = about.get("question_ids")  # older servers send neither these nor groups
        if not self.worker:
            raise InvalidInput("the owner must name a worker", "none", "pass --worker NAME")
        return CampaignInfo(
            about["name"],
            read_kind(about["answers"]),
            about["guidelines"],
            float(about["lease_seconds"]),
            None if known is None else tuple(known),
            int(about.get("groups", 2)),
        )

    def ask(self, n: int, *, per_item: int = 1) -> Handout:
        """Lease up to n questions."""
        wanted: dict[str, Any] = {"n": n, "worker": self._named}
        if per_item > 1:  # older servers do not know this field and would refuse the request
            wanted["per_item"] = per_item
        handed = self._api.send("POST", f"{self._campaign}/ask", wanted)
        return Handout(handed["state"], tuple(_asked(each) for each in handed["questions"]))

    def tell(
        self, lease: str, answer: float, *, seconds: float | None, cost: float | None
    ) -> Receipt:
        """Hand in an answer. The same answer told twice counts once."""
        body: dict[str, Any] = {"id": lease, "answer": answer, "seconds": seconds}
        if not self._invited:  # the server refuses costs from an invited worker
            body["cost"] = cost
        return self._receipt("/tell", body)

    def skip(self, lease: str, reason: str) -> Receipt:
        """Give no answer: the slot counts a failure and goes to someone else."""
        return self._receipt("/skip", {"id": lease, "reason": reason})

    def release(self, lease: str) -> Receipt:
        """Hand a question back; the slot counts no failure."""
        return self._receipt("/release", {"id": lease})

    def renew(self, lease: str) -> Receipt:
        """Extend the lease of a question."""
        return self._receipt("/renew", {"id": lease})

    def image(self, digest: str) -> bytes:
        """Load a picture by its hash."""
        content: bytes = self._api.response("GET", f"{self._campaign}/images/{digest}").content
        return content

    def admit_call(self, call: str, tokens: int, most: CallLimits) -> float:
        """Count a call among those that the server's store knows of, or say how long to wait.

        An invited worker counts alone: their limits are those of their own endpoint.
        """
        if self._invited:
            return add_call(self._calls, Call(time.time(), tokens, call), most)
        body = {"id": call, "tokens": tokens, "most_requests": most.requests}
        body["most_tokens"] = most.tokens
        return float(self._api.send("POST", f"{self._campaign}/calls", body)["wait"])

    def warnings(self) -> tuple[AnswerWarning, ...]:
        """The campaign's warnings about this worker's answers."""
        sent = self._api.send("GET", self._campaign).get("warnings", ())
        found = (read_warning(each) for each in sent)  # the owner is sent those of all workers
        return tuple(each for each in found if each is not None and each.concerns(self.worker))

    def close(self) -> None:
        """Give back connections."""
        self._api.close()

    def _receipt(self, path: str, body: dict[str, Any]) -> Receipt:
        answer = self._api.send("POST", self._campaign + path, body)
        return Receipt(Received(answer["status"]), answer["message"], seconds=answer.get("seconds"))


def _asked(each: dict[str, Any]) -> Assignment:
    item, question = each["item"], each["question"]
    return Assignment(
        each["id"],
        Shown(item["id"], item["text"], item.get("image")),
        Shown(question["id"], question["text"]),
        float(each["expires"]),
        float(each["seconds"]),
    )


_TIMEOUT = 30.0
"""Seconds that a request may take. A plain choice: far longer than an answer takes, and a request
that times out is repeated."""
_TRY_LATER = (429, 502, 503, 504)
"""HTTP statuses that mean: try again later."""


class ServerApi:
    """Requests below ``/api/v1`` of a server, with a token.

    ``wanted`` says in an error what the requests were for.
    """

    def __init__(self, url: str, token: str, wanted: str) -> None:
        httpx2 = self._httpx2 = _package()
        self._url, self._wanted = url.rstrip("/"), wanted
        self._client = httpx2.Client(
            # As bytes: the client would refuse a mistyped token with other than ASCII characters.
            headers={"Authorization": f"Bearer {token}".encode()},
            timeout=_TIMEOUT,
        )

    def close(self) -> None:
        """Give back connections."""
        self._client.close()

    def send(self, verb: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a request and return the JSON document of the response."""
        response = self.response(verb, path, body)
        try:
            document = response.json()
        except ValueError:
            document = None
        if not isinstance(document, dict):
            raise InvalidInput("the server must be one of askfew's", self._url, "check the address")
        return document

    def response(self, verb: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Send a request and return the response; raise if the server refuses it."""
        try:
            response = self._client.request(verb, f"{self._url}/api/v1{path}", json=body)
        except (self._httpx2.UnsupportedProtocol, self._httpx2.InvalidURL):
            raise InvalidInput(
                "a server's address must begin with http:// or https://", self._url, "fix it"
            ) from None
        except self._httpx2.TransportError as error:
            why = str(error) or type(error).__name__
            raise self._unreachable(why, None) from error
        # The same error as without a connection, so that one retry serves both.
        if response.status_code in _TRY_LATER:
            raise self._unreachable(
                f"HTTP {response.status_code}", response.headers.get("Retry-After")
            )
        if response.is_error:
            raise self._refused(response)
        return response

    def _unreachable(self, why: str, wait: str | None) -> StoreUnreachable:
        error = StoreUnreachable(
            "the server must answer", f"{self._url} ({why})", "see that it runs, and try again"
        )
        error.retry_after = float(wait) if wait is not None and wait.isdecimal() else None
        return error

    def _refused(self, response: Any) -> InvalidInput:
        try:
            problem = response.json()
            detail = str(problem.get("detail") or problem.get("title"))
        except (ValueError, AttributeError):
            detail = ""
        advice = {
            401: "check the token (ASKFEW_TOKEN)",
            403: "ask the owner for an invitation",
            409: "tell the owner",
            404: "check the server's address and the campaign's name",
        }.get(response.status_code, "check the request")
        return InvalidInput(
            f"the server {self._url} must let us work on {self._wanted}",
            f"HTTP {response.status_code}" + (f" ({detail})" if detail else ""),
            advice,
        )


def _package() -> ModuleType:
    try:
        import httpx2
    except ImportError:
        raise MissingExtra(
            "working for a server needs the package httpx2", "none", "pip install 'askfew[work]'"
        ) from None
    return httpx2
