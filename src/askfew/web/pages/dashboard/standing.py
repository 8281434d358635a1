"""Where a campaign stands right now: numbers for the head of the dashboard, and the charts."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, Integer, cast, func, select

from askfew.algorithms import CLAIM_VERSIONS
from askfew.campaigns.campaign import Campaign
from askfew.campaigns.db.schema import answers, campaigns
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
        curve = _curve(connection, campaign.id)
        recipe = connection.execute(
            select(campaigns.c.recipe).where(campaigns.c.id == campaign.id)
        ).scalar_one()
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
        and json.loads(recipe).get("claim") != CLAIM_VERSIONS.get(campaign.settings.method),
    )


def _curve(connection: Connection, campaign: int) -> Curve:
    """A few hundred points, whatever the number of answers."""
    ours = (answers.c.campaign == campaign, answers.c.retracted.is_(False))
    first, last = connection.execute(
        select(func.min(answers.c.time), func.max(answers.c.time)).where(*ours)
    ).one()
    if first is None:
        return Curve([], [])
    width = max((last - first) / _POINTS, 1e-3)
    # Rounded down: a cast alone cuts off on SQLite, and rounds on PostgreSQL.
    bucket = cast((answers.c.time - first) // width, Integer).label("bucket")
    rows = connection.execute(
        select(bucket, func.count()).where(*ours).group_by(bucket).order_by(bucket)
    ).all()
    counts = np.cumsum([row[1] for row in rows])
    times = [min(first + (row[0] + 1) * width, last) for row in rows]
    return Curve([first, *times], [0, *counts.tolist()])
