"""Where a campaign stands right now: numbers for the head of the dashboard, and the charts."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

from askfew.algorithms import CLAIM_VERSIONS
from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.queries.answers import count_by_time
from askfew.campaigns.db.queries.campaigns import get_campaign
from askfew.campaigns.naming import in_names
from askfew.campaigns.reading.independence import qualified
from askfew.campaigns.reading.knowledge import Knowledge, knowledge_of
from askfew.campaigns.reading.status import CampaignStatus, status_of
from askfew.campaigns.steps.advance import GOING
from askfew.records import Ints

__all__ = ["Curve", "Standing", "standing_of"]

_POINTS = 240
_SILENCE = 300.0
"""Seconds."""


@dataclass(frozen=True)
class Curve:
    """Answers over time: by ``times[i]`` there were ``counts[i]``."""

    times: list[float]
    counts: list[int]


@dataclass(frozen=True, eq=False)
class Standing:
    """The status, what is known of every item, and how the answers came in."""

    status: CampaignStatus
    known: Knowledge
    curve: Curve
    certificate_text: str | None
    """The warnings, and the promise; None where nothing is promised."""
    silent: bool
    """Whether questions are open, people have come, and nobody has answered for minutes."""
    outdated: bool
    """Whether it was begun under another claim, and does not go on with this askfew."""

    @property
    def version(self) -> str:
        """Another one whenever there is something new to show."""
        status = self.status
        leases = sum(worker.leases for worker in status.workers)
        people = (len(status.workers), sum(worker.revoked for worker in status.workers))
        parts = (
            self.silent,
            status.state,
            status.steps,
            status.answers,
            status.open,
            leases,
            *people,
            zlib.crc32("\n".join(self.known.groups).encode()),
        )
        return "-".join(str(part) for part in parts)

    @property
    def outcome(self) -> dict[str, Any] | None:
        """What the method found, once it has ended."""
        return self.known.outcome

    @property
    def labels(self) -> Ints:
        """-1 where an item has none."""
        return self.known.labels

    def represents(self, item: int) -> bool:
        """Whether the item stands for its group: the others were excluded from it."""
        certificate = (self.outcome or {}).get("certificate") or {}
        return item in certificate.get("representatives", ())


def standing_of(campaign: Campaign) -> Standing:
    """Read it from the store."""
    status = status_of(campaign)
    with campaign.database.snapshot() as connection:
        known = knowledge_of(connection, campaign)
        points = count_by_time(connection, campaign.id, _POINTS)
        recipe = get_campaign(connection, campaign.id).recipe_dict
    curve = Curve([time for time, _ in points], [count for _, count in points])
    outcome = known.outcome
    return Standing(
        status=status,
        known=known,
        curve=curve,
        certificate_text=in_names(
            qualified((outcome or {}).get("certificate_text"), status.warnings),
            known.own_names,
            known.groups,
        ),
        silent=status.state == "running"
        and bool(status.open and status.workers and curve.times)
        and campaign.clock() - curve.times[-1] > _SILENCE,
        outdated=status.state in GOING
        and recipe.get("claim") != CLAIM_VERSIONS.get(campaign.settings.method),
    )
