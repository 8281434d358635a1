"""The HTTP API of an askfew server, for those who call it: requests, and refusals as sentences."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from askfew.errors import InvalidInput, MissingExtra, StoreUnreachable

__all__ = ["ServerApi"]

_SECONDS = 30.0
_LATER = (429, 502, 503, 504)
"""Statuses that say: try again."""


class ServerApi:
    """What is below ``/api/v1`` of a server, as the bearer of a token; ``wanted`` is said if it is
    refused.
    """

    def __init__(self, url: str, token: str, wanted: str) -> None:
        httpx2 = self._httpx2 = _package()
        self._url, self._wanted = url.rstrip("/"), wanted
        self._client = httpx2.Client(
            headers={"Authorization": f"Bearer {token}".encode()}, timeout=_SECONDS
        )

    def close(self) -> None:
        """Give back connections."""
        self._client.close()

    def send(self, verb: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """The document that it answers with."""
        response = self.response(verb, path, body)
        try:
            document = response.json()
        except ValueError:
            document = None
        if not isinstance(document, dict):
            raise InvalidInput("the server must be one of askfew's", self._url, "check the address")
        return document

    def response(self, verb: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Whatever it answers with, unless that is a refusal."""
        try:
            response = self._client.request(verb, f"{self._url}/api/v1{path}", json=body)
        except (self._httpx2.UnsupportedProtocol, self._httpx2.InvalidURL):
            raise InvalidInput(
                "a server's address must begin with http:// or https://", self._url, "mend it"
            ) from None
        except self._httpx2.TransportError as error:
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
