"""A desk in this process: the campaign's own store."""

from __future__ import annotations

from askfew.answer_warnings import AnswerWarning
from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.queries.contents import find_picture
from askfew.campaigns.reading.independence import warnings_about
from askfew.campaigns.settings import most_groups
from askfew.campaigns.slots.intake import Receipt
from askfew.errors import InvalidInput
from askfew.workers.desk import Described, Handed

__all__ = ["StoreDesk"]


class StoreDesk:
    """Asks and tells a campaign directly; who opened its store closes it."""

    def __init__(self, campaign: Campaign, worker: str) -> None:
        self.campaign, self.worker = campaign, worker

    def describe(self) -> Described:
        """What the campaign is about."""
        settings = self.campaign.settings
        return Described(
            settings.name,
            settings.answers,
            settings.guidelines,
            settings.lease_seconds,
            tuple(each.id for each in self.campaign.questions),
            most_groups(settings.groups),
        )

    def ask(self, n: int, *, per_item: int = 1) -> Handed:
        """Up to n questions, leased."""
        asked = tuple(self.campaign.ask(self.worker, n, per_item=per_item))
        return Handed("running" if asked else self.campaign.state, asked)

    def tell(
        self, lease: str, answer: float, *, seconds: float | None, cost: float | None
    ) -> Receipt:
        """Hand in an answer; telling it twice counts once."""
        return self.campaign.tell(lease, answer, seconds=seconds, cost=cost)

    def skip(self, lease: str, reason: str) -> Receipt:
        """No answer: the slot counts a failure, and goes to someone else."""
        return self.campaign.skip(lease, reason)

    def release(self, lease: str) -> Receipt:
        """Hand a question back; no failure."""
        return self.campaign.release(lease)

    def renew(self, lease: str) -> Receipt:
        """Keep a question for another lease."""
        return self.campaign.renew(lease)

    def image(self, digest: str) -> bytes:
        """A picture by its hash."""
        with self.campaign.database.read() as connection:
            picture = find_picture(connection, digest)
        if picture is None:
            raise InvalidInput("a picture must be in the store", digest, "run 'askfew doctor'")
        return picture.content

    def warnings(self) -> tuple[AnswerWarning, ...]:
        """What the campaign has found wrong with this worker's answers."""
        return warnings_about(self.campaign, self.worker)

    def close(self) -> None:
        """Nothing: the store may serve others."""
