"""What carries out an agent's calls: the campaigns of a store, or a server in front of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import quote

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.forecast import Sizes, crowd_forecast
from askfew.campaigns.reading.results import result_of
from askfew.campaigns.reading.status import status_of
from askfew.campaigns.records import Item, Question, check_contents
from askfew.campaigns.settings import Settings
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput
from askfew.workers.server_desk import ServerApi

__all__ = ["Backend", "ServerBackend", "StoreBackend"]

Document = dict[str, Any]
Named = Sequence[Mapping[str, Any]]


class Backend(Protocol):
    """The calls that an agent may make. They return the documents of the HTTP API."""

    def create(self, settings: Mapping[str, Any], items: Named, questions: Named) -> Document:
        """Create a campaign."""

    def about(self, name: str) -> Document:
        """Describe a campaign to somebody who will answer."""

    def ask(self, name: str, n: int) -> Document:
        """Lease up to n questions."""

    def tell(self, name: str, lease: str, answer: bool | float | str) -> Document:
        """Answer a question."""

    def skip(self, name: str, lease: str, reason: str) -> Document:
        """Leave a question to somebody else."""

    def status(self, name: str) -> Document:
        """The status of a campaign."""

    def result(self, name: str) -> Document:
        """The result of a campaign."""


class ServerBackend:
    """Calls the API of a server, which refuses what the token may not do."""

    def __init__(self, url: str, token: str, worker: str | None) -> None:
        self._api = ServerApi(url, token, "its campaigns")
        self._worker = worker

    def create(self, settings: Mapping[str, Any], items: Named, questions: Named) -> Document:
        """Create a campaign; only the owner may."""
        body = {"settings": dict(settings), "items": list(items), "questions": list(questions)}
        return self._api.send("POST", "/campaigns", body)

    def about(self, name: str) -> Document:
        """Describe a campaign to somebody who will answer."""
        return self._api.send("GET", _path(name))

    def ask(self, name: str, n: int) -> Document:
        """Lease up to n questions; the owner asks in the name of a worker."""
        return self._api.send("POST", _path(name, "ask"), {"n": n, "worker": self._worker})

    def tell(self, name: str, lease: str, answer: bool | float | str) -> Document:
        """Answer a question."""
        return self._api.send("POST", _path(name, "tell"), {"id": lease, "answer": answer})

    def skip(self, name: str, lease: str, reason: str) -> Document:
        """Leave a question to somebody else."""
        return self._api.send("POST", _path(name, "skip"), {"id": lease, "reason": reason})

    def status(self, name: str) -> Document:
        """The status of a campaign; only the owner may see it."""
        return self._api.send("GET", _path(name, "status"))

    def result(self, name: str) -> Document:
        """The result of a campaign; only the owner may see it."""
        return self._api.send("GET", _path(name, "result"))


class StoreBackend:
    """Works on a store. Whoever can open it is its owner."""

    def __init__(self, store: Store, worker: str) -> None:
        self._store, self._worker = store, worker
        # Kept open, because opening a campaign reads all its items.
        self._open: dict[str, Campaign] = {}

    def create(self, settings: Mapping[str, Any], items: Named, questions: Named) -> Document:
        """Create a campaign, with the same checks as from a folder."""
        chosen = Settings.from_dict(dict(settings))
        made = [Item(*_texts(each, "items"), group=str(each.get("group", ""))) for each in items]
        asked = [
            Question(*_texts(each, "questions"), bool(each.get("defines"))) for each in questions
        ]
        check_contents(made, asked)
        forecast = crowd_forecast(chosen, Sizes.of(made, asked))
        self._store.create(chosen, made, asked, forecast=forecast)
        return self.about(chosen.name)

    def about(self, name: str) -> Document:
        """Describe a campaign to somebody who will answer."""
        campaign = self._campaign(name)
        settings = campaign.settings
        return {
            "name": settings.name,
            "state": campaign.state,
            "answers": settings.answers.setting,
            "guidelines": settings.guidelines,
            "items": len(campaign.items),
            "questions": len(campaign.questions),
            "lease_seconds": settings.lease_seconds,
            "worker": self._worker,
        }

    def ask(self, name: str, n: int) -> Document:
        """Lease up to n questions."""
        campaign = self._campaign(name)
        asked = campaign.ask(self._worker, n)
        questions = [
            {
                "id": each.id,
                "item": {"id": each.item.id, "text": each.item.text},
                "question": {"id": each.question.id, "text": each.question.text},
                "expires": each.expires,
            }
            for each in asked
        ]
        return {"state": "running" if asked else campaign.state, "questions": questions}

    def tell(self, name: str, lease: str, answer: bool | float | str) -> Document:
        """Answer a question."""
        receipt = self._campaign(name).tell(lease, answer)
        return {"ok": receipt.ok, "status": receipt.status.value, "message": receipt.message}

    def skip(self, name: str, lease: str, reason: str) -> Document:
        """Leave a question to somebody else."""
        receipt = self._campaign(name).skip(lease, reason)
        return {"ok": receipt.ok, "status": receipt.status.value, "message": receipt.message}

    def status(self, name: str) -> Document:
        """The status of a campaign."""
        return status_of(self._campaign(name)).to_dict()

    def result(self, name: str) -> Document:
        """The result of a campaign."""
        return result_of(self._campaign(name)).to_dict()

    def _campaign(self, name: str) -> Campaign:
        if name not in self._open:
            self._open[name] = self._store.campaign(name)
        return self._open[name]


def _path(name: str, what: str = "") -> str:
    return f"/campaigns/{quote(name, safe='')}" + (f"/{what}" if what else "")


def _texts(each: Mapping[str, Any], what: str) -> tuple[str, str]:
    if not isinstance(each, Mapping) or not isinstance(each.get("id"), str):
        raise InvalidInput(f"each of the {what} must have an id", repr(each)[:100], "give it one")
    return each["id"], str(each.get("text", ""))
