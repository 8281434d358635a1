"""A desk behind HTTP: the API of an askfew server."""

from __future__ import annotations

from types import ModuleType
from typing import Any
from urllib.parse import quote

from askfew.answer_warnings import AnswerWarning, read_warning
from askfew.campaigns.campaign import Assignment, Shown
from askfew.campaigns.kinds import read_kind
from askfew.campaigns.slots.intake import Receipt, Received
from askfew.errors import InvalidInput, MissingExtra, StoreUnreachable
from askfew.workers.desk import Described, Handed

__all__ = ["ServerDesk"]

_SECONDS = 30.0
_LATER = (429, 502, 503, 504)
"""Statuses that say: try again."""


class ServerDesk:
    """Asks and tells a campaign of a server, as the worker that the token was given to.

    An owner's token may act for any ``worker``.
    """

    def __init__(self, url: str, token: str, campaign: str, worker: str | None = None) -> None:
        httpx = self._httpx = _httpx()
        self._url, self._campaign = url.rstrip("/"), campaign
        self._named = worker
        self._invited = False
        self.worker = worker or ""
        self._base = f"{self._url}/api/v1/campaigns/{quote(campaign, safe='')}"
        self._client = httpx.Client(
            headers={"Authorization": f"Bearer {token}".encode()}, timeout=_SECONDS
        )

    def describe(self) -> Described:
        """What the campaign is about; also learns who we are."""
        about = self._send("GET", "")
        own = about.get("worker")
        if own and self._named and own != self._named:
            raise InvalidInput(
                f"the token is for worker {own}", repr(self._named), "leave --worker out"
            )
        self.worker, self._invited = own or self._named or "", bool(own)
        known = about.get("question_ids")  # older servers say neither these nor groups
        if not self.worker:
            raise InvalidInput("the owner must name a worker", "none", "say --worker NAME")
        return Described(
            about["name"],
            read_kind(about["answers"]),
            about["guidelines"],
            float(about["lease_seconds"]),
            None if known is None else tuple(known),
            int(about.get("groups", 2)),
        )

    def ask(self, n: int) -> Handed:
        """Up to n questions, leased."""
        handed = self._send("POST", "/ask", {"n": n, "worker": self._named})
        return Handed(handed["state"], tuple(_asked(each) for each in handed["questions"]))

    def tell(
        self, lease: str, answer: float, *, seconds: float | None, cost: float | None
    ) -> Receipt:
        """Hand in an answer; telling it twice counts once. An invited worker's cost stays here."""
        body: dict[str, Any] = {"id": lease, "answer": answer, "seconds": seconds}
        if not self._invited:  # whose cost would be refused
            body["cost"] = cost
        return self._receipt("/tell", body)

    def skip(self, lease: str, reason: str) -> Receipt:
        """No answer: the slot counts a failure, and goes to someone else."""
        return self._receipt("/skip", {"id": lease, "reason": reason})

    def release(self, lease: str) -> Receipt:
        """Hand a question back; no failure."""
        return self._receipt("/release", {"id": lease})

    def renew(self, lease: str) -> Receipt:
        """Keep a question for another lease."""
        return self._receipt("/renew", {"id": lease})

    def image(self, digest: str) -> bytes:
        """A picture by its hash."""
        content: bytes = self._response("GET", f"/images/{digest}").content
        return content

    def warnings(self) -> tuple[AnswerWarning, ...]:
        """What the campaign has found wrong with this worker's answers."""
        sent = self._send("GET", "").get("warnings", ())
        found = (read_warning(each) for each in sent)  # the owner hears of all workers
        return tuple(each for each in found if each is not None and each.concerns(self.worker))

    def close(self) -> None:
        """Give back connections."""
        self._client.close()

    def _receipt(self, path: str, body: dict[str, Any]) -> Receipt:
        answer = self._send("POST", path, body)
        return Receipt(Received(answer["status"]), answer["message"], seconds=answer.get("seconds"))

    def _send(self, verb: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        response = self._response(verb, path, body)
        try:
            document = response.json()
        except ValueError:
            document = None
        if not isinstance(document, dict):
            raise InvalidInput("the server must be one of askfew's", self._url, "check the address")
        return document

    def _response(self, verb: str, path: str, body: dict[str, Any] | None = None) -> Any:
        try:
            response = self._client.request(verb, self._base + path, json=body)
        except (self._httpx.UnsupportedProtocol, self._httpx.InvalidURL):
            raise InvalidInput(
                "a server's address must begin with http:// or https://", self._url, "mend it"
            ) from None
        except self._httpx.TransportError as error:
            why = str(error) or type(error).__name__
            raise self._unreachable(why, None) from error
        if response.status_code in _LATER:
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
            f"the server {self._url} must let us work on {self._campaign!r}",
            f"HTTP {response.status_code}" + (f" ({detail})" if detail else ""),
            advice,
        )


def _asked(each: dict[str, Any]) -> Assignment:
    item, question = each["item"], each["question"]
    return Assignment(
        each["id"],
        Shown(item["id"], item["text"], item.get("image")),
        Shown(question["id"], question["text"]),
        float(each["expires"]),
        float(each["seconds"]),
    )


def _httpx() -> ModuleType:
    try:
        import httpx
    except ImportError:
        raise MissingExtra(
            "working for a server needs the package httpx", "none", "pip install 'askfew[work]'"
        ) from None
    return httpx
