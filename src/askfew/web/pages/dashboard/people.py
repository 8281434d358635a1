"""Who answers: invited or come, how much, how fast, and how well it fits the labels."""

from __future__ import annotations

from dataclasses import dataclass

from askfew.campaigns.campaign import Campaign
from askfew.campaigns.gold import GoldScore
from askfew.web.access.invitations import invitations_of
from askfew.web.pages.dashboard.view import Details

__all__ = ["Person", "people_of"]


@dataclass(frozen=True)
class Person:
    """A worker, or somebody invited who has not come yet."""

    name: str
    came: bool
    answers: int
    seconds: float | None
    skips: int
    agreement: float | None
    leases: int
    revoked: bool
    gold: GoldScore | None

    @property
    def skipped(self) -> float:
        """The share of skips."""
        return self.skips / max(self.skips + self.answers, 1)


def people_of(campaign: Campaign, details: Details) -> list[Person]:
    """Who has answered most comes first."""
    tallies = details.tallies
    workers = [
        Person(
            each.name,
            True,
            each.answers,
            each.seconds,
            tallies.skips.get(each.name, 0),
            tallies.agreement.get(each.name),
            each.leases,
            each.revoked,
            details.gold.get(each.name),
        )
        for each in details.standing.status.workers
    ]
    known = {each.name for each in workers}
    invited = [
        Person(each.worker, False, 0, None, 0, None, 0, each.revoked, None)
        for each in invitations_of(campaign)
        if each.worker not in known
    ]
    return sorted(workers, key=lambda each: (each.revoked, -each.answers)) + invited
