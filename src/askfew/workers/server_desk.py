"""A desk behind HTTP: the API of an askfew server."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from askfew.answer_warnings import AnswerWarning, read_warning
from askfew.campaigns.campaign import Assignment, Shown
from askfew.campaigns.kinds import read_kind
from askfew.campaigns.slots.intake import Receipt, Received
from askfew.errors import InvalidInput
from askfew.workers.desk import Described, Handed
from askfew.workers.server_api import ServerApi

__all__ = ["ServerDesk"]


class ServerDesk:
    """Asks and tells a campaign of a server, as the worker that the token was given to.

    An owner's token may act for any ``worker``.
    """

    def __init__(self, url: str, token: str, campaign: str, worker: str | None = None) -> None:
        self._api = ServerApi(url, token, repr(campaign))
        self._campaign = f"/campaigns/{quote(campaign, safe='')}"
        self._named = worker
        self._invited = False
        self.worker = worker or ""

    def describe(self) -> Described:
        """What the campaign is about; also learns who we are."""
        about = self._api.send("GET", self._campaign)
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

    def ask(self, n: int, *, per_item: int = 1) -> Handed:
        """Up to n questions, leased."""
        wanted: dict[str, Any] = {"n": n, "worker": self._named}
        if per_item > 1:  # older servers do not know it
            wanted["per_item"] = per_item
        handed = self._api.send("POST", f"{self._campaign}/ask", wanted)
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
        content: bytes = self._api.response("GET", f"{self._campaign}/images/{digest}").content
        return content

    def warnings(self) -> tuple[AnswerWarning, ...]:
        """What the campaign has found wrong with this worker's answers."""
        sent = self._api.send("GET", self._campaign).get("warnings", ())
        found = (read_warning(each) for each in sent)  # the owner hears of all workers
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
